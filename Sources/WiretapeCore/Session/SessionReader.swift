/// Finds the sessions of a tape and decodes them: takes its events in order, gives messages as they come, and the
/// sessions at the end.
///
/// - A negotiation and the WebSocket that carries its token are one session. A WebSocket without one is a session of its
///   own; the codec is the one that claims its opening most surely.
/// - A second WebSocket with the same token belongs to the session when it goes on with it (stateful reconnect), and is
///   a new session when it begins with a handshake.
/// - Sessions on other transports are listed without entries.
///
/// Keepalives and acknowledgements are no entries: replay makes its own. Nor is what crossed an ending: messages of a
/// connection behind the server's ending, and those to a client behind its close frame. Nor a message that the end of its
/// connection cut. Beside the entries it keeps at most 64 KiB a body, 1,024 unanswered requests a connection and 4,096 negotiations
/// that no connection has followed yet.
package struct SessionReader: Sendable {
    static let bodyLimit = 64 << 10
    static let exchangeLimit = 1_024
    static let negotiationLimit = 4_096
    /// A longer WebSocket message is not decoded.
    static let messageLimit = 64 << 20

    let codecs: [CodecEntry]
    let header: TapeHeader?
    let keepsEntries: Bool

    var connections: [UInt32: Track] = [:]
    /// Connections up to this number that are not in the table are over.
    var latestOpened: UInt32 = 0
    var building: [Building] = []
    /// Negotiations and sessions by codec and key.
    var negotiations: [Key: Negotiation] = [:]
    var negotiationOrder: [Key] = []
    var byKey: [Key: Int] = [:]
    /// Ordinary exchanges in the order of their requests; empty unless entries are kept.
    package internal(set) var exchanges: [RecordedExchange] = []
    private var takeOffset: UInt64 = 0
    private var lastTime: UInt64 = 0

    /// - Parameters:
    ///   - codecs: asked in their order.
    ///   - header: the tape's first line; that of a sparse tape names its protocol and route.
    ///   - keepsEntries: false when only the messages are wanted, so that memory does not grow with the tape.
    package init(codecs: [CodecEntry], header: TapeHeader? = nil, keepsEntries: Bool = true) {
        self.codecs = codecs
        self.header = header
        self.keepsEntries = keepsEntries
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
        let (sum, overflow) = event.time.addingReportingOverflow(takeOffset)
        lastTime = max(lastTime, overflow ? .max : sum)
        let place = Place(
            event: number, line: line.flatMap { $0 > 0 ? $0 : nil } ?? Int(clamping: number) + 1, time: lastTime,
            connection: event.connection, isUnframed: isUnframed)
        switch event.kind {
        case .open(let open):
            latestOpened = max(latestOpened, place.connection)
            connections[place.connection] = Track(name: open.session)
        case .request(let x, let head, let body):
            request(x, head, body, at: place)
        case .response(let x, let head, let body, let interim, _, _):
            if !interim { response(x, head, body, at: place) }
        case .chunk(let x, let direction, let bytes):
            chunk(x, direction, bytes, at: place)
        case .end(let x, let direction, _):
            end(x, direction, at: place)
        case .message(let direction, let opcode, let bytes, _, _):
            data(direction, opcode, bytes, at: place, into: &out)
        case .part(let direction, let opcode, let n, let bytes, let last):
            part(direction, opcode, n, bytes, last: last, at: place, into: &out)
        case .close(let direction, let code, let reason):
            close(direction, code, reason, at: place)
        case .gone(let party, let how, _):
            gone(party, how, at: place)
        case .take:
            takeOffset = lastTime
            connections = [:]
            latestOpened = 0
        case .ping, .pong, .fault, .mark, .gap, .stop, .unknown:
            break
        }
    }

    /// The sessions in the order of their numbers. Messages that are not whole by now are left out.
    package func finish() -> [RecordedSession] {
        building.map { one in
            var session = one.session
            session.writer = one.codec
            return session
        }
    }

    /// Where an event stands.
    struct Place {
        var event: UInt64
        var line: Int
        var time: UInt64
        var connection: UInt32
        var isUnframed: Bool
    }

    struct Key: Hashable, Sendable {
        var codec: String
        var key: String
    }

    struct Negotiation: Sendable {
        var opening: StreamOpening
        var ids: ServerIDs?
    }

    /// A session while it is read.
    struct Building: Sendable {
        var session: RecordedSession
        var codec: any FrameCodec
        var frames = 0
        var hasHandshake = false
    }
}
