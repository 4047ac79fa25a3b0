package import WiretapeBytes

/// What goes to one side of a connection that rules may touch, live or in replay: bytes in their order, some of them later, and
/// marks between them at which something happens. Keepalives may overtake what waits; a pace and stops hold for all bytes.
package struct OutboundQueue: Sendable {
    private var queue: [Item] = []
    private var first = 0
    private var express: [[UInt8]] = []
    /// The last moment at which something queued may leave.
    private var latest = WireInstant.zero
    /// Where the last bytes that left the queue ended: frames of others may come in between.
    private var isBetweenFrames = true
    private var isSealed = false
    private var queued = 0
    /// Throttles, slices and stops.
    package var pacer = WritePacer()

    private struct Item: Sendable {
        var what: What
        var due: WireInstant
    }

    private enum What: Sendable {
        case bytes([UInt8], endsFrame: Bool)
        case mark(Int)
    }

    package enum Output: Equatable, Sendable {
        /// One write each.
        case writes([[UInt8]])
        /// Everything before the mark has been given out.
        case mark(Int)
        case nothing
    }

    package init() {}

    /// Bytes that wait.
    package var count: Int { queued + pacer.count }

    /// Whether what is added leaves at once.
    package func isIdle(at now: WireInstant) -> Bool {
        first == queue.count && express.isEmpty && !isSealed && latest <= now && pacer.isIdle
    }

    /// Whether something waits for its time.
    package func isDelayed(at now: WireInstant) -> Bool { first < queue.count && latest > now }

    /// Adds bytes that leave in their order, `delay` nanoseconds from now at the earliest. What comes later does not leave
    /// before them.
    /// - Parameter endsFrame: whether a keepalive may follow.
    package mutating func add(_ bytes: [UInt8], endsFrame: Bool = true, delay: UInt64 = 0, at now: WireInstant) {
        guard !isSealed, !bytes.isEmpty else { return }
        latest = max(latest, now.advanced(by: delay))
        queued += bytes.count
        queue.append(Item(what: .bytes(bytes, endsFrame: endsFrame), due: latest))
    }

    /// Adds a whole frame that may overtake what waits.
    package mutating func addExpress(_ bytes: [UInt8], at now: WireInstant) {
        guard !isSealed else { return }
        guard isDelayed(at: now) else { return add(bytes, at: now) }
        queued += bytes.count
        express.append(bytes)
    }

    /// What is added from now on leaves so much later.
    package mutating func pause(_ gap: UInt64, at now: WireInstant) {
        latest = max(latest, now).advanced(by: gap)
    }

    /// What is added from now on does not leave before `moment`.
    package mutating func hold(until moment: WireInstant) { latest = max(latest, moment) }

    /// Something happens here.
    package mutating func mark(_ ticket: Int, delay: UInt64 = 0, at now: WireInstant) {
        guard !isSealed else { return }
        latest = max(latest, now.advanced(by: delay))
        queue.append(Item(what: .mark(ticket), due: latest))
    }

    /// Nothing is added any more; what was goes out.
    package mutating func seal() { isSealed = true }

    /// Forgets what waits.
    package mutating func clear() {
        queue = []
        first = 0
        express = []
        queued = 0
        _ = pacer.takeAll()
    }

    /// What leaves now. Call again until `.nothing`.
    package mutating func take(at now: WireInstant) -> Output {
        while first < queue.count || !express.isEmpty {
            if isBetweenFrames, !express.isEmpty {
                let bytes = express.removeFirst()
                queued -= bytes.count
                pacer.append(bytes, at: now)
                continue
            }
            guard first < queue.count, queue[first].due <= now else { break }
            switch queue[first].what {
            case .bytes(let bytes, let endsFrame):
                queued -= bytes.count
                isBetweenFrames = endsFrame
                pacer.append(bytes, at: now)
            case .mark(let ticket):
                guard pacer.count == 0 else { return writes(at: now) }
                step()
                return .mark(ticket)
            }
            step()
        }
        return writes(at: now)
    }

    private mutating func writes(at now: WireInstant) -> Output {
        guard pacer.count > 0 else { return .nothing }
        let pieces = pacer.take(at: now)
        return pieces.isEmpty ? .nothing : .writes(pieces)
    }

    private mutating func step() {
        first += 1
        if first == queue.count {
            queue.removeAll(keepingCapacity: true)
            first = 0
        } else if first > 1_024, first * 2 > queue.count {
            queue.removeFirst(first)
            first = 0
        }
    }

    /// When ``take(at:)`` may have more; nil: nothing waits for time.
    package func nextWake(after now: WireInstant) -> WireInstant? {
        var next = pacer.nextTake(after: now)
        if first < queue.count, pacer.count == 0 || !isMark(queue[first]) {
            let due = max(queue[first].due, now)
            next = min(next ?? due, due)
        }
        return next
    }

    private func isMark(_ item: Item) -> Bool { if case .mark = item.what { true } else { false } }
}
