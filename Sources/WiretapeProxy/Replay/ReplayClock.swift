internal import WiretapeBytes

/// The clock of the clients under test, which the driver lives by: the loop's, N times as fast, or moved by hand.
struct ReplayClock: Sendable {
    /// Client time and loop time are the same then.
    private let start: WireInstant
    private let scale: Double
    /// Nanoseconds that it was moved by; nil: it runs.
    private var moved: UInt64?

    /// - Parameters:
    ///   - start: the loop's time now.
    ///   - scale: how many times faster than the loop's it runs, more than 0.
    ///   - isManual: it stands still but for ``advance(to:)``.
    init(at start: WireInstant, scale: Double, isManual: Bool) {
        self.start = start
        self.scale = scale
        moved = isManual ? 0 : nil
    }

    var isManual: Bool { moved != nil }

    /// The client's time when the loop's is `now`.
    func time(at now: WireInstant) -> WireInstant {
        if let moved { return start.advanced(by: moved) }
        return scale == 1 ? now : start.advanced(by: ReplayClock.nanoseconds(Double(now.since(start)) * scale))
    }

    /// When, in the loop's time, the client's will be at least `time`; nil: not by itself.
    func loopTime(of time: WireInstant, now: WireInstant) -> WireInstant? {
        guard moved == nil else { return time <= self.time(at: now) ? now : nil }
        guard scale != 1 else { return time }
        return start.advanced(by: ReplayClock.nanoseconds((Double(time.since(start)) / scale).rounded(.up)))
    }

    /// How long so many nanoseconds of the client's time are in the loop's. A clock that is moved by hand has the loop's.
    func loopDuration(_ nanoseconds: UInt64) -> UInt64 {
        scale == 1 || isManual ? nanoseconds : ReplayClock.nanoseconds(Double(nanoseconds) / scale)
    }

    /// Moves a clock that stands still forward.
    mutating func advance(to time: WireInstant) {
        guard let moved else { return }
        self.moved = max(moved, time.since(start))
    }

    private static func nanoseconds(_ value: Double) -> UInt64 {
        value < 9e18 ? UInt64(value) : 9_000_000_000_000_000_000
    }
}
