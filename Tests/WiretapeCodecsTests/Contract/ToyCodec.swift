import WiretapeBytes
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// A fifth protocol, to show what one takes: this file and its line in ``ContractSamples/all``. Lines over a WebSocket
/// whose frames mean nothing: `ASK id question` and `TELL text` from the client, `ANSWER id text` and `NEWS text` to it.
struct ToyCodec: FrameCodec {
    static let id = "toy"
    static let volatileQuery: Set<String> = []
    private static let longest = 1 << 16

    /// Of each direction, what has no line end yet.
    private var begun: [Direction: [UInt8]] = [:]

    init(_ opening: StreamOpening) {}

    static func claim(_ opening: StreamOpening) -> Confidence {
        kind(opening.request) == .upgrade && opening.request.path == "/toy" ? .certain : .no
    }

    static func sessionKey(_ opening: StreamOpening) -> String? { nil }
    static func serverIDs(_ opening: StreamOpening) -> ServerIDs? { nil }
    static func kind(_ request: RequestHead) -> ExchangeKind {
        request.headers.hasToken("websocket", in: "Upgrade") ? .upgrade : .other
    }
    static func route(_ request: RequestHead) -> String { request.path }

    mutating func decode(
        _ payload: Span<UInt8>, _ opcode: Opcode, _ direction: Direction, into out: inout [Message]
    ) {
        var line = begun[direction] ?? []
        for i in payload.indices {
            line.append(payload[i])
            guard payload[i] == UInt8(ascii: "\n") || line.count >= ToyCodec.longest else { continue }
            out.append(message(line, opcode, direction))
            line = []
        }
        begun[direction] = line
    }

    private func message(_ line: [UInt8], _ opcode: Opcode, _ direction: Direction) -> Message {
        let words = String(decoding: line.dropLast(), as: UTF8.self).split(separator: " ", maxSplits: 1).map(
            String.init)
        let rest = words.count > 1 ? words[1] : ""
        let (id, text) = ToyCodec.parts(rest)
        func made(_ role: Role, _ text: String, chain: Chain? = nil) -> Message {
            Message(
                direction: direction, role: role, type: words[0], chain: chain, meaning: .string(text),
                content: .object([.init("text", .string(text))]), summary: Summary.line(text), bytes: line,
                opcode: opcode)
        }
        switch (words.first, direction) {
        case ("ASK", .toServer): return made(.request, text, chain: Chain(id, origin: .toServer))
        case ("ANSWER", .toClient): return made(.reply, text, chain: Chain(id, origin: .toServer))
        case ("TELL", .toServer): return made(.send, rest)
        case ("NEWS", .toClient): return made(.push, rest)
        default: return .opaque(line, direction, opcode: opcode, reason: "no line of the toy protocol")
        }
    }

    private static func parts(_ rest: String) -> (id: String, text: String) {
        let parts = rest.split(separator: " ", maxSplits: 1).map(String.init)
        return (parts.first ?? "", parts.count > 1 ? parts[1] : "")
    }

    func write(_ message: Message, ids: IDMap, on transport: Transport, into out: inout [UInt8]) -> Opcode {
        if let chain = message.chain {
            out += Array("\(message.type) \(ids.live(chain)) \(message.meaning.string ?? "")\n".utf8)
        } else {
            out += message.bytes
        }
        return message.opcode
    }

    static func framed(_ json: [UInt8]) -> [UInt8] { json + [UInt8(ascii: "\n")] }
    static var example: [String] { [] }
    static var preamble: [(direction: Direction, opcode: Opcode, payload: [UInt8])] { [] }
    static func vary(_ id: String, _ n: Int) -> String { id }
    var transports: [Transport] { [.ws] }
    var obstacle: String? { nil }
    static func negotiate(
        _ request: RequestHead, recorded: StreamOpening?, ids: ServerIDs, transports: [Transport]
    ) -> HTTPAnswer? { nil }
    static func refuseNegotiate(_ request: RequestHead, reason: String) -> HTTPAnswer? { nil }
    var keepalive: (payload: [UInt8], opcode: Opcode, every: UInt64)? { nil }
    func refusal(of message: Message, reason: String) -> (payload: [UInt8], opcode: Opcode)? {
        message.chain.map { (Array("ANSWER \($0.id) \(reason)\n".utf8), .text) }
    }
}

extension ContractSamples {
    static let toy = ContractSamples(
        codec: CodecEntry(ToyCodec.self), framing: .stream, tapes: ["toy/sideRequests"], opening: upgrade("/toy"),
        equal: [Pair("ASK 1 time\n", "ASK 2 time\n")],
        different: [Pair("ASK 1 time\n", "ASK 1 place\n"), Pair("TELL a\n", "ASK 1 a\n")])
}
