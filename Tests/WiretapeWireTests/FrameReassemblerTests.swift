import Testing
import WiretapeBytes
import WiretapeWire

/// Where frames belong, whoever reads them.
@Suite struct FrameReassemblerTests {
    /// What was found, as text. Payload that comes in pieces is put together again.
    private static func steps(_ reassembler: inout FrameReassembler, _ pieces: [[UInt8]]) -> [String] {
        var steps: [String] = []
        var payload: [UInt8] = []
        func plain(_ bytes: Span<UInt8>, _ key: UInt32, _ offset: UInt64) {
            FrameMask.append(bytes, key, offset: offset, into: &payload)
        }
        for piece in pieces {
            var at = 0
            reading: while true {
                let step = reassembler.next(piece.span, from: at)
                let key = reassembler.header.key
                switch step {
                case .more: break reading
                case .frame(let isFirst, let next):
                    let words = "\(reassembler.opcode)\(reassembler.isDeflated ? " deflated" : "")"
                    steps.append(isFirst ? "first \(words)" : "next")
                    at = next
                case .data(let range, let offset, let ends, let next):
                    plain(piece.span.extracting(range), key, offset)
                    if ends != .nothing {
                        steps.append("\(String(decoding: payload, as: UTF8.self)) \(ends)")
                        payload = []
                    }
                    at = next
                case .control(let payload, let next):
                    steps.append("control \(reassembler.header.opcode) \(String(decoding: payload, as: UTF8.self))")
                    at = next
                case .refused(let faults, let next):
                    steps.append("refused \(faults.rawValue)")
                    at = next
                case .refusedData(_, _, let next): at = next
                }
            }
        }
        return steps
    }

    private static func steps(
        _ bytes: [UInt8], isDeflating: Bool = false, tolerated: FrameFaults = .harmless, mostBytes: Int = .max,
        mostFrames: Int = .max
    ) -> [String] {
        var all: [[String]] = []
        for way in pieces(of: bytes, random: 3) {
            var reassembler = FrameReassembler(
                .toServer, isDeflating: isDeflating, tolerated: tolerated, mostBytes: mostBytes, mostFrames: mostFrames)
            all.append(steps(&reassembler, way))
        }
        #expect(Set(all).count == 1, "cut elsewhere the bytes are read otherwise")
        return all.first ?? []
    }

    private static func frame(_ first: UInt8, _ text: String, mask: Bool = true) -> [UInt8] {
        var bytes: [UInt8] = [first, (mask ? 0x80 : 0) | UInt8(text.utf8.count)]
        let key: UInt32 = mask ? 0x37fa_213d : 0
        if mask { bytes += [0x37, 0xfa, 0x21, 0x3d] }
        FrameMask.append(Array(text.utf8).span, key, into: &bytes)
        return bytes
    }

