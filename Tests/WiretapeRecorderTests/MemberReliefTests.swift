import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeRecorder
import WiretapeTape
import WiretapeWire

/// One batch that becomes far more lines than a tape may keep in memory.
@Suite struct MemberReliefTests {
    private struct Flood: RecordConsumer {
        mutating func consume(_ batch: [UInt8], loop: Int, into packer: inout MemberPacker) {
            let text = [UInt8](repeating: UInt8(ascii: "a"), count: 400_000)
            for n in 0..<100 { packer.message(UInt64(n), 1, .toClient, .text, text.span) }
        }
        mutating func lost(loop: Int, into packer: inout MemberPacker) {}
        mutating func finish(into packer: inout MemberPacker) {}
        static func countEvents(in batch: [UInt8]) -> UInt64 { 1 }
    }

    @Test(arguments: [true, false]) func membersLeaveInOrder(isCompressed: Bool) throws {
        final class Output {
            var bytes: [UInt8]
            var relieved = 0
            var events: UInt64 = 0
            init(_ bytes: [UInt8]) { self.bytes = bytes }
        }
        let output = Output(TapePress<Flood>.header(TapeHeader(), isCompressed: isCompressed))
        var press = TapePress(Flood(), isCompressed: isCompressed) { members, tally in
            output.bytes.append(copying: members)
            output.relieved += 1
            output.events += tally.events
        }
        press.consume([], loop: 0, oldest: 0)
        #expect(output.relieved > 20)
        press.finish()
        while press.take(now: .max, fill: 0, clock: { 0 }, into: &output.bytes) {}
        #expect(press.lineBytes > 40_000_000)
        #expect(output.events > 20 && press.taken.events == 101)
        var reader = try TapeReader(bytes: output.bytes, name: "flood")
        var times: [UInt64] = []
        while let event = try reader.next() { times.append(event.event.time) }
        #expect(times == Array(0..<100) + [99])
    }
}
