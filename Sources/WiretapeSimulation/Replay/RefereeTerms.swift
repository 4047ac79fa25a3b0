/// What a ``Referee`` has to know of the run that it watches: what may be missing, and what can be told at all.
package struct RefereeTerms: Sendable {
    /// Lines of the client that replay has given up waiting for, by its own report.
    package var forgiven: Set<Int> = []
    /// Lines of chains that the client does not ask for again: they hold something back for a grace, and then nothing.
    package var givenUp: Set<Int> = []
    /// Lines of the server that wait for something on another connection.
    package var heldElsewhere: Set<Int> = []
    /// Whether the client may be told that what it says is on no tape.
    package var expectsRefusals = false
    /// Whether turns can be told: what a poll brings has gathered since the one before.
    package var seesTurns = true
    /// Whether the protocol itself brings back what a lost connection took with it (``Conversation/Line/isCounted``).
    package var isStateful = false
    /// Whether nothing but the client ends connections before the tape does.
    package var endsAreTheClients = false
    /// How recorded gaps are played; nil: times are not looked at.
    package var timing: Timing?

    package init() {}

    package struct Timing: Sendable {
        /// The divisor of gaps; 0: no gaps at all.
        package var speed: Double
        package var idleCap: UInt64?

        package init(speed: Double, idleCap: UInt64? = nil) {
            self.speed = speed
            self.idleCap = idleCap
        }

        func scaled(from earlier: UInt64, to later: UInt64) -> UInt64 {
            guard later > earlier, speed > 0 else { return 0 }
            return UInt64(Double(min(later - earlier, idleCap ?? .max)) / speed)
        }
    }

    /// Whether a line of the client need not come: something waits for it no longer.
    func isWaived(_ line: Int) -> Bool { forgiven.contains(line) || givenUp.contains(line) }
}
