internal import WiretapeBytes
internal import WiretapeRuntime
internal import WiretapeWire

/// One end of a relayed connection, as the handler of its stream. Keeps the connection alive until the stream has ended.
final class RelaySide: StreamHandler {
    /// Why this side's peer is not read at the moment.
    struct Blocks: OptionSet {
        let rawValue: UInt8
        /// The other side does not take what is queued for it.
        static let pressure = Blocks(rawValue: 1)
        /// The recorder has no room or is too far behind.
        static let recorder = Blocks(rawValue: 2)
        /// The upstream is not connected yet.
        static let connecting = Blocks(rawValue: 4)
        /// An upgrade was asked for and not answered yet.
        static let upgrade = Blocks(rawValue: 8)
        /// Too many requests await their answers.
        static let pipeline = Blocks(rawValue: 16)
        /// A rule has stopped our reading.
        static let fault = Blocks(rawValue: 32)
        /// Its connection has had its share of this turn of the loop.
        static let turn = Blocks(rawValue: 64)
    }

    let connection: RelayConnection
    /// The direction of the bytes that this side sends us.
    let direction: Direction
    var stream: (any ByteStream)?
    var hasEnded = false
    var sentEnd = false
    private var blocks: Blocks = []
    /// What is queued for this side's peer, as it was counted last. Rules that hold the connection count themselves.
    private var counted = 0

    init(_ connection: RelayConnection, _ direction: Direction) {
        self.connection = connection
        self.direction = direction
    }

    func block(_ reason: Blocks) {
        blocks.insert(reason)
        stream?.isReading = false
    }

    func isBlocked(_ reason: Blocks) -> Bool { blocks.contains(reason) }

    func unblock(_ reason: Blocks) {
        guard blocks.contains(reason) else { return }
        blocks.remove(reason)
        startReading()
        if blocks.isEmpty, direction == .toServer { connection.readsAgain() }
    }

    /// Whether it can be written to.
    var hasStream: Bool { stream != nil }

    /// Whether nothing keeps us from reading it.
    var isUnblocked: Bool { blocks.isEmpty }

    func startReading() {
        if blocks.isEmpty, !hasEnded { stream?.isReading = true }
    }

    /// FIN, once.
    func halfClose() {
        guard !sentEnd, let stream else { return }
        sentEnd = true
        stream.halfClose()
    }

    // MARK: What is queued for its peer

    /// - Returns: whether that is little enough for the other side to be read.
    func mayQueueMore(_ queued: Int) -> Bool {
        connection.node.pressure.mayQueueMore(queued, counted: &counted)
    }

    // MARK: StreamHandler

    func connected() {}

    func received(_ bytes: Span<UInt8>) { connection.received(bytes, from: self) }

    func receivedEnd() {
        hasEnded = true
        connection.receivedEnd(from: self)
    }

    func drained() {
        let mayGoOn = mayQueueMore(stream?.queued ?? 0)
        if let held = connection.held { return held.drained(self) }
        if mayGoOn { connection.other(self)?.unblock(.pressure) }
    }

    func ended(_ how: StreamEnd) {
        stream = nil
        _ = mayQueueMore(0)
        connection.ended(self, how)
    }
}
