internal import WiretapeRuntime
internal import WiretapeWire

extension ReplayEngine {
    /// The name that a client goes by: `?wt=NAME`, or that of the listener that it connected to.
    func name(_ head: RequestHead, _ c: ConnectionID) -> String? {
        head.query.first { $0.name == "wt" && !$0.value.isEmpty }?.value ?? peers[c]?.name
    }

    /// Who asks: its name, else a number for its credential, else address and agent. Clients that agree in all of it
    /// are one to Wiretape.
    mutating func identity(_ head: RequestHead, _ c: ConnectionID) -> String {
        if let name = name(head, c) { return name }
        if let credential = head.credential {
            return names.name(of: credential, from: addressAndAgent(head, c))
        }
        return addressAndAgent(head, c)
    }

    func addressAndAgent(_ head: RequestHead, _ c: ConnectionID) -> String {
        "\(peers[c]?.address?.host ?? "unknown") \(head.headers.first("User-Agent") ?? "no agent")"
    }

    /// A rule refuses the client's credential, or ends what it was good for: it may come back with another one.
    mutating func noteExpired(_ head: RequestHead, _ c: ConnectionID) {
        guard let credential = head.credential else { return }
        names.expire(credential, from: addressAndAgent(head, c))
    }

    /// The client of `identity` has a connection of the session.
    mutating func remember(_ identity: String, of r: Int) {
        claims.see(identity, on: r)
        runs[r].client.isKnown(as: identity)
    }
}
