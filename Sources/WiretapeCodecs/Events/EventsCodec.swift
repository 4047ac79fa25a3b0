internal import WiretapeBytes
package import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

/// Streams of no known protocol: server-sent events, JSON lines, and bodies in pieces. Every exchange is a session: the request is one message
/// of the client, and each event, line or piece of the answer one of the server, whose bytes are kept as they came.
/// `docs/protocols/events.md` is the reference.
package struct EventsCodec: FrameCodec {
    package static let id = "events"
    private static let types = MessageTypes([
        "event", "line", "piece", "comment", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY",
    ])
    /// What a client asks is called by its method and path, which `--route` may change.
    package static func mayBeCalled(_ name: String) -> Bool { types.contains(name) || name.contains(" /") }

    /// What names the last event, and tokens.
    package static let volatileQuery: Set<String> = Set(lastIDs).union(["token"])
    private static let lastIDs = ["lastEventId", "last_event_id", "Last-Event-ID"]

    private let request: RequestHead
    private let form: EventsForm?

    package init(_ opening: StreamOpening) {
        request = opening.request
        form = EventsForm(opening)
    }

    // MARK: Which exchanges

    package static var isToldByAnswer: Bool { true }

    package static func mayBeTold(_ request: RequestHead) -> Bool {
        guard mayHaveBody(request), request.headers.first("Upgrade") == nil else { return false }
        let accepted = MediaType.list(request.headers.all("Accept"))
        return !accepted.contains { $0.name == "text/html" || $0.name.hasPrefix("image/") || $0.name == "text/css" }
    }

    /// By the answer's head alone.
    package static func claim(_ opening: StreamOpening) -> Confidence {
        guard let response = opening.response, (200..<300).contains(response.status), response.status != 204,
            mayHaveBody(opening.request), EventsForm(opening) != nil
        else { return .no }
        return .likely
    }

    private static func mayHaveBody(_ request: RequestHead) -> Bool {
        !["OPTIONS", "HEAD", "CONNECT"].contains(request.method)
    }

    /// Only what asks for events is known by its request.
    package static func kind(_ request: RequestHead) -> ExchangeKind {
        if request.method == "OPTIONS" { return .preflight }
        guard mayHaveBody(request), request.headers.first("Upgrade") == nil else { return .other }
        let accepted = MediaType.list(request.headers.all("Accept"))
        return accepted.contains { $0.name == "text/event-stream" || $0.isJSONLines }
            ? .operation : .other
    }

    package static func sessionKey(_ opening: StreamOpening) -> String? { nil }
    package static func serverIDs(_ opening: StreamOpening) -> ServerIDs? { nil }
    package static func route(_ request: RequestHead) -> String { request.path }

    package static func framing(_ opening: StreamOpening) -> BodyFraming? {
        EventsForm(opening).map { .units($0.units) }
    }

    package static func transport(_ request: RequestHead) -> Transport { .sse }

    package static func lastID(_ request: RequestHead) -> String? {
        let items = request.query
        let shown =
            request.headers.first("Last-Event-ID")
            ?? items.first { item in lastIDs.contains { equalIgnoringCase($0, item.name) } }?.value
        return shown.flatMap { $0.isEmpty ? nil : $0 }
    }

    // MARK: Messages

    package mutating func decode(
        _ payload: Span<UInt8>, _ opcode: Opcode, _ direction: Direction, into out: inout [Message]
    ) {
        var bytes: [UInt8] = []
        bytes.append(copying: payload)
        guard direction == .toClient else { return out.append(asked(bytes)) }
        var message =
            switch form {
            case .events: EventsCodec.event(bytes, opcode)
            case .lines, nil: EventsCodec.line(bytes, opcode)
            case .pieces: EventsCodec.piece(bytes, opcode)
            }
        message.chain = Chain("", origin: .toServer)
        out.append(message)
    }

    /// The request: its method is the type, and what its body says is compared. Its path and query are the route's.
    private func asked(_ body: [UInt8]) -> Message {
        let label = "\(request.method) \(request.path)"
        let content = EventsBody.value(of: body, request.headers)
        var text = label
        if let last = EventsCodec.lastID(request) { text += " behind \(last)" }
        if content != .null { text += " \(content["text"]?.string ?? content.text)" }
        var message = Message(
            direction: .toServer, role: .request, type: request.method, label: label,
            chain: Chain("", origin: .toServer), meaning: content, content: content, summary: Summary.line(text),
            bytes: body)
        message.standing = .directed
        return message
    }

    /// A block of an event stream. One without data is told to nobody.
    private static func event(_ bytes: [UInt8], _ opcode: Opcode) -> Message {
        let block = EventsBlock(bytes)
        guard let event = block.event else {
            var message = Message(
                direction: .toClient, role: .push, type: "comment", meaning: JSONValue(plain: bytes),
                content: JSONValue(plain: bytes), summary: Summary.line(block.asideText), bytes: bytes, opcode: opcode)
            message.standing = .aside
            return message
        }
        let (value, text) = EventsBody.data(event.data)
        var meaning: [JSONValue.Member] = [.init("event", .string(event.type)), .init("data", value)]
        if !event.id.isEmpty { meaning.append(.init("id", .string(event.id))) }
        let shown = event.id.isEmpty ? text : "\(text) id=\(event.id)"
        return Message(
            direction: .toClient, role: .push, type: "event", label: event.type, meaning: .object(meaning),
            content: value, summary: Summary.line("\(event.type) \(shown)"), bytes: bytes, opcode: opcode)
    }

    private static func line(_ bytes: [UInt8], _ opcode: Opcode) -> Message {
        let content = EventsBody.trimmed(bytes)
        let (value, text) = EventsBody.data(Array(bytes[content]))
        var message = Message(
            direction: .toClient, role: .push, type: "line", label: "message", meaning: value, content: value,
            summary: Summary.line(text), bytes: bytes, opcode: opcode)
        if content.isEmpty {
            (message.type, message.label, message.standing) = ("comment", nil, .aside)
        }
        return message
    }

    /// What arrived together. It may end within anything, a character too.
    private static func piece(_ bytes: [UInt8], _ opcode: Opcode) -> Message {
        let (value, text) = EventsBody.data(bytes)
        return Message(
            direction: .toClient, role: .push, type: "piece", label: "message", meaning: value, content: value,
            summary: Summary.line(text), bytes: bytes, opcode: opcode)
    }

    package static func id(of message: Message) -> String? {
        message.type == "event" || message.type == "comment" ? EventsBlock(message.bytes).id : nil
    }

    package static func subscribes(_ message: Message) -> Bool { false }
    package static var hasSubscriptions: Bool { false }
    package static var preamble: [(direction: Direction, opcode: Opcode, payload: [UInt8])] { [] }
    package static func hasHandshake(on transport: Transport) -> Bool { false }

    // MARK: Writing

    package static func framed(_ json: [UInt8]) -> [UInt8] { json.last == 0x0a ? json : json + [0x0a] }

    package func write(
        _ message: Message, ids: IDMap, on transport: Transport, into out: inout [UInt8]
    ) -> Opcode {
        out.append(copying: message.bytes.span)
        return message.opcode
    }

    package static func frame(_ payload: Span<UInt8>, on transport: Transport, into out: inout [UInt8]) {
        var bytes: [UInt8] = []
        bytes.append(copying: payload)
        out += transport == .sse ? EventsBlock.framed(bytes) : bytes
    }

    package static func content(of payload: [UInt8], on transport: Transport) -> Range<Int> {
        transport == .sse ? EventsBlock.dataRange(payload) : EventsBody.trimmed(payload)
    }

    package static var encodesTexts: Bool { true }

    package static func encode(_ content: JSONValue, like message: Message) -> [UInt8]? {
        guard message.direction == .toClient else { return nil }
        let block = message.type == "event" ? EventsBlock(message.bytes) : nil
        let plain = EventsBody.plain(content, like: block?.event?.data ?? message.bytes)
        let text = Array((plain ?? content.string ?? content.text).utf8)
        if let block { return block.replacingData(with: text) }
        // Its text is all of it.
        if plain != nil, message.type == "piece" { return text }
        let isText = isValidUTF8(message.bytes.span)
        let range = isText ? EventsBody.trimmed(message.bytes) : message.bytes.indices
        return Array(message.bytes[..<range.lowerBound]) + text + message.bytes[range.upperBound...]
    }

    package static func vary(_ id: String, _ n: Int) -> String { id }

    // MARK: Replay

    package var transports: [Transport] {
        switch form {
        case .events: [.sse]
        case .lines, .pieces, nil: [.stream]
        }
    }
    package var obstacle: String? { nil }

    package static func carriers(
        of operation: Message, for request: RequestHead, recorded: Transport
    ) -> [Transport] { [recorded] }

    package static func answer(_ what: CarrierAnswer, to request: RequestHead) -> HTTPAnswer {
        switch what {
        case .operation(let transport, let recorded):
            guard let recorded else {
                let usual = transport == .sse ? "text/event-stream" : "application/x-ndjson"
                return HTTPAnswer(status: 200, headers: [HeaderField("Content-Type", usual)])
            }
            let type = recorded.headers.first("Content-Type").map { HeaderField("Content-Type", $0) }
            return HTTPAnswer(status: recorded.status, reason: recorded.reason, headers: type.map { [$0] } ?? [])
        case .pollOpened, .pollBegun, .poll, .pollEmpty, .pollEnd, .pollSuperseded, .stream, .sent, .ended,
            .missingID, .unknownID, .wrongTransport, .conflict, .notOffered, .notAllowed:
            return HTTPAnswer(status: 404)
        }
    }

    package static func negotiate(
        _ request: RequestHead, recorded: StreamOpening?, ids: ServerIDs, transports: [Transport]
    ) -> HTTPAnswer? { nil }
    package static func refuseNegotiate(_ request: RequestHead, reason: String) -> HTTPAnswer? { nil }
    package var keepalive: (payload: [UInt8], opcode: Opcode, every: UInt64)? { nil }
    package func refusal(of message: Message, reason: String) -> (payload: [UInt8], opcode: Opcode)? { nil }
}
