package import WiretapeFaults

/// What comes with the next poll of a session: what rules did behind the answer to the one before.
package struct AwaitedEnd: Hashable, Sendable {
    package var effects: [FaultEffect] = []
    package var rule = ""
    package var end: MessageFate.End?
    /// Nanoseconds from the effects to the end.
    package var lingering: UInt64 = 0

    package init(
        effects: [FaultEffect] = [], rule: String = "", end: MessageFate.End? = nil, lingering: UInt64 = 0
    ) {
        self.effects = effects
        self.rule = rule
        self.end = end
        self.lingering = lingering
    }
}
