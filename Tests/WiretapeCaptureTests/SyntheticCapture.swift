import WiretapeBytes
import WiretapeCapture
import WiretapeProtocol
import WiretapeTape

/// A capture of one TCP connection over Ethernet and IPv4, in the classic format, whose packets tests lose, repeat and move.
struct SyntheticCapture {
    struct Packet: Equatable {
        var fromClient: Bool
        var sequence: UInt32
        /// The next byte that its sender awaits.
        var awaits: UInt32 = 0
        var flags: UInt8
        var payload: [UInt8] = []
        /// Bytes that the capture kept; nil: all.
        var kept: Int?
        /// Microseconds behind the capture's first second, below a million; nil: the packet's number.
        var time: UInt32?
    }

    static let syn: UInt8 = 0x02
    static let fin: UInt8 = 0x01
    static let ack: UInt8 = 0x10

    var packets: [Packet] = []

    /// A connection on which what is said is sent in turn, in segments of drawn sizes.
    /// - Parameter start: the client's first sequence number; near 2^32 it wraps.
    init(_ turns: [(fromClient: Bool, bytes: [UInt8])], start: UInt32, _ random: inout SplitMix64) {
        self.init(turns, start: start) { min($0, 1 + Int(random.below(1_400))) }
    }

    /// - Parameter cut: how many bytes of so many that are left are in the next segment.
    init(_ turns: [(fromClient: Bool, bytes: [UInt8])], start: UInt32 = 1, cut: (Int) -> Int = { $0 }) {
        var next: [Bool: UInt32] = [true: start, false: start &+ 77_777]
        for side in [true, false] {
            packets.append(
                Packet(
                    fromClient: side, sequence: next[side] ?? 0, awaits: side ? 0 : next[true] ?? 0,
                    flags: side ? Self.syn : Self.syn | Self.ack))
            next[side] = (next[side] ?? 0) &+ 1
        }
        for turn in turns {
            var at = 0
            while at < turn.bytes.count {
                let count = cut(turn.bytes.count - at)
                let sequence = next[turn.fromClient] ?? 0
                packets.append(
                    Packet(
                        fromClient: turn.fromClient, sequence: sequence, awaits: next[!turn.fromClient] ?? 0,
                        flags: Self.ack,
                        payload: Array(turn.bytes[at..<at + count])))
                next[turn.fromClient] = sequence &+ UInt32(count)
                at += count
            }
        }
        for side in [true, false] {
            packets.append(
                Packet(
                    fromClient: side, sequence: next[side] ?? 0, awaits: next[!side] ?? 0, flags: Self.fin | Self.ack))
        }
    }

    /// The file.
    var bytes: [UInt8] {
        var out: [UInt8] = []
        for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 1] as [UInt32] { out += Self.little(word) }
        for (i, packet) in packets.enumerated() {
            let frame = Self.frame(packet)
            let kept = packet.kept.map { min($0, frame.count) } ?? frame.count
            out += Self.little(1_700_000_000) + Self.little(packet.time ?? UInt32(i))
            out += Self.little(UInt32(kept)) + Self.little(UInt32(frame.count))
            out += frame.prefix(kept)
        }
        return out
    }

    private static func frame(_ packet: Packet) -> [UInt8] {
        var tcp = big(packet.fromClient ? 40_000 : 80) + big(packet.fromClient ? 80 : 40_000)
        tcp += big32(packet.sequence) + big32(packet.awaits) + [0x50, packet.flags] + big(65_535) + big(0) + big(0)
        tcp += packet.payload
        let client: [UInt8] = [10, 0, 0, 1]
        let server: [UInt8] = [10, 0, 0, 2]
        var ip: [UInt8] = [0x45, 0] + big(UInt16(20 + tcp.count)) + big(0) + big(0x4000) + [64, 6] + big(0)
        ip += packet.fromClient ? client + server : server + client
        return [UInt8](repeating: 2, count: 12) + [0x08, 0x00] + ip + tcp
    }

    private static func little(_ word: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
    }
    private static func big(_ word: UInt16) -> [UInt8] { [UInt8(word >> 8), UInt8(truncatingIfNeeded: word)] }
    private static func big32(_ word: UInt32) -> [UInt8] {
        big(UInt16(word >> 16)) + big(UInt16(truncatingIfNeeded: word))
    }
}

/// What an import made of a file.
struct Imported {
    /// The tape.
    var tape: [UInt8]
    var events: [TapeEvent]
    var report: CaptureReport

    /// - Parameter piece: so many bytes are given to it at a time.
    init(_ file: [UInt8], piece: Int = 1 << 20, keys: KeyLog = KeyLog()) throws {
        let capture = CaptureImport(CaptureOptions(), keys: keys)
        let sink = TapeBytes()
        let header = TapeHeader(started: "2023-11-14T22:13:20.000000Z", tool: "test", mode: "reverse")
        let tape = try CapturedTape(
            header, origin: 1_700_000_000_000_000_000, to: sink, isCompressed: false, memory: 64 << 20, redaction: nil)
        var at = 0
        var goesOn = true
        while goesOn, at < file.count {
            let end = min(file.count, at + piece)
            goesOn = capture.feed(Array(file[at..<end]).span)
            at = end
            let (records, oldest) = capture.takeRecords()
            try tape.take(records, oldest: oldest)
        }
        capture.finish()
        let (records, oldest) = capture.takeRecords()
        try tape.take(records, oldest: oldest)
        try tape.finish()
        var reader = try TapeReader(bytes: sink.bytes, name: "imported.tape")
        var events: [TapeEvent] = []
        while let event = try reader.next() { events.append(event.event) }
        self.events = events
        self.tape = sink.bytes
        report = capture.report
    }
}
