import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// A codec of a session that is fed texts: `\u{1e}` is added to each record.
struct SignalRTalk {
    var codec = SignalRCodec(StreamOpening(request: RequestHead(method: "GET", target: "/chat?id=x")))

    mutating func toServer(_ records: String...) -> [Message] { say(records, .toServer) }
    mutating func toClient(_ records: String...) -> [Message] { say(records, .toClient) }

    mutating func say(_ records: [String], _ direction: Direction) -> [Message] {
        payload(Array(records.map { $0 + "\u{1e}" }.joined().utf8), direction)
    }

    mutating func payload(_ bytes: [UInt8], _ direction: Direction, _ opcode: Opcode = .text) -> [Message] {
        var out: [Message] = []
        codec.decode(bytes.span, opcode, direction, into: &out)
        return out
    }
}

/// What the tests look at most.
struct Look: Equatable {
    var role: Role
    var type: String
    var label: String?
    var chain: Chain?
    var summary: String

    init(_ role: Role, _ type: String, _ label: String? = nil, _ chain: Chain? = nil, _ summary: String) {
        self.role = role
        self.type = type
        self.label = label
        self.chain = chain
        self.summary = summary
    }

    init(_ role: Role, _ type: String, summary: String) { self.init(role, type, nil, nil, summary) }

    init(_ message: Message) { self.init(message.role, message.type, message.label, message.chain, message.summary) }
}

extension Chain {
    static func client(_ id: String) -> Chain { Chain(id, origin: .toServer) }
    static func server(_ id: String) -> Chain { Chain(id, origin: .toClient) }
}
