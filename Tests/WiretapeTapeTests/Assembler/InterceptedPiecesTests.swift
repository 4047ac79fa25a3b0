import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeRecorder
import WiretapeTape

/// What unfinished messages of many connections cost a recorder.
@Suite struct InterceptedPiecesTests {
    private static let limit = 2 << 20

    private static func opening(_ connections: ClosedRange<UInt32>) -> [UInt8] {
        var stream = RecordStream()
        for c in connections {
            stream.add(.open, connection: c, OpenRecord.encode(.init(upstream: "main")))
            stream.add(
                .request, x: 1, connection: c,
                Array("GET /ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n".utf8))
            stream.add(.bodyEnd, x: 1, connection: c)
            stream.add(
                .response, flags: RecordFlags.toClient, x: 1, connection: c,
                Array("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n".utf8))
        }
        return stream.batch
    }

    /// A frame's head and the first bytes of its payload, which differ from those of others.
    private static func payload(_ c: UInt32, _ size: Int) -> [UInt8] {
        (0..<size).map { 0x20 + UInt8(truncatingIfNeeded: ($0 / 7 + Int(c)) % 90) }
    }

    /// All together they hold no more than they may, however many there are; every byte is on the tape, and the messages are whole
    /// again when they are read.
    @Test func unfinishedMessagesOfManyConnections() throws {
        let connections: ClosedRange<UInt32> = 1...16
        let size = 600 << 10
        var assembler = TapeAssembler(origin: 0, memory: Self.limit)
        var packer = MemberPacker()
        packer.appendHeader(TapeHeader())
        var tape: [UInt8] = []
        assembler.consume(Self.opening(connections), loop: 0, into: &packer)
        var wires = connections.map { c in
            let length = UInt64(size)
            return [0x81, 127] + (0..<8).map { UInt8(truncatingIfNeeded: length >> UInt64(56 - 8 * $0)) }
                + Self.payload(c, size)
        }
        // Each gets its bytes by turns.
        let slice = 50 << 10
        var most = 0
        while wires.contains(where: { !$0.isEmpty }) {
            for (i, c) in connections.enumerated() where !wires[i].isEmpty {
                var stream = RecordStream()
                stream.add(.bytes, flags: RecordFlags.toClient, connection: c, Array(wires[i].prefix(slice)))
                wires[i].removeFirst(min(slice, wires[i].count))
                assembler.consume(stream.batch, loop: 0, into: &packer)
                while packer.takePlain(into: &tape) {}
                most = max(most, assembler.heldCount)
            }
        }
        // The one that passed the limit grew to have room for twice what it held.
        let last = 2 * (Self.limit / connections.count + slice)
        #expect(most <= Self.limit + last + connections.count * 4096)
        #expect(most > Self.limit)
        #expect(assembler.heldCount == 0)
        assembler.finish(into: &packer)
        packer.stop(level: nil)
        while packer.takePlain(into: &tape) {}
        var messages: [UInt32: [UInt8]] = [:]
        var pieces = 0
        for event in Tapes.read(tape).events.map(\.event) {
            switch event.kind {
            case .message(_, _, let payload, _, _): messages[event.connection, default: []] += payload
            case .part(_, _, _, let payload, _):
                pieces += 1
                messages[event.connection, default: []] += payload
            default: break
            }
        }
        #expect(pieces > connections.count)
        for c in connections { #expect(messages[c] == Self.payload(c, size)) }
    }
}
