internal import WiretapeBytes
internal import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

/// The HTTP fallbacks of the JavaScript clients: SockJS frames, a line each. To the client `o` (open), `a["…","…"]` and
/// `m"…"` (messages), `h` (heartbeat), `c[4200,"bye"]` (close); to the server an array of messages.
extension EventflitCodec {
    /// Bytes without a line end that are kept.
    private static let longestLine = 1 << 20

    mutating func decodeFrames(
        _ payload: [UInt8], _ opcode: Opcode, _ direction: Direction, into out: inout [Message]
    ) {
        // A message that a tape gives as JSON has no frame.
        if begun.isEmpty, payload.first == UInt8(ascii: "{") { return out.append(message(payload, opcode, direction)) }
        guard direction == .toClient else { return decodeSent(payload, opcode, into: &out) }
        var line = begun
        begun = []
        for byte in payload {
            line.append(byte)
            if byte == UInt8(ascii: "\n") || line.count >= EventflitCodec.longestLine {
                decodeLine(line, opcode, into: &out)
                line = []
            }
        }
        // The body of a poll is whole.
        if carrier.call == .poll, !line.isEmpty { decodeLine(line, opcode, into: &out) } else { begun = line }
    }

    private mutating func decodeLine(_ line: [UInt8], _ opcode: Opcode, into out: inout [Message]) {
        func made(_ role: Role, _ type: String, _ content: JSONValue, _ summary: String) -> Message {
            Message(
                direction: .toClient, role: role, type: type, meaning: content, content: content,
                summary: Summary.line(summary), bytes: line, opcode: opcode)
        }
        let rest = try? JSONValue(parsing: Array(line.dropFirst()))
        switch (line.first, rest) {
        case (UInt8(ascii: "o"), _): out.append(made(.ack, "open", rest ?? .null, "open"))
        case (UInt8(ascii: "h"), _): out.append(made(.keepalive, "heartbeat", .null, "heartbeat"))
        case (UInt8(ascii: "c"), let rest?) where rest.array != nil:
            let words = rest.array?.map { $0.string ?? $0.text } ?? []
            hasCloseFrame = true
            out.append(made(.close, "close", rest, "close \(words.joined(separator: " "))"))
        case (UInt8(ascii: "m"), .string(let text)?): out.append(message(Array(text.utf8), opcode, .toClient))
        case (UInt8(ascii: "a"), .array(let items)?) where items.allSatisfy { $0.string != nil }:
            for text in items.compactMap(\.string) { out.append(message(Array(text.utf8), opcode, .toClient)) }
        default: out.append(.opaque(line, .toClient, opcode: opcode, reason: "not a frame of SockJS"))
        }
    }

    private mutating func decodeSent(_ payload: [UInt8], _ opcode: Opcode, into out: inout [Message]) {
        guard let items = (try? JSONValue(parsing: payload))?.array, items.allSatisfy({ $0.string != nil }) else {
            return out.append(.opaque(payload, .toServer, opcode: opcode, reason: "not an array of messages"))
        }
        for text in items.compactMap(\.string) { out.append(message(Array(text.utf8), opcode, .toServer)) }
        guard items.isEmpty else { return }
        out.append(
            Message(
                direction: .toServer, role: .keepalive, type: "heartbeat", summary: "heartbeat", bytes: payload,
                opcode: opcode))
    }

    /// A frame of SockJS around one message.
    static func wrapped(_ message: [UInt8], _ direction: Direction) -> [UInt8] {
        var out: [UInt8] = direction == .toClient ? [UInt8(ascii: "a"), UInt8(ascii: "[")] : [UInt8(ascii: "[")]
        JSONValue.writeString(String(decoding: message, as: UTF8.self), into: &out)
        out.append(UInt8(ascii: "]"))
        if direction == .toClient { out.append(UInt8(ascii: "\n")) }
        return out
    }

    // MARK: Replay

    package var transports: [Transport] { hasCloseFrame ? [.stream, .lp] : [.ws, .stream, .lp] }

    package static func transport(_ request: RequestHead) -> Transport {
        switch kind(request) {
        case .upgrade: .ws
        case .stream: .stream
        case .negotiate, .poll, .send, .operation, .end, .refresh, .preflight, .other: .lp
        }
    }

    package static func framing(_ opening: StreamOpening) -> BodyFraming? { .bytes }

    /// What the replay says by itself comes without a frame.
    package static func frame(_ payload: Span<UInt8>, on transport: Transport, into out: inout [UInt8]) {
        var bytes: [UInt8] = []
        bytes.append(copying: payload)
        out += bytes.first == UInt8(ascii: "{") ? wrapped(bytes, .toClient) : bytes
    }

    package static var polling: Polling? {
        Polling(opensAtOnce: true, timeout: 25_000_000_000, hasKeepalives: true)
    }

    package static func answer(_ what: CarrierAnswer, to request: RequestHead) -> HTTPAnswer {
        let script = [
            HeaderField("Content-Type", "application/javascript; charset=UTF-8"),
            HeaderField("Cache-Control", "no-store, no-cache, must-revalidate, max-age=0"),
        ]
        func frames(_ text: String) -> HTTPAnswer {
            HTTPAnswer(status: 200, headers: script, body: Array(text.utf8))
        }
        switch what {
        case .pollOpened, .pollBegun, .stream: return frames("o\n")
        case .poll(let body, _): return HTTPAnswer(status: 200, headers: script, body: allFramed(body))
        case .pollEmpty: return frames("h\n")
        case .pollEnd: return frames("c[4200,\"closed\"]\n")
        case .pollSuperseded: return frames("c[2010,\"Another connection still open\"]\n")
        case .sent, .ended: return HTTPAnswer(status: 204, headers: [HeaderField("Content-Type", "text/plain")])
        case .conflict: return frames("c[2010,\"Another connection still open\"]\n")
        case .missingID, .unknownID, .wrongTransport, .notOffered, .operation: return HTTPAnswer(status: 404)
        case .notAllowed: return HTTPAnswer(status: 405)
        }
    }

    /// Frames, each with its line end, and messages without one, in their order.
    private static func allFramed(_ body: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        var at = 0
        while at < body.count {
            let isObject = body[at] == UInt8(ascii: "{")
            let end =
                isObject ? objectEnd(body, at) : (body[at...].firstIndex(of: UInt8(ascii: "\n")) ?? body.count - 1) + 1
            let piece = Array(body[at..<end])
            out += isObject ? wrapped(piece, .toClient) : piece
            at = end
        }
        return out
    }

    /// Behind the object that begins at `from`.
    private static func objectEnd(_ bytes: [UInt8], _ from: Int) -> Int {
        var depth = 0
        var isText = false
        var at = from
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "\\") where isText: at += 1
            case UInt8(ascii: "\""): isText.toggle()
            case UInt8(ascii: "{") where !isText: depth += 1
            case UInt8(ascii: "}") where !isText:
                depth -= 1
                if depth == 0 { return at + 1 }
            default: break
            }
            at += 1
        }
        return bytes.count
    }
}
