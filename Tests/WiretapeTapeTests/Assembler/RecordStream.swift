import WiretapeBytes
import WiretapeProtocol
import WiretapeRecorder
import WiretapeWire

/// Writes the records that a loop would hand over.
struct RecordStream {
    private(set) var batch: [UInt8] = []

    mutating func add(
        _ kind: RecordKind, flags: UInt8 = 0, x: UInt32 = 0, at time: UInt64 = 0, connection: UInt32 = 1,
        _ payload: [UInt8] = []
    ) {
        batch += [kind.rawValue, flags, 0, 0]
        batch.append(littleEndian: connection)
        batch.append(littleEndian: time)
        batch.append(littleEndian: x)
        batch.append(littleEndian: UInt32(payload.count))
        batch += payload
    }

    mutating func open() { add(.open, OpenRecord.encode(.init(upstream: "main"))) }

    /// An upgrade to a WebSocket, granted.
    mutating func upgrade(extensions: String? = nil) {
        let ask = "GET /ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        let field = extensions.map { "Sec-WebSocket-Extensions: \($0)\r\n" } ?? ""
        let grant = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\(field)\r\n"
        add(.request, x: 1, Array(ask.utf8))
        add(.bodyEnd, x: 1)
        add(.response, flags: RecordFlags.toClient, x: 1, Array(grant.utf8))
    }

    /// `bytes` in pieces that end at `cuts`.
    mutating func bytes(_ bytes: [UInt8], _ direction: Direction, cuts: [Int] = []) {
        var from = 0
        for cut in cuts.sorted() + [bytes.count] where cut > from {
            add(.bytes, flags: RecordFlags.direction(direction), Array(bytes[from..<cut]))
            from = cut
        }
    }

    /// The tape's lines without header, times and the `stop`.
    func lines(inflateLimit: Int = 256 << 20) -> [String] {
        let tape = InlineTape(header: TapeHeader(), origin: .zero, inflateLimit: inflateLimit)
        _ = tape.offer(batch, loop: 0, oldest: 0)
        let text = String(decoding: tape.finish(), as: UTF8.self)
        return text.split(separator: "\n").dropFirst().dropLast().map { line in
            "{" + line[line.index(after: line.firstIndex(of: ",")!)...]
        }
    }
}
