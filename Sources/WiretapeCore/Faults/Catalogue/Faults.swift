/// The faults of this version, one file and one line each, and the words of those to come.
enum Faults {
    static let all: [FaultEntry] = [ResetFault.entry, DisconnectFault.entry, CloseFault.entry, RespondFault.entry]

    /// Of the catalogue in `docs/faults.md`; a plan that has one is refused with these words.
    static let later = [
        "delay", "drop", "duplicate", "reorder", "replace", "inject", "corrupt", "truncate", "stall", "mute",
        "throttle",
        "slice", "malformed", "wrong-accept", "wrong-subprotocol", "redirect-loop", "refuse", "outage", "downgrade",
        "expire",
    ]
}
