internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// A client's attachment to a session over one transport. On long polling it outlives TCP connections; on WebSockets it
/// does so when the protocol remembers what was sent.
struct Link: Sendable {
    let transport: Transport
    /// Where what goes to the client goes out now: the WebSocket, the event stream, the poll that waits; nil between polls.
    private(set) var connection: ConnectionID?
    /// What the client's requests name it by; nil when it was opened without a negotiation.
    let token: String?
    let openedAt: WireInstant
    /// The request that opened it, and the head of what it was answered with where that matters.
    private(set) var opening: StreamOpening
    /// Reads the client's messages.
    var codec: any FrameCodec
    /// Writes the session's messages for this client.
    private(set) var writer: any FrameCodec
    /// Of an answer that is no stream of its own: what it is so far.
    private(set) var body: Body
    /// What the protocol keeps for a connection that goes on without a new handshake.
    var memory: (any SessionMemory)?
    /// What the protocol's server insists on.
    var rules: (any ConnectionRules)?
    /// How long it waits for the client.
    var watch: ServerWatch
    /// The live ids of the script's chains.
    var chains = LiveChains()
    /// The protocol's handshake is served, or there is none.
    private(set) var readyAt: WireInstant?
    /// What is said out of turn.
    var repeats = Repetitions()
    /// What the kernel has not wholly taken.
    var underWay = SendsUnderWay()
    /// Used on long polling only.
    var polls = LongPolls()
    private(set) var cut = Cut.none
    /// When the client's FIN came on ``connection``, which may still be read: what is due goes out.
    private(set) var halfClosedAt: WireInstant?
    var faults = LinkFaults()
    private(set) var nextKeepalive: WireInstant?
    var hearing: Hearing

    init(
        _ transport: Transport, on connection: ConnectionID?, token: String?, _ opening: StreamOpening,
        _ codec: CodecEntry, body: Body = .stream,
        at now: WireInstant
    ) {
        self.init(
            transport, on: connection, token: token, opening, codec: codec.type.init(opening), body: body, at: now)
    }

    init(
        _ transport: Transport, on connection: ConnectionID?, token: String?, _ opening: StreamOpening,
        codec: any FrameCodec, body: Body = .stream, at now: WireInstant
    ) {
        self.transport = transport
        self.connection = connection
        self.token = token
        self.opening = opening
        self.codec = codec
        self.body = body
        writer = codec
        rules = codec.rules
        watch = ServerWatch(ServerLimits(), isOpen: true, at: now)
        openedAt = now
        hearing = Hearing(at: now)
    }

    // MARK: What carries it

    /// What goes to the client goes out there from now on.
    mutating func goesOut(on connection: ConnectionID) {
        self.connection = connection
        halfClosedAt = nil
    }

    /// The client shut down its sending side, or it left.
    mutating func halfClose(at moment: WireInstant) { halfClosedAt = moment }

    /// The poll that waited is answered, and nothing goes out until the next one comes.
    mutating func waitsForPoll() {
        connection = nil
        halfClosedAt = nil
    }

    /// It has no connection any more: what was about that one is forgotten.
    /// - Parameter moments: those that rules wait for on the next one.
    mutating func disconnected(_ moments: [RuleFilters.Since]) {
        connection = nil
        halfClosedAt = nil
        cut = .none
        faults = LinkFaults()
        faults.moments = LinkMoments(moments)
        polls.disconnected()
    }

    /// The session's messages are written for a client that asks like this.
    mutating func serves(_ opening: StreamOpening, by writer: any FrameCodec) {
        self.opening = opening
        self.writer = writer
    }

    /// The protocol's handshake is served, or there is none; nil: it is not.
    mutating func becomesReady(at moment: WireInstant?) { readyAt = moment }

    /// Whether a keepalive of ours is due; then the next one comes an interval later.
    mutating func keepaliveIsDue(every interval: UInt64, ready: WireInstant, at now: WireInstant) -> Bool {
        let due = nextKeepalive ?? ready.advanced(by: writer.beginsWithKeepalive ? 0 : interval)
        nextKeepalive = due <= now ? now.advanced(by: interval) : due
        return due <= now
    }

    /// There are none any more.
    mutating func stopsKeepalives() { nextKeepalive = nil }

    /// When the client was heard last.
    struct Hearing: Sendable {
        private(set) var heard: WireInstant
        /// When the client last said something that was neither a keepalive nor an acknowledgement.
        private(set) var spoke: WireInstant
        /// Requests that are not on the tape and came before the protocol's opening was through: they are refused then.
        private var strangers: [Message] = []

        private static let mostStrangers = 4_096

        init(at now: WireInstant) {
            heard = now
            spoke = now
        }

        var hasStrangers: Bool { !strangers.isEmpty }

        mutating func hears(at now: WireInstant) { heard = now }

        mutating func speaks(at now: WireInstant) { spoke = now }

        /// The client could not be heard until now.
        mutating func beginsAgain(at now: WireInstant) {
            heard = now
            spoke = now
        }

        /// One more; beyond the most nobody is told.
        mutating func meets(_ stranger: Message) {
            if strangers.count < Self.mostStrangers { strangers.append(stranger) }
        }

        mutating func takeStrangers() -> [Message] {
            defer { strangers = [] }
            return strangers
        }
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

    /// Appends a payload as a part of the multipart answer, or its end.
    mutating func addPart(_ payload: Span<UInt8>, _ codec: any FrameCodec.Type, into out: inout [UInt8]) {
        guard case .parts(var answer) = body else { return }
        codec.part(payload, of: &answer, into: &out)
        body = .parts(answer)
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
        /// The rule's pause after the settle time, in nanoseconds.
        var pause: UInt64 = 0
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

    /// The end waits until the peer has what goes before it.
    mutating func end(_ ending: Ending, acknowledged ticket: UInt64) {
        cut = .acknowledging(ticket: ticket, ending)
    }

    /// The end waits for a moment.
    /// - Parameter complete: the peer has all that goes before it.
    mutating func end(_ ending: Ending, at moment: WireInstant, complete: Bool) {
        cut = .settling(until: moment, ending, complete: complete)
    }

    /// The next poll brings the end.
    mutating func endWithPoll(_ ending: Ending, complete: Bool) { cut = .awaitingPoll(ending, complete: complete) }

    /// No end is on its way any more.
    mutating func goesOn() { cut = .none }

    /// Whether what the client says still arrives: an end that follows a message to the client does not hold it back.
    var hears: Bool { ending.map { $0.ending.silences == .toClient } ?? true }

    var isCut: Bool { if case .none = cut { false } else { true } }
}
