package import WiretapeMessages
package import WiretapeWire

/// One conversation of a tape, decoded: the script that replay plays. Or an attempt to begin one that the server refused.
package struct RecordedSession: Sendable {
    /// 1, 2, … in the order of the first event.
    package var number: Int
    package var codec: CodecEntry
    /// The codec after it has seen the whole session: it can write the session's messages.
    package var writer: any FrameCodec
    /// Of a refused negotiation `http`: the client had not chosen one.
    package var transport: Transport
    /// `/chat`. Of a redirected negotiation that of the first request: where a client begins.
    package var route: String
    /// The request that opened the stream (the upgrade, the GET of an event stream, the first poll). Of a refusal the
    /// request that was refused.
    package var opening: StreamOpening
    /// The negotiate exchange when there was one; of a redirected negotiation the last.
    package var negotiate: StreamOpening?
    /// The redirects before it, in order.
    package var redirects: [StreamOpening] = []
    /// The attempt ended with this answer to its negotiation or opening, and there is no conversation: it is given again.
    /// Refused openings say nothing about other transports: a client that opens another one after the same negotiation
    /// is not the one that was refused. Nor do they take the negotiation's token away: a later session with the same
    /// negotiation and ids is the client that tried again with it.
    package var refusal: Refusal?
    package var serverIDs: ServerIDs?
    package var habits = Habits()
    /// The tape's connections that carried it, in order.
    package var connections: [UInt32]
    /// Empty when the session has been compiled.
    package var entries: [Entry]
    /// What was worked out while the tape was read. Nil: nothing yet, as of all sessions while a long tape is read. It is large, and stands apart
    /// for the sake of tapes of many sessions.
    private var digest: Digest?
    /// It is one exchange: one message of the client and what the server answers to that.
    package var isOperation = false
    /// Whether its client reconnects when it loses the connection. Of single responses, this holds for the event streams of a browser's
    /// `EventSource`.
    package var isReconnected: Bool {
        !isOperation || codec.type.isToldByAnswer && transport == .sse && opening.request.method == "GET"
    }
    /// Of an operation with a multipart answer: how its server writes one. Nil before the first part.
    package var multipart: MultipartWriter?
    /// Of a part of a session that is offered to clients by itself: the how manyth request of the session it is.
    package var part: Int?
    /// What the server said in it cannot be read: why it cannot be played, as the end of the sentence "session 1 …".
    package var unreadable: String?
    /// A given name (`open.session`).
    package var name: String?
    /// The place of the first event of its conversation. Nil if the tape does not tell.
    package var openingPlace: TapePlace?
    /// When the stream opened (the time of the 101, of the event stream's head, of the first poll's answer), on the
    /// tape's clock; nil when the tape does not tell.
    package var opened: UInt64?

    /// A line of the tape, from 1, and its time on the tape's clock.
    package struct TapePlace: Hashable, Sendable {
        package var line: Int
        package var time: UInt64

        package init(line: Int, time: UInt64) {
            self.line = line
            self.time = time
        }
    }

    /// The places of the client messages that hold back later server messages, in recorded order.
    package var gates: [TapePlace] {
        if let script = digested.script { return script.gates }
        if let cold = digested.cold { return cold.part.gates }
        return entries.compactMap { entry in
            guard case .message(let message) = entry.what, message.direction == .toServer, message.role.isGate,
                !entry.isCrossing
            else { return nil }
            return TapePlace(line: entry.line, time: entry.time)
        }
    }

    /// The line of its last message or ending. Nil if it has neither.
    package var lastLine: Int? {
        if let script = digested.script { return script.steps.last.map { Int($0.line) } }
        if let cold = digested.cold { return cold.part.lastLine }
        return entries.last?.line
    }

    /// A response that ended an attempt. It is a class because most sessions have none, and a nil reference is small.
    package final class Refusal: Sendable {
        package let head: ResponseHead
        package let body: [UInt8]

        package init(_ head: ResponseHead, body: [UInt8] = []) {
            self.head = head
            self.body = body
        }

        package var status: Int { head.status }
    }

    /// What its server did as a matter of habit.
    package struct Habits: Sendable {
        /// Which messages it compressed.
        package var deflate = DeflateHabit()
        /// How it answered close frames of the client.
        package var closings = ClosingHandshakes()
        /// What it put up with of the client.
        package var conduct = ClientConduct()
    }

    /// What is known of the entries of a session without reading them again.
    package struct Digested: Sendable {
        package var script: Script?
        /// Where the entries can be read again.
        package var cold: ColdEntries?
        /// How its client begins.
        package var openingFingerprint: OpeningFingerprint?
        /// Names of messages on the tape that are counted in no script.
        package var names: [String: Int] = [:]
    }

    /// Never changed: copies of a session share it.
    private final class Digest: Sendable {
        let value: Digested

        init(_ value: Digested) { self.value = value }
    }

    /// What was worked out while the tape was read.
    package var digested: Digested {
        get { digest?.value ?? Digested() }
        set { digest = Digest(newValue) }
    }

    package init(
        number: Int, codec: CodecEntry, writer: any FrameCodec, transport: Transport, route: String,
        opening: StreamOpening, negotiate: StreamOpening? = nil, serverIDs: ServerIDs? = nil,
        connections: [UInt32] = [], entries: [Entry] = [], name: String? = nil,
        opened: UInt64? = nil
    ) {
        self.number = number
        self.codec = codec
        self.writer = writer
        self.transport = transport
        self.route = route
        self.opening = opening
        self.negotiate = negotiate
        self.serverIDs = serverIDs
        self.connections = connections
        self.entries = entries
        self.name = name
        self.opened = opened
    }

    /// The name of the server that its first request was made to, where the tape tells.
    package var upstream: String? { (redirects.first ?? negotiate ?? opening).upstream }

    /// Why it cannot be played, as the end of the sentence "session 1 …". Nil: it can.
    package var obstacle: String? { unreadable ?? writer.obstacle }

    /// The same without its entries.
    package var bare: RecordedSession {
        var bare = self
        bare.entries = []
        if digest != nil {
            bare.digested.script = nil
            bare.digested.cold = nil
        }
        return bare
    }

    /// The same with its entries, read again if need be.
    package var whole: RecordedSession {
        guard let cold = digested.cold else { return self }
        var whole = self
        whole.entries = cold.read(self)
        whole.digested.cold = nil
        return whole
    }

    package struct Entry: Hashable, Sendable {
        /// The event's number on the tape, from 1; 0 for what a sparse tape leaves to the codec.
        package var event: UInt64
        /// The line in which the event stands, from 1. Comments count.
        package var line: Int
        package var time: UInt64
        package var connection: UInt32
        /// Messages of one frame share this number: the frame's ordinal in the session.
        package var frame: Int
        /// Its WebSocket message was compressed.
        package var isDeflated: Bool
        /// The byte count of each frame if its WebSocket message had several frames. Else empty.
        package var frameSizes: [Int32]
        /// The client sent it after the server had ended the connection. Another run need not have it.
        package var isCrossing: Bool
        package var what: What

        /// The line of an event on a tape without comments.
        package static func line(of event: UInt64) -> Int { Int(clamping: min(event, .max - 1) + 1) }

        /// - Parameter line: by default that of a tape without comments, whose header is line 1.
        package init(
            event: UInt64, line: Int? = nil, time: UInt64, connection: UInt32, frame: Int, isDeflated: Bool = false,
            frameSizes: [Int32] = [], isCrossing: Bool = false, _ what: What
        ) {
            self.event = event
            self.line = line ?? Self.line(of: event)
            self.time = time
            self.connection = connection
            self.frame = frame
            self.isDeflated = isDeflated
            self.frameSizes = frameSizes
            self.isCrossing = isCrossing
            self.what = what
        }
    }

    package enum What: Hashable, Sendable {
        case message(Message)
        /// An ending that the server made.
        case ending(Ending)
    }

    package enum Ending: Hashable, Sendable {
        case close(code: UInt16?, reason: String)
        /// FIN without a close frame.
        case disconnect
        case reset
    }
}

