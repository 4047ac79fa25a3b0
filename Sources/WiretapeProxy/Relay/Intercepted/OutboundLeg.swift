internal import WiretapeBytes
internal import WiretapeIntercept
internal import WiretapePlayback
internal import WiretapeRuntime

/// What goes to one side of a held connection, and what has become of it.
struct OutboundLeg {
    var queue = OutboundQueue()
    /// Bytes since a rule fired for an event: what carries that.
    private(set) var carried = 0
    /// What nothing holds back, until it is written in one call.
    private var gathered: [UInt8] = []
    private var watch = DeliveryWatch()

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

    /// - Returns: what the caller writes now.
    mutating func takeGathered() -> [UInt8] {
        guard !gathered.isEmpty else { return [] }
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
