internal import WiretapeCore

/// The WebSocket of a held connection: both directions' messages, and the frames that go to both peers.
struct HeldSocket: ~Copyable {
    let live: LiveExchange
    private var fromClient: HeldFrames
    private var fromServer: HeldFrames
    private var toClient: FrameForge
    private var toServer: FrameForge
    /// Messages that let others pass.
    private var parked: [Parked] = []
    /// Those whose time has come.
    private var released: [Parked] = []
    /// Whose close frame has gone through, and how it said so.
    var closedBy: (party: TapeEvent.Party, how: String)?

    private struct Parked {
        var bytes: [UInt8]
        var opcode: Opcode
        var direction: Direction
        var isDeflated: Bool
        var left: Int
        var until: WireInstant
    }

    init(_ live: LiveExchange, deflate: DeflateParameters?, seed: UInt64) {
        self.live = live
        fromClient = HeldFrames(.toServer, deflate: deflate)
        fromServer = HeldFrames(.toClient, deflate: deflate)
        toClient = FrameForge(.toClient, deflate: deflate, seed: seed)
        toServer = FrameForge(.toServer, deflate: deflate, seed: seed)
    }

    mutating func feed(_ bytes: Span<UInt8>, from at: Int, _ direction: Direction) -> HeldFound {
        direction == .toServer ? fromClient.feed(bytes, from: at) : fromServer.feed(bytes, from: at)
    }

    // MARK: Frames

    mutating func pass(_ message: HeldMessage, _ direction: Direction) -> [UInt8] {
        direction == .toClient ? toClient.pass(message) : toServer.pass(message)
    }

    mutating func lose(_ message: HeldMessage, _ direction: Direction) {
        if direction == .toClient { toClient.lose(message) } else { toServer.lose(message) }
    }

    mutating func frame(_ opcode: Opcode, _ bytes: [UInt8], deflated: Bool, _ direction: Direction) -> [UInt8] {
        direction == .toClient
            ? toClient.frame(opcode, bytes, deflated: deflated) : toServer.frame(opcode, bytes, deflated: deflated)
    }

    mutating func frame(_ opcode: Opcode, _ bytes: [UInt8], damaged: Corruption, _ direction: Direction) -> [UInt8] {
        direction == .toClient
            ? toClient.frame(opcode, bytes, damaged: damaged) : toServer.frame(opcode, bytes, damaged: damaged)
    }

    mutating func piece(_ piece: HeldPiece, _ direction: Direction) -> [UInt8] {
        direction == .toClient ? toClient.piece(piece) : toServer.piece(piece)
    }

    mutating func close(_ code: UInt16?, _ reason: String) -> [UInt8] { toClient.close(code, reason) }

    // MARK: Messages that let others pass

    mutating func park(
        _ bytes: [UInt8], _ opcode: Opcode, _ direction: Direction, isDeflated: Bool, window: Int,
        until: WireInstant
    ) {
        parked.append(
            Parked(
                bytes: bytes, opcode: opcode, direction: direction, isDeflated: isDeflated, left: window,
                until: until))
    }

    /// A message has passed those that are parked.
    mutating func passed(_ direction: Direction) {
        guard !parked.isEmpty else { return }
        for i in parked.indices where parked[i].direction == direction { parked[i].left -= 1 }
        released += parked.filter { $0.left <= 0 }
        parked.removeAll { $0.left <= 0 }
    }

    mutating func releaseParked(at now: WireInstant) {
        guard !parked.isEmpty else { return }
        released += parked.filter { $0.until <= now }
        parked.removeAll { $0.until <= now }
    }

    /// The frames of those that go on.
    mutating func takeReleased() -> [(bytes: [UInt8], direction: Direction)] {
        guard !released.isEmpty else { return [] }
        let due = released
        released = []
        var frames: [(bytes: [UInt8], direction: Direction)] = []
        for one in due {
            frames.append((frame(one.opcode, one.bytes, deflated: one.isDeflated, one.direction), one.direction))
        }
        return frames
    }

    /// When the patience of one that is parked ends.
    var nextParked: WireInstant? { parked.map(\.until).min() }
}
