internal import WiretapeBytes

/// The time of a run, as its inputs tell it.
struct RunClock: Sendable {
    /// The first thing that happened.
    private(set) var origin: WireInstant?
    /// The latest time that was told.
    private(set) var now = WireInstant.zero
    /// The latest thing that a client did or got.
    private(set) var lastActivity = WireInstant.zero

    /// It is that late.
    mutating func reach(_ time: WireInstant) { now = max(now, time) }

    /// Something that a client did.
    mutating func happened(at time: WireInstant) {
        reach(time)
        lastActivity = now
        if origin == nil { origin = time }
    }

    /// A client got something.
    mutating func acted() { lastActivity = now }

    /// Nanoseconds since the first thing that happened; 0 before it.
    var elapsed: UInt64 { now.since(origin ?? now) }

    /// Nanoseconds since the run began; nil: it has not begun.
    var sinceOrigin: UInt64? { origin.map { now.since($0) } }
}
