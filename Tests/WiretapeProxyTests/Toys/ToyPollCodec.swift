import WiretapeBytes
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// A toy protocol over long polls: `POST /box/open` answers with a key, `POST /box?key=…` says a line, and `GET /box?key=…`
/// waits for lines.
struct ToyPollCodec: FrameCodec {
    static let id = "toy-poll"
    static let example = [#"{"d":">","text":"ask 1 apples"}"#, #"{"d":"<","text":"reply 1 fine"}"#]
    static let volatileQuery: Set<String> = ["key"]

    static func claim(_ opening: StreamOpening) -> Confidence { kind(opening.request) == .other ? .no : .certain }

    static func kind(_ request: RequestHead) -> ExchangeKind {
        switch (request.method, request.path, key(request) != nil) {
        case ("POST", "/box/open", _): .negotiate
        case ("POST", "/box", true): .send
        case ("GET", "/box", true): .poll
        case ("DELETE", "/box", true): .end
        default: .other
        }
    }

    static func route(_ request: RequestHead) -> String { "/box" }

    // MARK: Whose request it is

    private static func key(_ request: RequestHead) -> String? { request.query.first { $0.name == "key" }?.value }

    static func sessionKey(_ opening: StreamOpening) -> String? {
        guard kind(opening.request) == .negotiate else { return key(opening.request) }
        return opening.responseBody.isEmpty ? nil : String(decoding: opening.responseBody, as: UTF8.self)
    }

    static func serverIDs(_ opening: StreamOpening) -> ServerIDs? {
        sessionKey(opening).map { ServerIDs(connectionID: $0, token: $0) }
    }

    static func negotiate(
        _ request: RequestHead, recorded: StreamOpening?, ids: ServerIDs, transports: [Transport]
    ) -> HTTPAnswer? { HTTPAnswer(status: 200, body: Array(ids.token.utf8)) }

    static func vary(_ id: String, _ n: Int) -> String { n == 0 ? id : "\(id)-\(n)" }

    // MARK: What requests carry

    static let polling: Polling? = Polling(opensAtOnce: false, timeout: .max, hasKeepalives: false)

    static func answer(_ what: CarrierAnswer, to request: RequestHead) -> HTTPAnswer {
        switch what {
        case .poll(let lines, _): HTTPAnswer(status: 200, body: lines)
        case .sent, .ended, .pollEmpty, .pollEnd, .pollSuperseded, .pollOpened, .pollBegun, .stream, .operation:
            HTTPAnswer(status: 204)
        case .missingID, .unknownID, .wrongTransport, .conflict, .notOffered, .notAllowed: HTTPAnswer(status: 404)
        }
    }

    init(_ opening: StreamOpening) {}

    var transports: [Transport] { [.lp] }

    /// A body may carry several lines.
    mutating func decode(
        _ payload: Span<UInt8>, _ opcode: Opcode, _ direction: Direction, into out: inout [Message]
    ) {
        var bytes: [UInt8] = []
        bytes.append(copying: payload)
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            out.append(ToyWords.message(Array(line).span, opcode, direction))
        }
    }

    func write(_ message: Message, ids: IDMap, on transport: Transport, into out: inout [UInt8]) -> Opcode {
        out += ToyWords.bytes(of: message, ids: ids) + [UInt8(ascii: "\n")]
        return message.opcode
    }
}
