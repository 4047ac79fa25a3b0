/// A rule that fires.
package struct FaultHit: Hashable, Sendable {
    /// Index into the plan's rules; −1: of none of them.
    package var rule: Int
    package var name: String
    package var place: Place
    /// The rule's pause before the end, in nanoseconds.
    package var pause: UInt64
    package var actions: [FaultAction]
    /// The message's ordinal among those of its direction; nil for everything else.
    package var message: Int?
    /// The message as the rule counts it, and as its side does: `Tick[2] (server message 8)`. Nil as `message`.
    package var counted: String?
    /// The seed of whatever the actions draw: a pure function of the run's seed, the rule and the moment.
    package var random: UInt64

    package init(
        rule: Int, name: String, place: Place, pause: UInt64 = 0, actions: [FaultAction], message: Int?,
        counted: String?, random: UInt64
    ) {
        self.rule = rule
        self.name = name
        self.place = place
        self.pause = pause
        self.actions = actions
        self.message = message
        self.counted = counted
        self.random = random
    }

    /// What ends the connection; nil when nothing does.
    package var ending: FaultEffect? { actions.last { $0.verdict.isTerminal }?.verdict }

    /// Whether it makes the connection go silent: nothing is heard on it any more, or its keepalives stop.
    package var isSilence: Bool {
        actions.contains { action in
            if case .stall = action.verdict { return true }
            if case .mute = action.verdict { return true }
            return false
        }
    }

    /// The actions as they are written: `truncate(2) + reset`.
    package var text: String { actions.map(\.text).joined(separator: " + ") }
}
