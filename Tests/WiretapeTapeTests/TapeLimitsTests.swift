import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeRecorder
import WiretapeTape

struct TapeLimitsTests {
    private func member(_ text: [UInt8], level: Int = 6) -> [UInt8] {
        var compressor = MemberCompressor()
        var bytes: [UInt8] = []
        let info = MemberInfo(events: 1, firstTime: 0, firstEvent: 1, opens: 0, firstConnection: 0)
        compressor.append(text.span, info: info, level: level, into: &bytes)
        return bytes
    }

    @Test func aBombOfBlankLinesIsRefused() {
        // Not by our compressor, which makes no bombs.
        var bomb: [UInt8] = []
        MemberInfo(events: 1, firstTime: 0, firstEvent: 1, opens: 0, firstConnection: 0).appendHeader(into: &bomb)
        var deflater = Deflater(level: 9)
        #expect(deflater.append([UInt8](repeating: 0x0a, count: 40 << 20).span, flush: .sync, into: &bomb))
        let reading = Tapes.read(member(Array("{\"tape\":1}\n".utf8)) + bomb)
        #expect(reading.error?.kind == .tooLarge)
        #expect(reading.error?.message.contains("600 times") == true)
    }

    @Test func aLineWithoutEndIsRefused() throws {
        // Compresses 50 times: within the ratio, beyond the length of a line.
        var random = SplitMix64(seed: 3)
        let unit = (0..<4000).map { _ in UInt8(ascii: "a") + UInt8(random.below(26)) }
        let start = Array(#"{"t":1,"e":"mark","text":""#.utf8)
        var text = Array("{\"tape\":1}\n".utf8) + start
        while text.count < (65 << 20) { text += unit + unit.prefix(random.below(100)) }
        let reading = Tapes.read(member(text, level: 1))
        #expect(reading.error?.kind == .tooLarge && reading.error?.message == "a line of more than 64 MiB")
        #expect(Tapes.read(text).error?.kind == .tooLarge)
    }

    @Test func aLongLineWithinTheLimitIsRead() throws {
        let text = String(repeating: "long ", count: 2 << 20)
        let event = TapeEvent(time: 1, connection: 0, .mark(text))
        let tape = Tapes.file([event], linesPerMember: 1)
        #expect(Tapes.read(tape.bytes).events.first?.event == event)
    }

    @Test func nestingIsBounded() {
        let deep = String(repeating: "[", count: 100_000)
        let reading = Tapes.read(
            Array((#"{"tape":1}"# + "\n" + #"{"t":1,"e":"mark","text":"","new":"# + deep + "\n").utf8))
        #expect(reading.error?.message.hasSuffix("nested too deeply") == true)
    }

    /// Acceptance 5 for the reader: as if the file had grown byte by byte, at each place once.
    @Test func everySplitGivesTheSameEvents() throws {
        let events = Tapes.events(60)
        let (bytes, _) = Tapes.file(events, linesPerMember: 20)
        let whole = Tapes.read(bytes).events
        let path = temporaryPath("split")
        defer { remove(path) }
        for split in stride(from: 200, to: bytes.count, by: 1) {
            writeFile(path, Array(bytes[..<split]))
            var reader = try TapeReader(path: path)
            var got: [NumberedEvent] = []
            while let event = try reader.next() { got.append(event) }
            try appendFile(path, Array(bytes[split...]))
            while let event = try reader.next() { got.append(event) }
            #expect(got == whole, "split at \(split)")
            let isTruncated = reader.isTruncated
            #expect(!isTruncated)
        }
    }

    @Test func randomBytesNeverTrap() {
        let lines = Tapes.plain(goldenLines.map(\.event))
        var random = SplitMix64(seed: 99)
        for _ in 0..<3000 {
            var bytes = lines
            for _ in 0...random.below(3) {
                switch random.below(3) {
                case 0: bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes.remove(at: random.below(bytes.count))
                default: bytes.insert(Array(#"{}[]",:\0e-9"#.utf8)[random.below(12)], at: random.below(bytes.count))
                }
            }
            let reading = Tapes.read(bytes)
            #expect(reading.error != nil || !reading.events.isEmpty || reading.isTruncated)
        }
    }
}
