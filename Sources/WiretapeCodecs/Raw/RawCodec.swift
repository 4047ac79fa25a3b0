internal import WiretapeBytes
package import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

/// Any WebSocket whose protocol is not known: one message a frame, without chains.
///
/// Text that is a JSON object or array is compared as JSON and can be named by pointers; anything else is compared byte
/// for byte.
package struct RawCodec: FrameCodec {
    package static let id = "raw"
    private static let types = MessageTypes([Opcode.text, .binary].map(\.rawValue))
    package static func mayBeCalled(_ name: String) -> Bool { types.contains(name) }

    package static func claim(_ opening: StreamOpening) -> Confidence {
        kind(opening.request) == .upgrade ? .possible : .no
    }

    package static func kind(_ request: RequestHead) -> ExchangeKind {
        if request.method == "OPTIONS" { return .preflight }
        return request.headers.hasToken("websocket", in: "Upgrade") ? .upgrade : .other
    }

    package init(_ opening: StreamOpening) {}

    package mutating func decode(
        _ payload: Span<UInt8>, _ opcode: Opcode, _ direction: Direction, into out: inout [Message]
    ) {
        var bytes: [UInt8] = []
        bytes.append(copying: payload)
        let value: JSONValue
        let shown: Message.Shown
        if opcode == .text, let json = RawCodec.tree(payload) {
            value = json
            shown = .value(json)
        } else if let text = String(validUTF8: bytes) {
            value = JSONValue(plain: text)
            shown = .text(text)
        } else {
            value = JSONValue(plain: bytes)
            shown = .line(Summary.bytes(bytes))
        }
        out.append(
            Message(
                direction: direction, role: direction == .toServer ? .send : .push, type: opcode.rawValue,
                meaning: value, content: value, shown: shown, bytes: bytes, opcode: opcode))
    }

    /// An object or array. Other text is most of what such connections carry, and is not parsed for nothing.
    private static func tree(_ payload: Span<UInt8>) -> JSONValue? {
        for i in payload.indices {
            switch payload[i] {
            case 0x20, 0x09, 0x0a, 0x0d: continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): return try? JSONValue(parsing: payload)
            default: return nil
            }
        }
        return nil
    }

    package static var example: [String] {
        [
            "# A tape is what passed between a client and its server, a message a line, in order. Lines like this one, which",
            "# begin with a hash sign, are comments and survive every tool. The WebSocket's opening is supplied at replay.",
            "#",
            #"# ">" went to the server. A payload is json, or text, or b64 for binary messages."#,
            #"{"d":">","json":{"subscribe":"news"}}"#,
            #"# "<" went to the client; "after" is the time since the line before: 250ms, 1.5s, 2m."#,
            #"{"d":"<","after":"50ms","json":{"subscribed":"news"}}"#,
            "# Replay sends this one when all that stands before it has happened.",
            #"{"d":"<","after":"1s","text":"hello"}"#,
        ]
    }
    package static func subscribes(_ message: Message) -> Bool { false }
    package static var hasSubscriptions: Bool { false }
    package static var hasAnswers: Bool { false }

    package func write(
        _ message: Message, ids: IDMap, on transport: Transport, into out: inout [UInt8]
    ) -> Opcode {
        out.append(copying: message.bytes.span)
        return message.opcode
    }

    package var transports: [Transport] { [.ws] }
}
