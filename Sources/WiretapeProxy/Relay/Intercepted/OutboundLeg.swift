internal import WiretapeBytes
internal import WiretapeIntercept
internal import WiretapePlayback
internal import WiretapeRuntime

/// What goes to one side of a held connection, and what has become of it.
struct OutboundLeg {
    var queue = OutboundQueue() { didSet { isResting = false } }
    /// Nothing waits in the queue, and what is added leaves at once: so it is most of the time, and asking the queue costs more.
    private var isResting = true
    /// Bytes since a rule fired for an event: what carries that.
    private(set) var carried = 0
    /// What nothing holds back, until it is written in one call.
    private var gathered: [UInt8] = []
    private var watch = DeliveryWatch()

    /// Bytes that wait.
    var waitingCount: Int { isResting ? 0 : queue.count }

    /// Whether nothing is to be done about it but to write what was gathered.
    var isSilent: Bool { isResting && watch.nextLook == nil }

    /// Whether what is added leaves at once.
    func isIdle(at now: WireInstant) -> Bool { isResting || queue.isIdle(at: now) }

    /// What leaves now. Call again until `.nothing`.
    mutating func take(at now: WireInstant) -> OutboundQueue.Output {
        guard !isResting else { return .nothing }
        let output = queue.take(at: now)
        isResting = output == .nothing && queue.isIdle(at: now)
        return output
    }

    /// When ``take(at:)`` may have more; nil: nothing waits for time.
    func nextWake(after now: WireInstant) -> WireInstant? { isResting ? nil : queue.nextWake(after: now) }

    /// When to ask the stream next.
    var nextLook: WireInstant? { watch.nextLook }

    /// Bytes are on their way.
    mutating func carries(_ count: Int) { carried += count }

    /// A rule fires for an event: what follows carries it.
    mutating func beginsToCarry() { carried = 0 }

    mutating func wrote(_ count: Int) { watch.wrote(count) }

    mutating func gather(_ bytes: [UInt8]) {
        if gathered.isEmpty { gathered = bytes } else { gathered += bytes }
    }

    var hasGathered: Bool { !gathered.isEmpty }

    /// - Returns: what the caller writes now.
    mutating func takeGathered() -> [UInt8] {
        defer { gathered = [] }
        wrote(gathered.count)
        return gathered
    }

    /// Tells by ``look(_:at:)`` when the peer's kernel has everything that was written.
    mutating func await(_ ticket: Int, at now: WireInstant) { watch.await(UInt64(ticket), at: now) }

    /// Asks the stream what is still on its way.
    /// - Parameter stream: nil when it is gone.
    /// - Returns: what is there, or will not get there.
    mutating func look(_ stream: (any ByteStream)?, at now: WireInstant) -> [(ticket: Int, isThere: Bool)] {
        watch.look(stream, at: now).acknowledged.map { (Int($0.ticket), $0.isThere) }
    }
}
