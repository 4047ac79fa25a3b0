internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// How a model client spells what it says and reads what it hears: the hub protocol, and the ids of its connection.
struct ClientVoice {
    /// Whether the hub protocol is a binary one.
    private(set) var isBinary = false
    private var ids: LiveIDs
    /// Nil before the first connection.
    private var ear: (any FrameCodec)?

    init(_ style: ClientHabits.IDStyle) { ids = LiveIDs(style) }

    var opcode: Opcode { isBinary ? .binary : .text }
    var contentType: String { isBinary ? "application/octet-stream" : "text/plain;charset=UTF-8" }
    var keepalive: [UInt8] { ear?.keepalive?.payload ?? [] }
    /// Recorded ids and those of this connection.
    var map: IDMap { ids.map }

    /// A new connection: what was open is forgotten.
    mutating func reconnect(_ codec: any FrameCodec.Type, _ opening: StreamOpening) {
        ids.reconnect()
        ear = codec.init(opening)
    }

    /// The client's handshake leaves.
    mutating func greets(_ bytes: [UInt8], hubProtocol: String?) {
        follow(bytes, .text)
        isBinary = hubProtocol == "messagepack"
    }

    /// Binds what a line opens to ids of its own.
    mutating func open(_ message: Message, line: Int) { ids.open(message, line: line) }

    /// What was said last is said again under the same ids: those bound since are forgotten.
    mutating func goBack(to map: IDMap) { ids.map = map }

    func write(_ message: Message, by writer: any FrameCodec) -> [UInt8] {
        var bytes: [UInt8] = []
        _ = writer.write(message, ids: ids.map, on: .ws, into: &bytes)
        return bytes
    }

    func live(_ chain: Chain) -> Chain { Chain(ids.map.live(chain), origin: chain.origin) }

    /// What the client itself says: the protocol's state depends on it.
    mutating func follow(_ bytes: [UInt8], _ opcode: Opcode) {
        var seen: [Message] = []
        ear?.decode(bytes.span, opcode, .toServer, into: &seen)
    }

    /// Whole messages of the server; nil before the first connection.
    mutating func read(_ bytes: [UInt8], _ opcode: Opcode) -> [Message]? {
        guard ear != nil else { return nil }
        var messages: [Message] = []
        ear?.decode(bytes.span, opcode, .toClient, into: &messages)
        return messages
    }

    /// One of those messages goes to the session that it is of.
    /// - Returns: 1 when it is the replay's own refusal, else 0.
    mutating func hand(_ message: Message, to play: inout ClientPlay, at now: WireInstant, think: UInt64) -> Int {
        play.hear(message, &ids, at: now, think: think)
    }
}
