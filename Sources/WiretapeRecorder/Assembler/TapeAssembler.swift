internal import WiretapeBytes
internal import WiretapeProtocol
package import WiretapeTape
internal import WiretapeWire

/// Makes a tape's events from the records of the loops: parses heads, decides whether bodies stand inline, cuts WebSocket
/// frames, joins and inflates messages. It runs off the loops, and is the only place that knows how traffic becomes
/// events.
///
/// Memory: a connection holds at most 64 KiB of a body, and 1 MiB of a message as long as all of them together hold no more than
/// they may; an idle WebSocket holds no buffer.
package struct TapeAssembler: RecordConsumer {
    /// A body stands inline when it is complete within this many nanoseconds of its head …
    static let inlineAge: UInt64 = 5_000_000
    /// … and is no longer than this.
    static let inlineSize = 65536

    private let origin: UInt64
    private var connections: [UInt32: AssembledConnection] = [:]
    /// Connections with a body that may yet stand inline, in the order in which it began.
    private var waiting: [UInt32] = []

    /// Events that rules are about to do something to.
    private var marks: [FaultMark: UInt64] = [:]

    /// A connection's ``RecordKind/faultMark`` by its number.
    private struct FaultMark: Hashable {
        var connection: UInt32
        var number: UInt32
    }

    private let scratch = AssembledFrames.Scratch()
    private let held: InterceptedPieces

    /// What may come out of one deflated message or encoded body, however small it is.
    package static let defaultInflateLimit = 16 << 20
    /// More may come out, but not more than so many times what went in: a bomb ends here.
    static let bombRatio = 100
    private let inflateLimit: Int
    private let redaction: TapeRedaction?

    /// - Parameters:
    ///   - origin: monotonic time of the tape's `started`.
    ///   - inflateLimit: bytes that may come out of one deflated message whatever its size, whole MiB.
    ///   - memory: bytes of unfinished messages above which they go to the tape in small parts.
    ///   - redaction: takes the secrets out of the events; nil: they are written as they came.
    package init(
        origin: UInt64, inflateLimit: Int = TapeAssembler.defaultInflateLimit, memory: Int = .max,
        redaction: TapeRedaction? = nil
    ) {
        held = InterceptedPieces(limit: memory)
        self.origin = origin
        self.redaction = redaction
        self.inflateLimit = inflateLimit
    }

    /// Bytes of unfinished messages.
    package var heldCount: Int { held.count }

    package mutating func consume(_ batch: [UInt8], loop: Int, into packer: inout MemberPacker) {
        packer.redaction = redaction
        let bytes = batch.span
        var at = 0
        while at + RecordKind.headSize <= bytes.count {
            let record = Record(bytes, at: at)
            let start = at + RecordKind.headSize
            guard record.count <= bytes.count - start else { return }
            let payload = bytes.extracting(start..<start + record.count)
            at = start + record.count
            guard let kind = record.kind else { continue }
            packer.stamp = record.time
            take(kind, record, loop, payload, &packer)
        }
    }

    package mutating func lost(loop: Int, into packer: inout MemberPacker) {
        for id in connections.keys.sorted() {
            guard let connection = connections[id], connection.loop == loop else { continue }
            connection.lose(at: packer.lastTime, &packer)
        }
    }

    package static func countEvents(in batch: [UInt8]) -> UInt64 {
        let bytes = batch.span
        var at = 0
        var count: UInt64 = 0
        while at + RecordKind.headSize <= bytes.count {
            let record = Record(bytes, at: at)
            if record.kind != .tick, record.kind != .faultMark { count += 1 }
            at += RecordKind.headSize + record.count
        }
        return count
    }

    package mutating func finish(into packer: inout MemberPacker) {
        for id in connections.keys.sorted() {
            connections[id]?.flushAll(at: packer.lastTime, &packer)
        }
        connections = [:]
        waiting = []
    }

    private mutating func take(
        _ kind: RecordKind, _ record: Record, _ loop: Int, _ payload: Span<UInt8>, _ packer: inout MemberPacker
    ) {
        let time = record.time > origin ? record.time - origin : 0
        switch kind {
        case .open:
            connections[record.connection] = AssembledConnection(
                record.connection, loop: loop, scratch: scratch, held: held, inflateLimit: inflateLimit)
            packer.append(TapeEvent(time: time, connection: record.connection, .open(OpenRecord.decode(payload))))
        case .tick:
            flushWaiting(at: time, &packer)
        case .mark:
            packer.append(TapeEvent(time: time, connection: record.connection, .mark(text(payload))))
        case .bytes:
            connections[record.connection]?.bytes(payload, record.direction, at: time, &packer)
        case .fault, .faultMark:
            // What the fault is about stands before it.
            connections[record.connection]?.flushExchanges(at: time, &packer)
            fault(kind, record, payload, at: time, &packer)
        case .request, .response, .body, .bodyEnd, .malformed, .gone, .raw, .lost:
            guard let connection = connections[record.connection] else { return }
            if connection.take(kind, record, payload, at: time, &packer) { waiting.append(record.connection) }
            if connection.isGone { connections[record.connection] = nil }
        }
    }

    private mutating func fault(
        _ kind: RecordKind, _ record: Record, _ payload: Span<UInt8>, at time: UInt64, _ packer: inout MemberPacker
    ) {
        let last = packer.events > 0 ? packer.events : nil
        let mark = FaultMark(connection: record.connection, number: record.x)
        guard kind == .fault else { return marks[mark] = last }
        let (rule, action, delivered) = FaultRecord.decode(payload)
        packer.append(
            TapeEvent(
                time: time, connection: record.connection,
                .fault(
                    rule: rule, action: action, reference: marks.removeValue(forKey: mark) ?? last,
                    delivered: delivered)))
    }

    private mutating func flushWaiting(at time: UInt64, _ packer: inout MemberPacker) {
        guard !waiting.isEmpty else { return }
        waiting.removeAll { id in
            guard let connection = connections[id] else { return true }
            return connection.flushOld(at: time, &packer)
        }
    }
}

/// The head of a record.
struct Record {
    var kind: RecordKind?
    var flags: UInt8
    var connection: UInt32
    var time: UInt64
    var x: UInt32
    var count: Int

    init(_ bytes: Span<UInt8>, at: Int) {
        kind = RecordKind(rawValue: bytes[at])
        flags = bytes[at + 1]
        connection = bytes.littleEndian(UInt32.self, at: at + 4)
        time = bytes.littleEndian(UInt64.self, at: at + 8)
        x = bytes.littleEndian(UInt32.self, at: at + 16)
        count = Int(bytes.littleEndian(UInt32.self, at: at + 20))
    }

    var direction: Direction { flags & RecordFlags.toClient != 0 ? .toClient : .toServer }
}

func text(_ payload: Span<UInt8>) -> String {
    var bytes: [UInt8] = []
    bytes.append(copying: payload)
    return String(decoding: bytes, as: UTF8.self)
}
