internal import WiretapeRuntime
internal import WiretapeWire

extension ReplayEngine {
    /// The name that a client goes by: `?wt=NAME`, or that of the listener that it connected to.
    func name(_ head: RequestHead, _ connection: ConnectionID) -> String? {
        head.query.first { $0.name == "wt" && !$0.value.isEmpty }?.value ?? peers[connection]?.name
    }

    /// Who asks: its name, else a number for its credential, else address and agent. Clients that agree in all of it
    /// are one to Wiretape.
    mutating func identity(_ head: RequestHead, _ connection: ConnectionID) -> String {
        if let name = name(head, connection) { return name }
        if let credential = head.credential {
            return names.name(of: credential, from: addressAndAgent(head, connection))
        }
        return addressAndAgent(head, connection)
    }

    func addressAndAgent(_ head: RequestHead, _ connection: ConnectionID) -> String {
        "\(peers[connection]?.address?.host ?? "unknown") \(head.headers.first("User-Agent") ?? "no agent")"
    }

    /// A rule refuses the client's credential, or ends what it was good for: it may come back with another one.
    mutating func noteExpired(_ head: RequestHead, _ connection: ConnectionID) {
        guard let credential = head.credential else { return }
        names.expire(credential, from: addressAndAgent(head, connection))
    }

    /// The client of `identity` has a connection of the session.
    mutating func remember(_ identity: String, of session: SessionRun) {
        claims.see(identity, on: session)
        session.isKnown(as: identity)
    }
}
