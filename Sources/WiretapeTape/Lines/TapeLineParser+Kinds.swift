internal import WiretapeProtocol
internal import WiretapeWire

extension TapeLineParser {
    static func kind(_ name: String, _ f: TapeFields, isSparse: Bool) throws(TapeLineFault) -> TapeEvent.Kind {
        /// The value, or a fault that names what is missing.
        func need<T>(_ value: T?, _ key: TapeKey) throws(TapeLineFault) -> T {
            guard let value else { throw TapeLineFault("\"\(name)\" without \"\(key)\"", at: 0) }
            return value
        }
        func payload() throws(TapeLineFault) -> [UInt8] {
            guard let payload = f.payload else {
                throw TapeLineFault("\"\(name)\" without \"text\", \"b64\" or \"json\"", at: 0)
            }
            return payload
        }
        func x() throws(TapeLineFault) -> UInt32 { UInt32(truncatingIfNeeded: try need(f.x, .x)) }
        func opcode() throws(TapeLineFault) -> Opcode {
            if isSparse, f.opcode == nil { return f.encoding == .base64 ? .binary : .text }
            return try need(f.opcode, .op)
        }

        switch name {
        case "message":
            return .message(
                try need(f.direction, .d), try opcode(), try payload(), deflated: f.isDeflated, fragments: f.frames)
        case "part":
            let n = Int(clamping: try need(f.n, .n))
            return .part(try need(f.direction, .d), try opcode(), n: n, try payload(), last: f.isLast)
        case "chunk": return .chunk(x: try x(), try need(f.direction, .d), try payload())
        case "end": return .end(x: try x(), try need(f.direction, .d), trailers: f.trailers)
        case "ping": return .ping(try need(f.direction, .d), f.payload ?? [])
        case "pong": return .pong(try need(f.direction, .d), f.payload ?? [])
        case "close": return try close(try need(f.direction, .d), f)
        case "open":
            return .open(
                .init(
                    from: f.string(.from), to: f.string(.to), upstream: f.string(.upstream), tls: f.tls,
                    session: f.string(.session)))
        case "request":
            let head = RequestHead(
                method: try need(f.string(.method), .method), target: try need(f.string(.target), .target),
                version: f.string(.version) ?? "1.1", headers: try need(f.headers, .headers))
            return .request(x: try x(), head, body(f))
        case "response":
            let head = ResponseHead(
                status: Int(clamping: try need(f.number(.status), .status)), reason: f.string(.reason) ?? "",
                version: f.string(.version) ?? "1.1", headers: try need(f.headers, .headers))
            return .response(
                x: try x(), head, body(f), interim: f.isInterim, coding: f.string(.coding),
                proxy: f.string(.by) == TapeEvent.Party.proxy.rawValue)
        case "gone": return try gone(try need(f.string(.by), .by), try need(f.string(.how), .how), f)
        case "fault":
            return .fault(
                rule: try need(f.string(.rule), .rule), action: try need(f.string(.action), .action),
                reference: f.number(.ref), delivered: f.number(.delivered), line: f.number(.line))
        case "mark": return .mark(String(decoding: try need(f.payload, .text), as: UTF8.self))
        case "take": return .take(started: try need(f.string(.started), .started))
        case "gap":
            if let direction = f.direction { return .missing(direction, bytes: f.number(.bytes)) }
            return .gap(lost: try need(f.number(.lost), .lost))
        case "stop":
            return .stop(
                events: try need(f.number(.events), .events),
                connections: try need(f.number(.connections), .connections),
                level: f.number(.level).map { Int(clamping: $0) })
        case "frame": return f.direction.map(TapeEvent.Kind.frame) ?? .unknown(name)
        default: return .unknown(name)
        }
    }

    private static func body(_ f: TapeFields) -> TapeEvent.Body {
        if f.isStreamed { return .streamed }
        return f.payload.map { .whole($0) } ?? .none
    }

    private static func close(_ direction: Direction, _ f: TapeFields) throws(TapeLineFault) -> TapeEvent.Kind {
        guard let code = f.number(.code) else { return .close(direction, code: nil, reason: f.string(.reason)) }
        guard let code = UInt16(exactly: code) else { throw TapeLineFault("\"code\" is too large", at: 0) }
        return .close(direction, code: code, reason: f.string(.reason))
    }

    private static func gone(_ by: String, _ how: String, _ f: TapeFields) throws(TapeLineFault) -> TapeEvent.Kind {
        guard let party = TapeEvent.Party(rawValue: by) else {
            throw TapeLineFault("\"by\" is none of client, server, proxy", at: 0)
        }
        guard let way = TapeEvent.How(rawValue: how) else {
            throw TapeLineFault("\"how\" is none of fin, rst, timeout, error", at: 0)
        }
        return .gone(by: party, how: way, why: f.string(.why))
    }
}
