package import WiretapeBytes
package import WiretapeRuntime

/// The recorder's end on one loop: appends records to a buffer and hands it over by size or after 10 ms. Nothing here
/// allocates per record.
///
/// When the sink is full, the oldest event that the kernel does not have yet is older than 400 ms, or the oldest that is not a line yet
/// is older than 240 ms, ``isHeld`` says so and the loop's relays stop reading until ``onRelease`` is called: one pause until the writer
/// has caught up by half, and not one every few milliseconds. The second bound is for what comes faster than it is made into lines: where
/// the writer needs twice as long as the events took to come, the last one before the pause is written 480 ms after it came.
package final class Tap {
    /// Bytes at which a batch is handed over without waiting.
    package static let batchSize = 256 * 1024
    /// Nanoseconds after the first record of a batch at which it is handed over.
    package static let batchAge: UInt64 = 10_000_000
    /// Nanoseconds that an event may be unwritten, and that it may be queued, before forwarding stops.
    package static let allowed: (unwritten: UInt64, queued: UInt64) = (400_000_000, 240_000_000)

    private let loop: any Loop
    private let index: Int
    private let sink: any TapSink
    private var buffer: [UInt8] = []
    private var oldest: UInt64 = .max
    private var timer: (any LoopTimer)?
    private var isArmed = false
    private var owesTick = false

    /// Whether forwarding must wait.
    package private(set) var isHeld = false
    /// Told when ``isHeld`` begins and ends.
    package var onHold: (() -> Void)?
    package var onRelease: (() -> Void)?
    /// Told once when the recording failed and traffic must stop.
    package var onFailure: (() -> Void)?
    private var hasFailed = false

    /// - Parameter index: the loop's number, for records of equal time.
    package init(_ loop: any Loop, index: Int, sink: any TapSink) {
        self.loop = loop
        self.index = index
        self.sink = sink
        buffer.reserveCapacity(Tap.batchSize + 128 * 1024)
        // Lifetime: the tap closes its timer in `close()`, before it goes.
        timer = loop.timer { [unowned self] in fired() }
    }

    /// Appends a record.
    @inline(__always)
    package func record(
        _ kind: RecordKind, _ connection: UInt32, flags: UInt8 = 0, x: UInt32 = 0, at time: WireInstant,
        _ payload: Span<UInt8>
    ) {
        if buffer.isEmpty { oldest = time.nanoseconds }
        append(kind, connection, flags: flags, x: x, at: time, payload)
        if buffer.count >= Tap.batchSize {
            handOver()
        } else if !isArmed {
            arm(time)
        }
        if !isHeld, sink.waits, isLate(parts: 1, at: time) { hold() }
    }

    private func append(
        _ kind: RecordKind, _ connection: UInt32, flags: UInt8, x: UInt32, at time: WireInstant, _ payload: Span<UInt8>
    ) {
        RecordBatch.append(kind, connection, flags: flags, x: x, at: time, payload, to: &buffer)
    }

    /// Whether the oldest event that the kernel does not have yet, or that is not a line yet, has waited for longer than it may,
    /// or than the half, third, … of that: so many parts.
    @inline(__always)
    private func isLate(parts: UInt64, at now: WireInstant) -> Bool {
        isOlder(min(sink.oldestUnwritten, oldest), than: Tap.allowed.unwritten / parts, at: now)
            || isOlder(sink.oldestQueued, than: Tap.allowed.queued / parts, at: now)
    }

    @inline(__always)
    private func isOlder(_ first: UInt64, than limit: UInt64, at now: WireInstant) -> Bool {
        now.nanoseconds > first && now.nanoseconds - first > limit
    }

    private func arm(_ now: WireInstant) {
        isArmed = true
        timer?.arm(at: now.advanced(by: Tap.batchAge))
    }

    private func fired() {
        isArmed = false
        let now = loop.now
        let hadRecords = !buffer.isEmpty
        if hadRecords || owesTick {
            if !hadRecords { oldest = now.nanoseconds }
            append(.tick, 0, flags: 0, x: 0, at: now, Span())
            // What came just before this tick still waits for its 5 ms: one more tick will follow.
            owesTick = hadRecords
            handOver()
        }
        if isHeld, !isLate(parts: 2, at: now), !hasFailed { release() }
        if isHeld || owesTick, !isArmed { arm(now) }
    }

    private func handOver(isLast: Bool = false) {
        guard !buffer.isEmpty else { return }
        let batch = buffer
        buffer = []
        switch sink.offer(batch, loop: index, oldest: oldest, isLast: isLast) {
        case .taken(let spare):
            buffer = spare
            oldest = .max
        case .full(let back):
            buffer = back
            if back.isEmpty { oldest = .max } else { hold() }
        case .failed(let back):
            buffer = back
            oldest = .max
            fail()
        }
    }

    private func hold() {
        guard !isHeld else { return }
        isHeld = true
        onHold?()
        if !isArmed { arm(loop.now) }
    }

    private func release() {
        isHeld = false
        onRelease?()
    }

    private func fail() {
        guard !hasFailed else { return }
        hasFailed = true
        hold()
        onFailure?()
    }

    /// Hands over the rest, also to a sink that is full, and lets go of the timer.
    package func close() {
        if !buffer.isEmpty || owesTick {
            append(.tick, 0, flags: 0, x: 0, at: loop.now.advanced(by: 10_000_000), Span())
        }
        handOver(isLast: true)
        timer?.close()
        timer = nil
    }
}
