internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeWire

/// A client's attachment to a session over one transport: a WebSocket, an event stream and the sends beside it, or polls
/// and sends; on HTTP it outlives TCP connections. Its codec reads both directions in their order.
final class LiveCarrier {
    let session: LiveSession
    let transport: Transport
    let opening: StreamOpening
    let openedAt: WireInstant
    /// Nil until the first payload tells which protocol it is.
    private(set) var entry: CodecEntry?
    private(set) var codec: (any FrameCodec)?
    /// Whether there is a codec: to ask for the codec itself would copy it.
    private(set) var isRead = false
    /// What the client's requests name it by.
    let key: String?
    /// A rule ends it behind a message to the client: what comes after that does not reach the client.
    var isCut = false
    /// The protocol is ready.
    var readyAt: WireInstant?
    /// On long polling: the end that the next poll is told, and how a client is known to have left.
    var isOver = false
    /// A rule has stopped what the server says, or what the client does, until then: the client may give the connection up
    /// without our hearing of it.
    var silentUntil: WireInstant?
    /// Messages to the client that let others pass: the next poll may come on any connection.
    var parked = ParkedMessages()
    /// What the next poll comes to.
    var awaited: AwaitedEnd?
    /// The TCP connection that carries it now.
    var connection: UInt32

    init(
        _ session: LiveSession, _ transport: Transport, _ opening: StreamOpening, key: String?, on connection: UInt32,
        at now: WireInstant
    ) {
        self.session = session
        self.transport = transport
        self.opening = opening
        self.key = key
        self.connection = connection
        openedAt = now
    }

    /// It is known which protocol it is.
    func take(_ codec: any FrameCodec, of entry: CodecEntry?) {
        self.entry = entry
        self.codec = codec
        isRead = true
    }

    /// The messages of a payload; none while the protocol is not known.
    func decode(_ payload: Span<UInt8>, _ opcode: Opcode, _ direction: Direction, into out: inout [Message]) {
        codec?.decode(payload, opcode, direction, into: &out)
    }

    /// A later request goes on with what it carries.
    func isCarried(by opening: StreamOpening) { codec?.carried(by: opening) }
}
