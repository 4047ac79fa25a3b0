package import WiretapeMessages

/// Recorded ids ⇄ live ids of one connection.
package struct IDMap: Hashable, Sendable {
    private var live: [Chain: String] = [:]
    private var recorded: [Chain: String] = [:]

    package init() {}

    /// States that the recorded id of `chain` is `id` on this connection. A second statement replaces the first.
    package mutating func bind(_ chain: Chain, to id: String) {
        live[chain] = id
        recorded[Chain(id, origin: chain.origin)] = chain.id
    }

    /// Forgets that binding, unless either id has another by now.
    package mutating func unbind(_ chain: Chain, from id: String) {
        let other = Chain(id, origin: chain.origin)
        guard live[chain] == id, recorded[other] == chain.id else { return }
        live[chain] = nil
        recorded[other] = nil
    }

    /// The live id for a recorded chain; its own id when nothing was bound.
    package func live(_ chain: Chain) -> String { live[chain] ?? chain.id }
}
