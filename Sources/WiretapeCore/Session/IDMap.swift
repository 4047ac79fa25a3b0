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

    /// The live id for a recorded chain; its own id when nothing was bound.
    package func live(_ chain: Chain) -> String { live[chain] ?? chain.id }

    /// The recorded id for a live one, nil when nothing was bound.
    package func recorded(_ chain: Chain) -> String? { recorded[chain] }
}
