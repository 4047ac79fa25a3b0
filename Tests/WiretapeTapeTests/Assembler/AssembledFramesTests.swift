import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeRecorder
import WiretapeWire

/// A frame with any first byte; masked when `key` is not 0.
private func wireFrame(_ first: UInt8, _ payload: [UInt8], key: UInt32 = 0) -> [UInt8] {
    let n = payload.count
    let mask: UInt8 = key == 0 ? 0 : 0x80
    var out = [first]
    if n < 126 {
        out.append(mask | UInt8(n))
    } else if n < 65536 {
        out += [mask | 126, UInt8(n >> 8), UInt8(n & 255)]
    } else {
        out.append(mask | 127)
        for shift in stride(from: 56, through: 0, by: -8) { out.append(UInt8(truncatingIfNeeded: n >> shift)) }
    }
    if key != 0 {
        for shift in stride(from: 24, through: 0, by: -8) { out.append(UInt8(truncatingIfNeeded: key >> shift)) }
    }
    FrameMask.append(payload.span, key, into: &out)
    return out
}

/// WebSocket traffic on its way to the tape.
@Suite struct AssembledFramesTests {
    /// A message lists its frames up to a bound; above it the tape says that there were more, and has the message.
    @Test(arguments: [131_071, 131_072, 131_073, 200_000]) func theListOfFramesIsBounded(_ count: Int) throws {
        var stream = RecordStream()
        stream.open()
        stream.upgrade()
        var bytes = wireFrame(0x01, Array("a".utf8), key: 1)
        for _ in 2..<count { bytes += wireFrame(0x00, [], key: 1) }
        bytes += wireFrame(0x80, Array("z".utf8), key: 1)
        bytes += wireFrame(0x81, Array("next".utf8), key: 1)
        stream.bytes(bytes, .toServer)
        let lines = stream.lines().filter {
            !$0.contains(#""e":"re"#) && !$0.contains(#""e":"open""#) && !$0.contains(#""e":"upgrade""#)
        }
        let isListed = count <= 131_072
        #expect(lines.count == (isListed ? 2 : 3), "\(lines.map { $0.prefix(100) })")
        let message = try #require(lines.first { $0.contains(#""text":"az""#) })
        #expect(message.contains(#""frames":[1,0,0"#) == isListed && message.utf8.count < 300_000)
        if !isListed {
            #expect(
                lines[0].contains("a message of more than 131072 frames, which are not listed"),
                "\(lines[0].prefix(200))")
        }
        #expect(lines.last?.contains(#""text":"next""#) == true)
    }

    private func frames() -> [UInt8] {
        var out: [UInt8] = []
        func frame(_ first: UInt8, _ payload: [UInt8], key: UInt32 = 0) {
            out += wireFrame(first, payload, key: key)
        }
        frame(0x81, Array("héllo".utf8), key: 0x37fa_213d)
        frame(0x01, Array("ab".utf8), key: 0x0102_0304)
        frame(0x89, Array("p".utf8), key: 0x0102_0304)
        frame(0x80, Array("cd".utf8))
        frame(0x82, [0, 255, 1], key: 0xffff_ffff)
        frame(0x81, [])
        frame(0x83, [7])
        frame(0x80, [8])
        frame(0xc1, [9])
        frame(0x8a, [])
        frame(0x88, [3, 232] + Array("bye".utf8), key: 0x0102_0304)
        return out
    }

    private let expected = [
        #"{"c":1,"e":"message","d":">","op":"text","text":"héllo"}"#,
        #"{"c":1,"e":"ping","d":">","text":"p"}"#,
        #"{"c":1,"e":"message","d":">","op":"text","text":"abcd","frames":[2,2]}"#,
        #"{"c":1,"e":"message","d":">","op":"binary","b64":"AP8B"}"#,
        #"{"c":1,"e":"message","d":">","op":"text","text":""}"#,
        #"{"c":1,"e":"frame","d":">","head":131,"text":"\u0007","why":"unknown opcode 3"}"#,
        #"{"c":1,"e":"frame","d":">","head":128,"text":"\u0008","why":"continuation of nothing"}"#,
        #"{"c":1,"e":"frame","d":">","head":193,"text":"\t","why":"reserved bit"}"#,
        #"{"c":1,"e":"pong","d":">","text":""}"#,
        #"{"c":1,"e":"close","d":">","code":1000,"reason":"bye"}"#,
    ]

