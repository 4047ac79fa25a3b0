import WiretapeBytes
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// A toy protocol over WebSockets: all that a codec has to say for one.
struct ToySocketCodec: FrameCodec {
    static let id = "toy-socket"
    static let example = [#"{"d":">","text":"ask 1 apples"}"#, #"{"d":"<","text":"reply 1 fine"}"#]

    static func claim(_ opening: StreamOpening) -> Confidence {
        opening.request.path == "/toy" && kind(opening.request) == .upgrade ? .certain : .no
    }

    static func kind(_ request: RequestHead) -> ExchangeKind {
        request.headers.hasToken("websocket", in: "Upgrade") ? .upgrade : .other
    }

    init(_ opening: StreamOpening) {}

    var transports: [Transport] { [.ws] }

    mutating func decode(
        _ payload: Span<UInt8>, _ opcode: Opcode, _ direction: Direction, into out: inout [Message]
    ) {
        out.append(ToyWords.message(payload, opcode, direction))
    }

    func write(_ message: Message, ids: IDMap, on transport: Transport, into out: inout [UInt8]) -> Opcode {
        out += ToyWords.bytes(of: message, ids: ids)
        return message.opcode
    }
}
