/// What keeps a client of one upstream's listener from what was recorded at another one.
extension ReplayEngine {
    /// The upstream whose listener the connection came to; nil: what was recorded at any of them is served.
    func upstream(of c: ConnectionID) -> String? { peers[c]?.upstream }

    /// The upstream of the request that is being answered.
    var here: String? { asking.flatMap { upstream(of: $0.connection) } }

    /// A session's token, as long as a listener of its upstream is asked: other servers do not know it.
    func token(_ key: String, on c: ConnectionID) -> SessionToken? {
        guard let token = ids[key], isServed(token.run, on: c) else { return nil }
        return token
    }

    /// Whether a claimed session is served to clients of that connection's listener.
    func isServed(_ r: Int, on c: ConnectionID) -> Bool {
        library.table.isServed(claims.all[r].route, at: upstream(of: c))
    }

    /// Whether sessions have names there, and none has this one.
    func isUnknown(_ name: String, on c: ConnectionID) -> Bool {
        let upstream = upstream(of: c)
        return library.table.sessions(named: name, at: upstream) == nil && !library.table.names(at: upstream).isEmpty
    }
}