    private func lines(cuts: [Int]) -> [String] {
        var stream = RecordStream()
        stream.open()
        stream.upgrade()
        stream.bytes(frames(), .toServer, cuts: cuts)
        return Array(stream.lines().dropFirst(3))
    }

    @Test func everySplitGivesTheSameLines() {
        let whole = lines(cuts: [])
        #expect(whole == expected)
        for cut in 1..<frames().count {
            #expect(lines(cuts: [cut]) == expected, "cut at \(cut)")
        }
        #expect(lines(cuts: Array(1..<frames().count)).count == expected.count)
    }

    @Test(arguments: [9, 12, 15], [true, false])
    func deflatedMessagesAreInflated(bits: Int, takeover: Bool) {
        var deflater = Deflater(windowBits: bits)
        var bytes: [UInt8] = []
        let texts = (0..<5).map { "message \($0) of the same words, the same words, the same words" }
        for text in texts {
            var packed: [UInt8] = []
            _ = deflater.append(Array(text.utf8).span, flush: .message, into: &packed)
            if !takeover { deflater.reset() }
            bytes += wireFrame(0xc1, packed)
        }
        let extra = takeover ? "" : "; server_no_context_takeover"
        for cuts in [[], Array(1..<bytes.count)] {
            var stream = RecordStream()
            stream.open()
            stream.upgrade(extensions: "permessage-deflate; server_max_window_bits=\(bits)\(extra)")
            stream.bytes(bytes, .toClient, cuts: cuts)
            let lines = stream.lines().dropFirst(3)
            #expect(
                Array(lines)
                    == texts.map { #"{"c":1,"e":"message","d":"<","op":"text","text":"\#($0)","deflated":true}"# })
        }
    }

    @Test func longMessagesComeInParts() {
        let payload = [UInt8](repeating: UInt8(ascii: "x"), count: 2_500_000)
        let bytes = wireFrame(0x81, payload)
        var stream = RecordStream()
        stream.open()
        stream.upgrade()
        stream.bytes(bytes, .toClient, cuts: Array(stride(from: 65536, to: bytes.count, by: 65536)))
        let lines = stream.lines().dropFirst(3)
        #expect(lines.count == 3)
        #expect(lines.last?.hasSuffix(#","last":true}"#) == true)
        #expect(lines.reduce(0) { $0 + $1.utf8.count(where: { $0 == UInt8(ascii: "x") }) } == payload.count + 2 * 3)
    }

    @Test func aCutMessageIsKeptAsFarAsItCame() {
        var stream = RecordStream()
        stream.open()
        stream.upgrade()
        stream.bytes([0x81, 10] + Array("hello".utf8), .toClient)
        stream.add(.gone, flags: GoneFlags.encode(.server, .rst))
        #expect(
            stream.lines().dropFirst(3) == [
                #"{"c":1,"e":"part","d":"<","op":"text","n":0,"text":"hello"}"#,
                #"{"c":1,"e":"gone","by":"server","how":"rst"}"#,
            ])
    }

    @Test func aBombEndsAtItsLimit() {
        var deflater = Deflater(windowBits: 15, level: 9)
        var packed: [UInt8] = []
        let zeros = [UInt8](repeating: 97, count: 1 << 20)
        for _ in 0..<9 { _ = deflater.append(zeros.span, flush: .none, into: &packed) }
        _ = deflater.append(Span(), flush: .message, into: &packed)
        let bytes = wireFrame(0xc2, packed) + [0x81, 2, 104, 105]
        var stream = RecordStream()
        stream.open()
        stream.upgrade(extensions: "permessage-deflate")
        stream.bytes(bytes, .toClient)
        let lines = stream.lines(inflateLimit: 8 << 20)
        #expect(lines.contains { $0.contains("more than 8 MiB") })
        #expect(lines.last == #"{"c":1,"e":"message","d":"<","op":"text","text":"hi"}"#)
    }

    @Test func randomBytesNeverTrap() {
        for seed in 0..<300 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            var stream = RecordStream()
            stream.open()
            stream.upgrade(extensions: seed % 2 == 0 ? "permessage-deflate" : nil)
            for _ in 0..<20 {
                let direction = random.below(2) == 0 ? Direction.toServer : .toClient
                stream.bytes((0..<random.below(200)).map { _ in UInt8(truncatingIfNeeded: random.next()) }, direction)
            }
            #expect(stream.lines().count >= 3)
        }
    }
}