/// Which of its messages a recorded server compressed, where the tape does not say it of the message itself: keepalives, what
/// rules add, very long messages.
package struct DeflateHabit: Hashable, Sendable {
    /// Bytes of the shortest message that it compressed; nil: none.
    private var least: Int?

    package init() {}

    /// A message of the server that was compressed.
    mutating func compressed(_ count: Int) { least = min(least ?? count, count) }

    /// Whether it would compress a message of so many bytes.
    package func compresses(_ count: Int) -> Bool { least.map { count >= $0 } ?? false }
}

extension RecordedSession {
    /// A value in which the ids that the server made for this session have one name in every recording: applications hand
    /// them on in their messages.
    package func withoutServerIDs(_ value: JSONValue) -> JSONValue {
        guard let serverIDs, value.hasText({ $0 == serverIDs.connectionID || $0 == serverIDs.token }) else {
            return value
        }
        return value.mappingTexts { text in
            text == serverIDs.connectionID ? "$connectionId" : text == serverIDs.token ? "$connectionToken" : text
        }
    }
}

extension RecordedSession {
    /// Where a client begins: the path with the query items by which the session is found.
    package var endpoint: String {
        let target = opening.request.target
        guard let mark = target.firstIndex(of: "?") else { return route }
        let kept = target[target.index(after: mark)...].split(separator: "&").filter { item in
            let head = RequestHead(method: "GET", target: "?\(item)")
            return StableQuery.stable(head, codec.type.volatileQuery).contains { !StableQuery.isPseudonym($0.value) }
        }
        return kept.isEmpty ? route : "\(route)?\(kept.joined(separator: "&"))"
    }

    /// The WebSocket subprotocol: what the recorded server chose; on a tape that does not tell, what the messages are.
    package var subprotocol: String? {
        guard let response = opening.response else { return writer.subprotocol }
        return response.headers.first("Sec-WebSocket-Protocol")
    }
}
