internal import WiretapeBytes
internal import WiretapeWire

/// Finds the sessions of a tape and decodes them: takes its events in order, gives messages as they come, and the
/// sessions at the end. It knows no protocol; what an exchange is and whose it is, the codecs say.
///
/// - A negotiation and what carries its token are one session: a WebSocket; an event stream and the sends beside it; or
///   polls and sends. They may come over any number of connections. A negotiation that nothing follows is an ordinary exchange. A
///   WebSocket without a negotiation is a session of its own; the codec is the one that claims its opening most surely.
/// - A second WebSocket with the same token belongs to the session when it goes on with it (stateful reconnect), and is
///   a new session when it begins with a handshake; so is a handshake that is sent over HTTP.
/// - A negotiation that was sent on belongs to the one that the client makes where it was sent.
/// - A *refusal* is a session without entries: the server's answer to a negotiation that gave no session, or to an opening
///   (upgrade, event stream, first poll) that came to nothing. Its `opening` is the request that was refused. The
///   negotiation before a refused opening stays valid: whatever succeeds with its token afterwards is a session of its
///   own with the same negotiation and ids, and so is the session that a client negotiates anew for its next transport.
///   A refused opening whose token has had a session, or that no negotiation gave, is none: servers say by themselves
///   that they do not know it.
/// - What no codec claims is an ordinary exchange (``exchanges``), but for preflights and what Wiretape answered itself.
///
/// Content codings that the recorder left on a body are removed here; a body that cannot be decoded stays as it was received,
/// and ``undecoded`` tells of it.
///
/// Keepalives and acknowledgements are no entries: replay makes its own. Nor is what crossed an ending: messages of a
/// connection behind the server's ending or the client's close frame, and those to a client behind its request to end the session.
/// Nor what a client says with or behind a frame that breaks the rules of WebSockets, nor how its server ended that
/// connection: replay ends it as well. Nor a message that the end of its connection cut.
///
/// Ends of the server over HTTP: the proper end of an event stream and a poll answered 204 are a close with code 1000;
/// an event stream that is cut, and a poll that is cut or refused, are a disconnect or reset, and the session goes on
/// behind it when a later poll succeeds. A 204 to a poll that a newer one has replaced is none.
///
/// Beside entries and exchanges it keeps bounded memory: the limits below, 1,024 unanswered requests a connection, and
/// 4,096 negotiations that no connection has followed yet.
package struct SessionReader: Sendable {
    /// What is kept of the body of a negotiation or refusal.
    package static let bodyLimit = 64 << 10
    /// What is kept of the body of an ordinary exchange.
    package static let exchangeBodyLimit = 1 << 20
    static let exchangeLimit = 1_024
    static let prospectLimit = 4_096
    /// A longer message is not decoded.
    package static let messageLimit = 64 << 20
    /// What unfinished bodies may hold together, beyond 64 KiB each.
    static let heldLimit = 256 << 20
    /// Sessions that are known without their entries.
    static let sessionLimit = 16_384

    package let codecs: [CodecEntry]
    package let header: TapeHeader?
    let keepsEntries: Bool

    var connections: [UInt32: Track] = [:]
    /// Connections up to this number that are not in the table are over.
    private(set) var latestOpened: UInt32 = 0
    /// Sessions from index `forgotten` on; `byKey` and streams hold indices that count the forgotten ones.
    var building: [Building] = []
    var forgotten = 0
    var byKey: [Key: Int] = [:]
    /// Negotiations that no session has begun with, and openings that name what is not known (yet).
    var prospects = Prospects(limit: SessionReader.prospectLimit)
    var strangers = Prospects(limit: SessionReader.exchangeLimit)
    /// Negotiations that sent their clients on and were not followed yet, oldest first.
    var redirected: [Redirected] = []
    /// Bytes of unfinished bodies beyond 64 KiB each.
    var held = 0
    var plain: [Plain] = []
    var unplacedRequests: [Unplaced] = []
    /// The number of ordinary exchanges whose requests name no session.
    package internal(set) var exchangeCount = 0
    /// Bodies that turned out with the last event to be in no coding that can be read.
    package internal(set) var undecoded: [UndecodedBody] = []
    /// What the last event brought was read from bytes in a content coding.
    package internal(set) var hasDecoded = false
    private var takeOffset: UInt64 = 0
    private var lastTime: UInt64 = 0
    /// Which requests turned out to be of which sessions, since they were taken; nil when nobody asks.
    private(set) var belongings: [Belonging]?

    /// - Parameters:
    ///   - codecs: asked in their order.
    ///   - header: the tape's first line; that of a sparse tape names its protocol and route.
    ///   - keepsEntries: false when only the messages are wanted, so that memory does not grow with the tape.
    package init(codecs: [CodecEntry], header: TapeHeader? = nil, keepsEntries: Bool = true) {
        self.codecs = codecs
        self.header = header
        self.keepsEntries = keepsEntries
    }

    /// What is kept beside entries and exchanges, in case that something follows: negotiations and openings, unanswered requests.
    package var remembered: Int {
        prospects.count + strangers.count + redirected.count + connections.values.reduce(0) { $0 + $1.exchanges.count }
    }

    /// A request that is part of a session.
    package struct Belonging: Hashable, Sendable {
        /// The request's event.
        package var request: UInt64
        package var session: Int
        /// The session does not begin without it: a negotiation, or the opening of a stream.
        package var isOpening: Bool
    }

    /// Tells from here on which requests are of which sessions.
    package mutating func tellBelongings() { belongings = [] }

    /// What turned out since the last time. A request may be told of more than once.
    package mutating func takeBelongings() -> [Belonging] {
        guard let told = belongings, !told.isEmpty else { return [] }
        belongings = []
        return told
    }

    mutating func belongs(_ request: UInt64, _ index: Int, isOpening: Bool) {
        guard belongings != nil else { return }
        belongings?.append(
            Belonging(request: request, session: building[index].session.number, isOpening: isOpening))
    }

    /// One event.
    /// - Parameters:
    ///   - number: from 1.
    ///   - line: in which it stands, from 1; nil or 0 when it is not known.
    ///   - isUnframed: whether the payload came as `json` and lacks the protocol's framing.
    ///   - out: gets the messages that the event completed.
    package mutating func read(
        _ event: TapeEvent, number: UInt64, line: Int? = nil, isUnframed: Bool = false,
        into out: inout [DecodedMessage]
    ) {
        if !undecoded.isEmpty { undecoded = [] }
        hasDecoded = false
        let (sum, overflow) = event.time.addingReportingOverflow(takeOffset)
        let previousTime = lastTime
        lastTime = max(lastTime, overflow ? .max : sum)
        var place = Place(
            event: number, line: line.flatMap { $0 > 0 ? $0 : nil } ?? RecordedSession.Entry.line(of: number),
            time: lastTime, previousTime: previousTime, connection: event.connection, isUnframed: isUnframed)
        switch event.kind {
        case .open(let open):
            latestOpened = max(latestOpened, place.connection)
            forget(connections.removeValue(forKey: place.connection))
            connections[place.connection] = Track(name: open.session, upstream: open.upstream)
        case .request(let x, let head, let body):
            request(x, head, body, at: place, into: &out)
        case .response(let x, let head, let body, let interim, let coding, let proxy):
            if !interim {
                response(x, head.without(coding), body, isOurs: proxy, at: place, into: &out)
            }
        case .chunk(let x, let direction, let bytes):
            chunk(x, direction, bytes, at: place, into: &out)
        case .end(let x, let direction, _):
            end(x, direction, at: place, into: &out)
        case .message(let direction, let opcode, let bytes, let deflated, let fragments):
            place.isDeflated = deflated
            place.frameSizes = fragments.map { Int32(clamping: $0) }
            data(direction, opcode, bytes, at: place, into: &out)
        case .part(let direction, let opcode, let n, let bytes, let last):
            part(direction, opcode, n, bytes, last: last, at: place, into: &out)
        case .close(let direction, let code, let reason):
            close(direction, code, reason, at: place)
        case .gone(let party, let how, _):
            gone(party, how, at: place, into: &out)
        case .take:
            takeOffset = lastTime
            startAgain()
        case .ping(let direction, _), .pong(let direction, _):
            control(direction, at: place)
        case .mark(let text):
            if let rest = UndecodedBody.read(text) {
                staysEncoded(rest.exchange, of: rest.connection, at: place, into: &out)
            }
        case .frame(let direction):
            if direction == .toServer { connections[place.connection]?.stream?.isBroken = true }
        case .gap: forgetPieces()
        case .missing(let direction, _): forgetPieces(of: place.connection, direction)
        case .fault, .stop, .unknown:
            break
        }
    }

    /// A later take: its connections and tokens are others.
    private mutating func startAgain() {
        plain = exchanges.map { Plain(exchange: $0, names: []) }
        unplacedRequests = unplaced.map(\.final)
        connections = [:]
        latestOpened = 0
        held = 0
        byKey = [:]
        prospects = Prospects(limit: SessionReader.prospectLimit)
        strangers = Prospects(limit: SessionReader.exchangeLimit)
        redirected = []
    }

    /// The sessions in the order of their numbers. Messages that are not whole by now are left out.
    package func finish() -> [RecordedSession] {
        var sessions = building.map { one in
            var session = one.session
            session.writer = one.codec
            session.habits.conduct = one.conduct
            if let doubtful = one.doubtfulEnding, doubtful < session.entries.count {
                session.entries.removeSubrange((doubtful + 1)...)
            }
            return session
        }
        var guessed = building.indices.filter { building[$0].isGuessed }
        if !guessed.isEmpty {
            adopt(&guessed, building.indices.reversed(), &sessions)
            adopt(&guessed, Array(building.indices), &sessions)
        }
        return sessions
    }

    /// A refused WebSocket that no codec knew by its request is of the codec that the session before it in `order` on its
    /// route has. Takes those out of `guessed` that have found one.
    private func adopt(_ guessed: inout [Int], _ order: [Int], _ sessions: inout [RecordedSession]) {
        var spoken: [String: CodecEntry] = [:]
        var found: Set<Int> = []
        let wanted = Set(guessed)
        for i in order {
            let route = sessions[i].route
            guard building[i].isGuessed else {
                spoken[route] = sessions[i].codec
                continue
            }
            guard wanted.contains(i), let codec = spoken[route] else { continue }
            sessions[i].codec = codec
            sessions[i].writer = codec.type.init(sessions[i].opening)
            found.insert(i)
        }
        guessed.removeAll(where: found.contains)
    }

    /// Answered requests whose protocol is known and whose session does not begin on the tape. The first 1,000 are kept.
    package var unplaced: [Unplaced] {
        unplacedRequests.filter { one in one.names.allSatisfy { byKey[$0] == nil } }
    }

    /// Ordinary exchanges in the order of their requests. If ``keepsEntries`` is false, only failed ones, without bodies.
    package var exchanges: [RecordedExchange] {
        let ordinary = plain.filter { one in one.names.allSatisfy { byKey[$0] == nil } }.map(\.exchange)
        return (ordinary + unfollowed).sorted { $0.event < $1.event }
    }
}