    @Test func controlFramesStandBetweenThoseOfAMessage() {
        let bytes =
            Self.frame(0x01, "one") + Self.frame(0x89, "ping") + Self.frame(0x80, "two") + Self.frame(0xc2, "three")
        #expect(
            Self.steps(bytes, isDeflating: true) == [
                "first text", "one frame", "control 9 ping", "next", "two message", "first binary deflated",
                "three message",
            ])
    }

    /// A frame that may not stand there is told with all that is wrong with it, and the message goes on behind it.
    @Test(
        arguments: [
            (0xf3, [.reservedBit, .compressedBit, .reservedOpcode]), (0x0b, [.reservedOpcode, .fragmentedControl]),
            (0xc9, .compressedBit), (0xc0, .compressedBit), (0xa0, .reservedBit),
        ] as [(UInt8, FrameFaults)])
    func aRefusedFrameChangesNothing(_ first: UInt8, _ faults: FrameFaults) {
        let bytes = Self.frame(0x01, "one") + Self.frame(first, "bad") + Self.frame(0x80, "two")
        #expect(
            Self.steps(bytes) == [
                "first text", "one frame", "refused \(faults.rawValue)", "next", "two message",
            ])
    }

    @Test func whatStandsNowhere() {
        let strict: FrameFaults = []
        #expect(
            Self.steps(Self.frame(0x80, "x")) == ["refused \(FrameFaults.continuesNothing.rawValue)"])
        #expect(
            Self.steps(Self.frame(0x81, "x", mask: false), tolerated: strict)
                == ["refused \(FrameFaults.mask.rawValue)"])
        #expect(Self.steps(Self.frame(0x81, "x", mask: false)) == ["first text", "x message"])
        let long: [UInt8] = [0x81, 0xfe, 0, 1, 0, 0, 0, 0, 0x78]
        #expect(Self.steps(long, tolerated: strict) == ["refused \(FrameFaults.spelledLong.rawValue)"])
        #expect(Self.steps(long) == ["first text", "x message"])
        let within = Self.frame(0x01, "one") + Self.frame(0x81, "two") + Self.frame(0x80, "three")
        #expect(
            Self.steps(within)
                == [
                    "first text", "one frame", "refused \(FrameFaults.withinMessage.rawValue)", "next", "three message",
                ])
        #expect(
            Self.steps(within, tolerated: [.harmless, .withinMessage])
                == [
                    "first text", "one frame", "first text", "two message",
                    "refused \(FrameFaults.continuesNothing.rawValue)",
                ])
    }

    @Test func messagesAreBounded() {
        let bytes = Self.frame(0x01, "abc") + Self.frame(0x00, "de") + Self.frame(0x80, "f")
        let all = ["first text", "abc frame", "next", "de frame", "next", "f message"]
        #expect(Self.steps(bytes, mostBytes: 6, mostFrames: 3) == all)
        #expect(
            Self.steps(bytes, mostBytes: 5).prefix(5) == all.prefix(4) + [
                "refused \(FrameFaults.tooManyBytes.rawValue)"
            ])
        #expect(
            Self.steps(bytes, mostFrames: 2).prefix(5)
                == all.prefix(4) + ["refused \(FrameFaults.tooManyFrames.rawValue)"])
        #expect(Self.steps(bytes + bytes, mostBytes: 6, mostFrames: 3) == all + all)
    }

    /// The rest of a message that is given up is refused, control frames are not.
    @Test func aMessageIsGivenUp() {
        var reassembler = FrameReassembler(.toServer, isDeflating: false)
        #expect(Self.steps(&reassembler, [Self.frame(0x01, "one")]) == ["first text", "one frame"])
        reassembler.giveUpMessage()
        let rest = Self.frame(0x89, "p") + Self.frame(0x80, "two") + Self.frame(0x81, "three")
        #expect(
            Self.steps(&reassembler, [rest])
                == [
                    "control 9 p", "refused \(FrameFaults.continuesNothing.rawValue)", "first text", "three message",
                ])
    }

    @Test func bytesThatNobodyHasArePassedOver() {
        let first = Self.frame(0x81, "missing")
        var reassembler = FrameReassembler(.toServer, isDeflating: false)
        #expect(Self.steps(&reassembler, [Array(first.prefix(8))]) == ["first text"])
        let left = UInt64(first.count - 8)
        let isWithin = reassembler.skip(left)
        #expect(isWithin)
        #expect(Self.steps(&reassembler, [Self.frame(0x81, "there")]) == ["first text", "there message"])
        let isBehind = reassembler.skip(1)
        #expect(!isBehind)
        reassembler.restart()
        #expect(Self.steps(&reassembler, [Self.frame(0x81, "again")]) == ["first text", "again message"])
    }

    /// What an end cuts off of a control frame or of a head is kept as it came.
    @Test func whatIsNotWholeIsKept() {
        let bytes = Self.frame(0x89, "a ping")
        for count in 0..<bytes.count {
            let cut = Array(bytes.prefix(count))
            for way in pieces(of: cut, random: 2) {
                var reassembler = FrameReassembler(.toServer, isDeflating: false)
                #expect(Self.steps(&reassembler, way) == [])
                #expect(reassembler.unfinished == cut)
            }
        }
    }
}
