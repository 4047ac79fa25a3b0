internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeIntercept
internal import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeWire

/// The WebSocket of a held connection: both directions' messages, and the frames that go to both peers.
struct InterceptedSocket: ~Copyable {
    let live: LiveExchange
    private var fromClient: InterceptedFrames
    private var fromServer: InterceptedFrames
    private var toClient: FrameEncoder
    private var toServer: FrameEncoder
    private var parkedToClient = ParkedMessages()
    private var parkedToServer = ParkedMessages()
    /// Whose close frame has gone through first.
    private(set) var closedBy: TapeEvent.Party?

    init(_ live: LiveExchange, deflate: DeflateParameters?, seed: UInt64) {
        self.live = live
        fromClient = InterceptedFrames(.toServer, deflate: deflate)
        fromServer = InterceptedFrames(.toClient, deflate: deflate)
        toClient = FrameEncoder(.toClient, deflate: deflate, seed: seed)
        toServer = FrameEncoder(.toServer, deflate: deflate, seed: seed)
    }

    mutating func feed(_ bytes: Span<UInt8>, from at: Int, _ direction: Direction) -> InterceptedFound {
        direction == .toServer ? fromClient.feed(bytes, from: at) : fromServer.feed(bytes, from: at)
    }

    /// Whether something is left to be looked at that came before.
    func owes(_ direction: Direction) -> Bool { direction == .toServer ? fromClient.owes : fromServer.owes }

    /// Whether nothing is held of any message.
    var isResting: Bool { !isParking && fromClient.isResting && fromServer.isResting }

    /// Whether the client's next byte starts a frame.
    var isBetweenFrames: Bool { fromClient.isBetweenFrames }

    /// Bytes of messages that are not whole yet, or that let others pass.
    var heldCount: Int {
        fromClient.heldCount + fromServer.heldCount + parkedToClient.count + parkedToServer.count
    }

    /// What is held of something that the direction's end has cut.
    mutating func takeRest(_ direction: Direction) -> [UInt8] {
        direction == .toServer ? fromClient.takeRest() : fromServer.takeRest()
    }

    /// A close frame goes through, the first one.
    mutating func closes(by party: TapeEvent.Party) { closedBy = party }

    // MARK: Frames

    mutating func pass(_ message: InterceptedMessage, _ direction: Direction) -> [UInt8] {
        direction == .toClient ? toClient.pass(message) : toServer.pass(message)
    }

    mutating func lose(_ message: InterceptedMessage, _ direction: Direction) {
        if direction == .toClient { toClient.lose(message) } else { toServer.lose(message) }
    }

    mutating func frame(
        _ opcode: Opcode, _ bytes: [UInt8], deflated: Bool, size: Int? = nil, _ direction: Direction
    ) -> [UInt8] {
        direction == .toClient
            ? toClient.frame(opcode, bytes, deflated: deflated, size: size)
            : toServer.frame(opcode, bytes, deflated: deflated, size: size)
    }

    mutating func frame(_ opcode: Opcode, _ bytes: [UInt8], damaged: Corruption, _ direction: Direction) -> [UInt8] {
        direction == .toClient
            ? toClient.frame(opcode, bytes, damaged: damaged) : toServer.frame(opcode, bytes, damaged: damaged)
    }

    mutating func piece(_ piece: InterceptedPiece, _ direction: Direction) -> [UInt8] {
        direction == .toClient ? toClient.piece(piece) : toServer.piece(piece)
    }

    mutating func close(_ code: UInt16?, _ reason: String) -> [UInt8] { toClient.close(code, reason) }

    // MARK: Messages that let others pass

    mutating func park(
        _ bytes: [UInt8], _ opcode: Opcode, _ direction: Direction, isDeflated: Bool, size: Int?, window: Int,
        until: WireInstant
    ) {
        if direction == .toClient {
            parkedToClient.park(bytes, opcode, isDeflated: isDeflated, frameSize: size, window: window, until: until)
        } else {
            parkedToServer.park(bytes, opcode, isDeflated: isDeflated, frameSize: size, window: window, until: until)
        }
    }

    /// A message has passed those that are parked.
    mutating func passed(_ direction: Direction) {
        if direction == .toClient { parkedToClient.passed() } else { parkedToServer.passed() }
    }

    /// The frames of those that go on.
    mutating func takeReleased(at now: WireInstant) -> [(bytes: [UInt8], direction: Direction)] {
        guard isParking else { return [] }
        var frames: [(bytes: [UInt8], direction: Direction)] = []
        for one in parkedToClient.takeReleased(at: now) {
            frames.append(
                (frame(one.opcode, one.bytes, deflated: one.isDeflated, size: one.frameSize, .toClient), .toClient))
        }
        for one in parkedToServer.takeReleased(at: now) {
            frames.append(
                (frame(one.opcode, one.bytes, deflated: one.isDeflated, size: one.frameSize, .toServer), .toServer))
        }
        return frames
    }

    /// The frames of those that go one way: nothing follows that they could let pass.
    mutating func takeParked(_ direction: Direction) -> [[UInt8]] {
        let all = direction == .toClient ? parkedToClient.takeAll() : parkedToServer.takeAll()
        return all.map { frame($0.opcode, $0.bytes, deflated: $0.isDeflated, size: $0.frameSize, direction) }
    }

    var isParking: Bool { !parkedToClient.isEmpty || !parkedToServer.isEmpty }

    /// When the patience of one that is parked ends.
    var nextParked: WireInstant? {
        isParking ? [parkedToClient.next, parkedToServer.next].compactMap { $0 }.min() : nil
    }
}
