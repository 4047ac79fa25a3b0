import Foundation
import Testing
import WiretapeBytes
import WiretapeCodecs
import WiretapeProtocol
import WiretapeRecorder
import WiretapeTape
import WiretapeTapeTools
import WiretapeWire

/// What writers make of large messages, readers take; what cannot be a tape is refused and nothing is replaced.
@Suite struct LargeMessageTests {
    /// A WebSocket message in pieces of a MiB, as a recorder writes it.
    private func events(_ bytes: [UInt8], _ opcode: Opcode) -> [TapeEvent] {
        let size = 1 << 20
        var events = [TapeEvent(time: 0, connection: 1, .open(.init(from: "127.0.0.1:4000")))]
        for (n, start) in stride(from: 0, to: bytes.count, by: size).enumerated() {
            let end = min(start + size, bytes.count)
            events.append(
                TapeEvent(
                    time: UInt64(n + 1), connection: 1,
                    .part(.toServer, opcode, n: n, Array(bytes[start..<end]), last: end == bytes.count)))
        }
        return events
    }

    /// Writes the events to a new tape.
    private func write(_ events: [TapeEvent], _ path: String) throws {
        var output = TapeLineOutput(try TapeFile(path: path), isCompressed: true)
        var bytes: [UInt8] = []
        TapeLines.appendHeader(TapeHeader(started: "2026-11-20T17:28:00.123456Z", tool: "test"), into: &bytes)
        try output.line(bytes.span.extracting(..<(bytes.count - 1)), event: nil)
        for event in events {
            bytes.removeAll()
            TapeLines.append(event, into: &bytes)
            try output.line(bytes.span.extracting(..<(bytes.count - 1)), event: event)
        }
        try output.finish()
    }

    private func newPath() -> String { NSTemporaryDirectory() + "/large-\(UUID().uuidString).tape.gz" }

    private func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

    /// Messages of the tape, whole.
    private func messages(_ path: String) throws -> [[UInt8]] {
        var reader = try TapeReader(path: path)
        var whole: [[UInt8]] = []
        var held: [UInt8] = []
        while let next = try reader.next() {
            switch next.event.kind {
            case .message(_, _, let bytes, _, _): whole.append(bytes)
            case .part(_, _, _, let bytes, let last):
                held += bytes
                if last {
                    whole.append(held)
                    held = []
                }
            default: break
            }
        }
        return whole
    }

    private func random(_ count: Int) -> [UInt8] {
        var random = SplitMix64(seed: 7)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count {
            let word = random.next()
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// Sizes around a member's and beyond what readers take freely; bytes that compress to nothing, and some that do not.
    @Test(arguments: [(1, false), (2, false), (17, true)])
    func theCanonicalFormIsRead(_ size: Int, isCompressible: Bool) throws {
        let path = newPath()
        defer { remove(path) }
        let count = size << 20
        let bytes = isCompressible ? [UInt8](repeating: UInt8(ascii: "a"), count: count) : random(count)
        try write(events(bytes, isCompressible ? .text : .binary), path)
        try TapeCanon.write(path, to: .place, codecs: Codecs.all)
        #expect(try messages(path) == [bytes])
        #expect(try TapeRepair.repair(path: path).isIntact)
    }

    /// Beyond 64 MiB no message is put together, and no line could hold it.
    @Test(arguments: [(65, true)]) func whatNoLineCanHoldIsRefused(
        _ size: Int, isCompressible: Bool
    ) throws {
        let path = newPath()
        defer { remove(path) }
        let count = size << 20
        let bytes = isCompressible ? [UInt8](repeating: UInt8(ascii: "a"), count: count) : random(count)
        try write(events(bytes, isCompressible ? .text : .binary), path)
        let tape = try Data(contentsOf: URL(fileURLWithPath: path))
        do {
            try TapeCanon.write(path, to: .place, codecs: Codecs.all)
            Issue.record("replaced")
        } catch let error as TapeError {
            #expect(error.kind == .tooLarge && error.message.contains("64 MiB"), "\(error)")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == tape)
    }

    /// Lines that nearly vanish are stored in part, so that the member stays within the ratio that readers allow.
    @Test(arguments: [1, 6, 12]) func membersStayWithinTheRatio(_ level: Int) throws {
        var compressor = MemberCompressor()
        var bytes: [UInt8] = []
        let none = MemberInfo(events: 0, firstTime: .max, firstEvent: 0, opens: 0, firstConnection: 0)
        compressor.append(Array("{\"tape\":1}\n".utf8).span, info: none, level: level, into: &bytes)
        let blank = [UInt8](repeating: UInt8(ascii: "\n"), count: 20 << 20)
        compressor.append(blank.span, info: none, level: level, into: &bytes)
        #expect(bytes.count < 1 << 20)
        var reader = try TapeReader(bytes: bytes, name: "blank")
        #expect(try reader.next() == nil)
        let isTruncated = reader.isTruncated
        #expect(!isTruncated)
    }
}
