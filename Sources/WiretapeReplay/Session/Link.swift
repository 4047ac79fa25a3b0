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
    /// Of a multipart answer: how it is written.
    var multipart: MultipartAnswer?
    /// Of a single answer: its head, and its body so far.
    var answer: HTTPAnswer?
    /// What the protocol keeps for a connection that goes on without a new handshake.
    var memory: (any SessionMemory)?
    /// What the protocol's server insists on.
    var rules: (any ConnectionRules)?
    /// How long it waits for the client.
    var watch: ServerWatch
    var ids = IDMap()
    /// The recorded chain of each live one.
    var chains: [Chain: Script.ChainPlace] = [:]
    /// Live chains that have come to their end, in order: messages may still cross it, but not many.
    private var ended: [(recorded: Chain, live: Chain, place: Script.ChainPlace)] = []
    private static let endedKept = 4_096
    /// The protocol's handshake is served, or there is none.
    var readyAt: WireInstant?
    /// Requests that are not on the tape and came before that: they are refused then.
    var strangers: [Message] = []
    static let mostStrangers = 4_096
    /// Steps that are sent again out of turn: the handshake, and answers to repeated requests.
    var again: [(step: Int, due: WireInstant)] = []
    /// The greeting, until the protocol's opening is through; and what of it an earlier connection has had.
    var greeting: [Int] = []
    var greeted: Set<Int> = []
    /// Payloads that the kernel has not wholly taken, in order from `firstUnderWay` on, and how many bytes they are together.
    private var given: [UnderWay] = []
    private var firstUnderWay = 0
    private(set) var outstanding = 0
    /// Used on long polling only.
    var polls = LongPolls()
    var cut = Cut.none
    var faults = LinkFaults()
    var nextKeepalive: WireInstant?
    var lastHeard: WireInstant
    /// When it last heard something that was neither a keepalive nor an acknowledgement.
    var lastSpoke: WireInstant

    init(
        _ transport: Transport, on c: ConnectionID?, token: String?, _ opening: StreamOpening, _ codec: CodecEntry,
        at now: WireInstant
    ) {
        self.init(transport, on: c, token: token, opening, codec: codec.type.init(opening), at: now)
    }

    init(
        _ transport: Transport, on c: ConnectionID?, token: String?, _ opening: StreamOpening,
        codec: any FrameCodec, at now: WireInstant
    ) {
        self.transport = transport
        connection = c
        self.token = token
        self.opening = opening
        self.codec = codec
        writer = codec
        rules = codec.rules
        watch = ServerWatch(ServerLimits(), isOpen: true, at: now)
        openedAt = now
        lastHeard = now
        lastSpoke = now
    }

    /// The chain's last message went out. Ids of chains that ended long before are forgotten.
    mutating func end(_ recorded: Chain, at place: Script.ChainPlace) {
        ended.append((recorded, Chain(ids.live(recorded), origin: recorded.origin), place))
        guard ended.count >= Link.endedKept * 2 else { return }
        for old in ended.prefix(Link.endedKept) {
            if chains[old.live] == old.place { chains[old.live] = nil }
            ids.unbind(old.recorded, from: old.live.id)
        }
        ended.removeFirst(Link.endedKept)
    }

    /// A payload on its way to the kernel.
    struct UnderWay: Sendable {
        var ticket: UInt64
        var steps: [Int]
        var bytes: Int
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

    /// Bytes on their way above which the session releases nothing more until the client has taken some: a client that
    /// never reads must not make the tape pile up here.
    static let mostOutstanding = 256 << 10

    var isFull: Bool { outstanding >= Link.mostOutstanding }

    mutating func gave(_ ticket: UInt64, _ steps: [Int], bytes: Int) {
        given.append(UnderWay(ticket: ticket, steps: steps, bytes: bytes))
        outstanding += bytes
    }

    /// Steps that the kernel has not wholly taken.
    var stepsUnderWay: [Int] { given[firstUnderWay...].flatMap(\.steps) }

    /// Whether the kernel has not wholly taken something, be it of the script or not.
    var hasUnderWay: Bool { firstUnderWay < given.count }

    /// The steps under way have other numbers, or none.
    mutating func renumber(_ number: (Int) -> Int?) {
        for i in given.indices { given[i].steps = given[i].steps.compactMap(number) }
    }

    /// The kernel has that payload and all before it.
    mutating func handedOver(_ ticket: UInt64) {
        while firstUnderWay < given.count, given[firstUnderWay].ticket <= ticket {
            outstanding -= given[firstUnderWay].bytes
            firstUnderWay += 1
        }
        if firstUnderWay == given.count {
            handedOverAll()
        } else if firstUnderWay > 1_024, firstUnderWay * 2 > given.count {
            given.removeFirst(firstUnderWay)
            firstUnderWay = 0
        }
    }

    /// Whatever is on its way is as good as there.
    mutating func handedOverAll() {
        given.removeAll(keepingCapacity: true)
        firstUnderWay = 0
        outstanding = 0
    }
}
