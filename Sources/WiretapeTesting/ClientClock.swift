internal import WiretapeSystem

/// The time of the client under test, for clients that can be told how to sleep. It runs ``Options/timeScale`` times as fast as real
/// time; or, with ``Options/ClockKind/manual``, moves with ``advance(by:)`` only: the server's time with it, so that a back-off of 42 s takes
/// milliseconds and is exact.
public final class ClientClock: Clock {
    /// A moment of the client's time.
    public struct Instant: InstantProtocol {
        /// Since the server was made.
        public var offset: Swift.Duration

        /// The moment so much later.
        public func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }

        /// How much later the other one is.
        public func duration(to other: Instant) -> Swift.Duration { other.offset - offset }

        /// Whether it is earlier.
        public static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
    }

    private struct Sleeper: Sendable {
        var until: Instant
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State: Sendable {
        var now = Instant(offset: .zero)
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
        var nextID = 0
        var isReleased = false
        var watchers: [Watcher] = []

        /// How long it is until the first of those who sleep wakes, when that is not longer than `limit`.
        func wakeUp(within limit: Swift.Duration?) -> Swift.Duration? {
            guard let next = sleepers.values.map(\.until).min().map({ now.duration(to: $0) }) else { return nil }
            return next <= limit ?? next ? next : nil
        }

        /// Takes out those whose wait is over.
        mutating func takeWatchers() -> [(Watcher, Swift.Duration)] {
            let due = watchers.compactMap { watcher in wakeUp(within: watcher.limit).map { (watcher, $0) } }
            watchers = watchers.filter { wakeUp(within: $0.limit) == nil }
            return due
        }
    }

    /// Somebody who waits for a sleeper.
    private struct Watcher: Sendable {
        var id: Int
        var limit: Swift.Duration?
        var continuation: CheckedContinuation<Swift.Duration?, Never>
    }

    private let state = Gate(State())
    private let begun = ContinuousClock.now
    private let scale: Double
    private let isManual: Bool
    private let server = Gate<(@Sendable (UInt64) async throws -> Void)?>(nil)

    init(scale: Double, isManual: Bool) {
        self.scale = scale
        self.isManual = isManual
    }

    /// - Parameter move: moves the server's time by so many nanoseconds.
    func attach(_ move: @escaping @Sendable (UInt64) async throws -> Void) { server.withLock { $0 = move } }

    /// Now, in the time of the client.
    public var now: Instant {
        isManual ? state.withLock { $0.now } : Instant(offset: (ContinuousClock.now - begun) * scale)
    }

    /// Of a clock that is moved by hand: no time at all.
    public var minimumResolution: Swift.Duration { isManual ? .nanoseconds(1) : ContinuousClock().minimumResolution }

    /// Sleeps until then. A clock that is moved by hand lets nobody sleep any more once its server has stopped.
    /// - Throws: `CancellationError`.
    public func sleep(until deadline: Instant, tolerance: Swift.Duration? = nil) async throws {
        guard isManual else {
            return try await Task.sleep(for: now.duration(to: deadline) / scale, clock: ContinuousClock())
        }
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                enum Now { case sleep, wake, cancel }
                let (what, told) = state.withLock { state -> (Now, [(Watcher, Swift.Duration)]) in
                    if state.cancelled.remove(id) != nil { return (.cancel, []) }
                    if deadline <= state.now || state.isReleased { return (.wake, []) }
                    state.sleepers[id] = Sleeper(until: deadline, continuation: continuation)
                    return (.sleep, state.takeWatchers())
                }
                switch what {
                case .sleep: break
                case .wake: continuation.resume()
                case .cancel: continuation.resume(throwing: CancellationError())
                }
                for (watcher, time) in told { watcher.continuation.resume(returning: time) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: id)
                if sleeper == nil { state.cancelled.insert(id) }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Moves a clock of ``Options/ClockKind/manual`` forward, and the server with it. Whoever sleeps wakes on the way, in order; but what it
    /// does then, it does after the whole move. To see when a client acts, go from one wake-up to the next: ``wakeNext(within:)``.
    /// - Throws: ``TapeFailure`` when the clock runs by itself, or its server has stopped.
    public func advance(by duration: Swift.Duration) async throws {
        guard isManual, let move = server.withLock({ $0 }) else {
            throw TapeFailure("this clock runs by itself: make the server with Options(clock: .manual)")
        }
        let target = now.advanced(by: max(.zero, duration))
        while true {
            let (step, isLast) = state.withLock { state -> (Swift.Duration, Bool) in
                let next = state.sleepers.values.map(\.until).min().map { min($0, target) } ?? target
                let step = max(.zero, state.now.duration(to: next))
                return (step, next >= target)
            }
            try await move(step.asNanoseconds)
            let woken = state.withLock { state in
                state.now = state.now.advanced(by: step)
                let due = state.sleepers.filter { $0.value.until <= state.now }.sorted {
                    ($0.value.until, $0.key) < ($1.value.until, $1.key)
                }
                for one in due { state.sleepers[one.key] = nil }
                return due.map(\.value.continuation)
            }
            for one in woken { one.resume() }
            if isLast { return }
        }
    }

    /// Waits until somebody sleeps on a clock of ``Options/ClockKind/manual``, and moves it to where the first of them wakes.
    /// - Parameters:
    ///   - limit: only who wakes within so long is waited for; nil: everybody.
    ///   - timeout: how long to wait for it, in real time.
    /// - Returns: how far it was.
    /// - Throws: ``TapeFailure`` when the clock runs by itself, or when nobody sleeps so in that time, or before its server stops.
    @discardableResult
    public func wakeNext(
        within limit: Swift.Duration? = nil, timeout: Swift.Duration = .seconds(10)
    ) async throws -> Swift.Duration {
        let time = try await nextWakeUp(within: limit, timeout: timeout)
        try await advance(by: time)
        return time
    }

    /// Waits until somebody sleeps on a clock of ``Options/ClockKind/manual``.
    /// - Parameters:
    ///   - limit: only who wakes within so long counts; nil: everybody.
    ///   - timeout: how long to wait for it, in real time.
    /// - Returns: how long it is until the first of them wakes.
    /// - Throws: as ``wakeNext(within:timeout:)``.
    @discardableResult
    public func nextWakeUp(
        within limit: Swift.Duration? = nil, timeout: Swift.Duration = .seconds(10)
    ) async throws -> Swift.Duration {
        guard isManual else {
            throw TapeFailure("this clock runs by itself: make the server with Options(clock: .manual)")
        }
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let timer = Task {
            try await Task.sleep(for: timeout)
            giveUp(id)
        }
        defer { timer.cancel() }
        let wake = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isOver, wake) = state.withLock { state -> (Bool, Swift.Duration?) in
                    if let wake = state.wakeUp(within: limit) { return (true, wake) }
                    if state.isReleased || state.cancelled.remove(id) != nil { return (true, nil) }
                    state.watchers.append(Watcher(id: id, limit: limit, continuation: continuation))
                    return (false, nil)
                }
                if isOver { continuation.resume(returning: wake) }
            }
        } onCancel: {
            giveUp(id)
        }
        if let wake { return wake }
        try Task.checkCancellation()
        let who = limit.map { "nobody who wakes within \($0.asText)" } ?? "nobody"
        throw TapeFailure(
            state.withLock { $0.isReleased }
                ? "\(who) sleeps on the clock of a server that has stopped"
                : "\(who) sleeps on the clock, for \(timeout.asText) of real time")
    }

    private func giveUp(_ id: Int) {
        let watcher = state.withLock { state -> Watcher? in
            guard let i = state.watchers.firstIndex(where: { $0.id == id }) else {
                state.cancelled.insert(id)
                return nil
            }
            return state.watchers.remove(at: i)
        }
        watcher?.continuation.resume(returning: nil)
    }

    /// The server has stopped: nobody sleeps any more.
    func release() {
        let (sleepers, watchers) = state.withLock { state in
            state.isReleased = true
            defer {
                state.sleepers = [:]
                state.watchers = []
            }
            return (Array(state.sleepers.values), state.watchers)
        }
        for one in sleepers { one.continuation.resume() }
        for one in watchers { one.continuation.resume(returning: nil) }
    }
}
