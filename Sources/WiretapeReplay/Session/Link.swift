internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeWire

/// A client's attachment to a session over one transport. On long polling it outlives TCP connections; on WebSockets it
/// does so when the protocol remembers what was sent.
struct Link: Sendable {
    let transport: Transport
    /// Where what goes to the client goes out now: the WebSocket, the event stream, the poll that waits; nil between polls.
    var connection: ConnectionID?
    /// What the client's requests name it by; nil when it was opened without a negotiation.
    let token: String?
    let openedAt: WireInstant
    /// The request that opened it, and the head of what it was answered with where that matters.
    var opening: StreamOpening
    /// Reads the client's messages.
    var codec: any FrameCodec
    /// Writes the session's messages for this client.
    var writer: any FrameCodec
    /// Of an answer that is no stream of its own: what it is so far.
    var body = Body.stream
    /// What the protocol keeps for a connection that goes on without a new handshake.
    var memory: (any SessionMemory)?
    /// What the protocol's server insists on.
    var rules: (any ConnectionRules)?
    /// How long it waits for the client.
    var watch: ServerWatch
    /// The live ids of the script's chains.
    var chains = LiveChains()
    /// The protocol's handshake is served, or there is none.
    var readyAt: WireInstant?
    /// What is said out of turn.
    var repeats = Repetitions()
    /// What the kernel has not wholly taken.
    var underWay = SendsUnderWay()
    /// Used on long polling only.
    var polls = LongPolls()
    var cut = Cut.none
    var faults = LinkFaults()
    var nextKeepalive: WireInstant?
    var hearing: Hearing

    init(
        _ transport: Transport, on connection: ConnectionID?, token: String?, _ opening: StreamOpening,
        _ codec: CodecEntry,
        at now: WireInstant
    ) {
        self.init(transport, on: connection, token: token, opening, codec: codec.type.init(opening), at: now)
    }

    init(
        _ transport: Transport, on connection: ConnectionID?, token: String?, _ opening: StreamOpening,
        codec: any FrameCodec, at now: WireInstant
    ) {
        self.transport = transport
        self.connection = connection
        self.token = token
        self.opening = opening
        self.codec = codec
        writer = codec
        rules = codec.rules
        watch = ServerWatch(ServerLimits(), isOpen: true, at: now)
        openedAt = now
        hearing = Hearing(heard: now, spoke: now)
    }

    /// When the client was heard last.
    struct Hearing: Sendable {
        var heard: WireInstant
        /// When the client last said something that was neither a keepalive nor an acknowledgement.
        var spoke: WireInstant
        /// Requests that are not on the tape and came before the protocol's opening was through: they are refused then.
        var strangers: [Message] = []

        static let mostStrangers = 4_096
    }

    /// How an answer is made of the session's messages.
    enum Body: Sendable {
        /// They go out as they come.
        case stream
        /// They are gathered: the head, and the body so far.
        case whole(HTTPAnswer)
        /// Each is a part of a multipart body.
        case parts(MultipartAnswer)
    }

    /// The answer that is gathered, and goes out as a whole.
    var gathered: HTTPAnswer? { if case .whole(let answer) = body { answer } else { nil } }

    /// More of the answer that is gathered.
    mutating func gather(_ piece: [UInt8]) {
        guard case .whole(var answer) = body else { return }
        // Taken out, so that the body is not copied.
        body = .stream
        answer.body += piece
        body = .whole(answer)
    }

    /// An end that waits until the peer has what goes before it. Nothing else is sent meanwhile.
    enum Cut: Sendable {
        case none
        case acknowledging(ticket: UInt64, Ending)
        case settling(until: WireInstant, Ending, complete: Bool)
        /// Long polling: the next poll brings it.
        case awaitingPoll(Ending, complete: Bool)
    }

    /// What the end is, and whose.
    struct Ending: Sendable {
        /// Nil: there is none, only what goes before it.
        var verdict: FaultEffect?
        /// Nil: the tape's.
        var hit: FaultHit?
        /// What is done before, and how long that lasts.
        var effects: [FaultEffect] = []
        var lingering: UInt64 = 0
        /// Its firing is reported elsewhere.
        var isToldAlready = false
        /// The message that is lost with it: a step of the script.
        var step: Int?
        /// The message before it was cut short: the peer has all that there was of it, and not the message.
        var isTruncated = false
        /// The direction in which nothing later passes while the end is on its way.
        var silences = Direction.toClient
    }

    /// The end that is on its way.
    var ending: (ending: Ending, complete: Bool)? {
        switch cut {
        case .none: nil
        case .acknowledging(_, let ending): (ending, false)
        case .settling(_, let ending, let complete), .awaitingPoll(let ending, let complete): (ending, complete)
        }
    }

    /// Whether what the client says still arrives: an end that follows a message to the client does not hold it back.
    var hears: Bool { ending.map { $0.ending.silences == .toClient } ?? true }

    var isCut: Bool { if case .none = cut { false } else { true } }
}
