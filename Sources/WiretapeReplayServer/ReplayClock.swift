internal import WiretapeBytes

/// The clock of the clients under test, which the driver lives by: the loop's, N times as fast, or moved by hand.
package struct ReplayClock: Sendable {
    /// The client's time when the loop's was `since`.
    private var start: WireInstant
    private var since: WireInstant
    /// How many times faster than the loop's it runs.
    package let scale: Double
    /// Nanoseconds that it was moved by behind `start`; nil: it runs.
    private var moved: UInt64?

    /// - Parameters:
    ///   - start: the loop's time now, and the client's.
    ///   - scale: how many times faster than the loop's it runs, more than 0.
    ///   - isManual: it stands still but for ``advance(to:)``.
    init(at start: WireInstant, scale: Double, isManual: Bool) {
        self.start = start
        since = start
        self.scale = scale
        moved = isManual ? 0 : nil
    }

    package var isManual: Bool { moved != nil }

    /// Lets it run, or stops it, where it stands when the loop's time is `now`.
    mutating func set(isManual: Bool, at now: WireInstant) {
        guard isManual != self.isManual else { return }
        start = time(at: now)
        since = now
        moved = isManual ? 0 : nil
    }

    /// The client's time when the loop's is `now`.
    func time(at now: WireInstant) -> WireInstant {
        if let moved { return start.advanced(by: moved) }
        if scale == 1, start == since { return now }
        return start.advanced(by: ReplayClock.nanoseconds(Double(now.since(since)) * scale))
    }

    /// When, in the loop's time, the client's will be at least `time`; nil: not by itself.
    func loopTime(of time: WireInstant, now: WireInstant) -> WireInstant? {
        guard moved == nil else { return time <= self.time(at: now) ? now : nil }
        if scale == 1, start == since { return time }
        return since.advanced(by: ReplayClock.nanoseconds((Double(time.since(start)) / scale).rounded(.up)))
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
