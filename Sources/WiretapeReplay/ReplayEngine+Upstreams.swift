internal import WiretapeWire

/// What keeps a client of one upstream's listener from what was recorded at another one.
extension ReplayEngine {
    /// The upstream whose listener the connection came to; nil: what was recorded at any of them is served.
    func upstream(of connection: ConnectionID) -> String? { peers[connection]?.upstream }

    /// The recorded host that serves a client of a forward proxy. If the tape has only one of `http` and `https` of a host, it serves both.
    func recordedHost(for name: String) -> String {
        guard !recordedHosts.isEmpty, !recordedHosts.contains(name), let other = ForwardTarget.otherOrigin(of: name),
            recordedHosts.contains(other)
        else { return name }
        return other
    }

    /// The upstream of the request that is being answered.
    var here: String? { asking.flatMap { upstream(of: $0.connection) } }

    /// A session's token, as long as a listener of its upstream is asked: other servers do not know it.
    func token(_ key: String, on connection: ConnectionID) -> SessionToken? {
        guard let token = ids[key], isServed(token.session, on: connection) else { return nil }
        return token
    }

    /// Whether a claimed session is served to clients of that connection's listener.
    func isServed(_ session: SessionRun, on connection: ConnectionID) -> Bool {
        library.table.isServed(claims[session].route, at: upstream(of: connection))
    }

    /// Whether sessions have names there, and none has this one.
    func isUnknown(_ name: String, on connection: ConnectionID) -> Bool {
        let upstream = upstream(of: connection)
        return library.table.sessions(named: name, at: upstream) == nil && !library.table.names(at: upstream).isEmpty
    }
}
