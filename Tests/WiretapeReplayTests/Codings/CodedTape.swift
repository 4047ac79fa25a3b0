import WiretapeBytes
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeTape
import WiretapeTapeTools
import WiretapeWire

/// A content coding that a server might apply, piece by piece. What Brotli and Zstandard have are blocks that hold the bytes
/// as they are: their decoders must find them all the same.
struct BodyCoder {
    private let name: String
    private var hasBegun = false

    init(_ name: String) { self.name = name }

    mutating func piece(_ bytes: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        switch name {
        case "gzip":
            var compressor = MemberCompressor()
            let info = MemberInfo(events: 0, firstTime: 0, firstEvent: 0, opens: 0, firstConnection: 0)
            compressor.append(bytes.span, info: info, level: 6, into: &out)
        case "deflate":
            var deflater = Deflater()
            _ = deflater.append(bytes.span, flush: .sync, into: &out)
        case "br":
            for part in stride(from: 0, to: bytes.count, by: 65536).map({ bytes[$0..<min($0 + 65536, bytes.count)] }) {
                // No last block, 4 nibbles of length, uncompressed; the first block tells the window before it.
                var head = UInt32(part.count - 1) << 3 | 1 << 19
                if !hasBegun { head <<= 1 }
                hasBegun = true
                out +=
                    [UInt8(truncatingIfNeeded: head), UInt8(truncatingIfNeeded: head >> 8), UInt8(head >> 16)] + part
            }
        case "zstd":
            if !hasBegun { out += [0x28, 0xb5, 0x2f, 0xfd, 0, 0x50] }
            hasBegun = true
            for part in stride(from: 0, to: bytes.count, by: 65536).map({ bytes[$0..<min($0 + 65536, bytes.count)] }) {
                out += [UInt8(truncatingIfNeeded: part.count << 3), UInt8(truncatingIfNeeded: part.count >> 5)]
                out += [UInt8(part.count >> 13)] + part
            }
        default: out = bytes
        }
        return out
    }

    /// The end of the body.
    mutating func end() -> [UInt8] {
        switch name {
        case "deflate": [3, 0]
        case "br": hasBegun ? [3] : [6]
        case "zstd": (hasBegun ? [] : [0x28, 0xb5, 0x2f, 0xfd, 0, 0x50]) + [1, 0, 0]
        default: []
        }
    }
}

/// Tapes whose bodies have content codings.
enum CodedTape {
    static func whole(_ body: [UInt8], _ codings: String) -> [UInt8] {
        codings.split(separator: ", ").reduce(body) { body, name in
            var coder = BodyCoder(String(name))
            return coder.piece(body) + coder.end()
        }
    }

    /// The same tape of a server, and a client, that encode all bodies. Streamed answers are encoded piece by piece.
    static func encoded(_ events: [TapeEvent], _ codings: String, requests: Bool = true) -> [TapeEvent] {
        let field = HeaderField("Content-Encoding", codings)
        var coders: [UInt64: [BodyCoder]] = [:]
        func key(_ event: TapeEvent, _ x: UInt32) -> UInt64 { UInt64(event.connection) << 32 | UInt64(x) }
        return events.flatMap { event -> [TapeEvent] in
            var event = event
            switch event.kind {
            case .request(let x, var head, .whole(let body)) where requests:
                head.headers.append(field)
                event.kind = .request(x: x, head, .whole(whole(body, codings)))
            case .response(let x, var head, .whole(let body), false, nil, false):
                head.headers.append(field)
                event.kind = .response(
                    x: x, head, .whole(whole(body, codings)), interim: false, coding: nil, proxy: false)
            case .response(let x, var head, .streamed, false, nil, false):
                head.headers.append(field)
                event.kind = .response(x: x, head, .streamed, interim: false, coding: nil, proxy: false)
                coders[key(event, x)] = codings.split(separator: ", ").map { BodyCoder(String($0)) }
            case .chunk(let x, .toClient, let bytes):
                guard var chain = coders.removeValue(forKey: key(event, x)) else { break }
                var piece = bytes
                for i in chain.indices { piece = chain[i].piece(piece) }
                coders[key(event, x)] = chain
                event.kind = .chunk(x: x, .toClient, piece)
            case .end(let x, .toClient, _):
                guard var chain = coders.removeValue(forKey: key(event, x)) else { break }
                var rest: [UInt8] = []
                for i in chain.indices { rest = (rest.isEmpty ? [] : chain[i].piece(rest)) + chain[i].end() }
                let last = TapeEvent(
                    time: event.time, connection: event.connection, .chunk(x: x, .toClient, rest))
                return rest.isEmpty ? [event] : [last, event]
            default: break
            }
            return [event]
        }
    }

    static func lines(_ events: [TapeEvent]) -> [UInt8] {
        var bytes = Array(#"{"tape":1,"started":"2026-01-01T00:00:00.000000Z"}"#.utf8) + [0x0a]
        for event in events { TapeLines.append(event, into: &bytes) }
        return bytes
    }

    struct Reading {
        var sessions: [RecordedSession] = []
        var exchanges: [RecordedExchange] = []
        var undecoded: [UndecodedBody] = []
        var events: [TapeEvent] = []
    }

    static func read(_ bytes: [UInt8]) throws -> Reading {
        var tape = try TapeReader(bytes: bytes, name: "t.tape")
        var reader = SessionReader(codecs: Codecs.all, header: tape.header)
        var messages: [DecodedMessage] = []
        var reading = Reading()
        while let next = try tape.next() {
            reader.read(next.event, number: next.number, line: next.line, isUnframed: next.isUnframed, into: &messages)
            reading.undecoded += reader.undecoded
            reading.events.append(next.event)
        }
        reading.sessions = reader.finish()
        reading.exchanges = reader.exchanges
        return reading
    }

    static func canonical(_ bytes: [UInt8]) throws -> [UInt8] {
        var reader = try TapeLineReader(bytes: bytes, name: "t.tape")
        var canon = TapeCanon(codecs: Codecs.all)
        var lines: [TapeNewLine] = []
        while let line = try reader.next() { canon.add(line, into: &lines) }
        canon.finish(into: &lines)
        return lines.flatMap { $0.bytes + [0x0a] }
    }

    static func findings(_ bytes: [UInt8]) throws -> [String] {
        var reader = try TapeLineReader(bytes: bytes, name: "t.tape")
        var validator = TapeValidator(codecs: Codecs.all)
        var findings: [TapeFinding] = []
        while let line = try reader.next() { validator.check(line, into: &findings) }
        _ = validator.finish(isTruncated: false, into: &findings)
        return findings.map { "\($0.line): \($0.message)" }
    }
}

extension RecordedSession {
    /// What was said, by whom, and how it ended.
    var said: [String] {
        entries.map { entry in
            switch entry.what {
            case .message(let message): "\(message.direction.mark) \(message.matchKey)"
            case .ending(let ending): "\(ending)"
            }
        }
    }
}
