import Testing
import WiretapeBytes
import WiretapeWire

struct MessageAssemblerTests {
    /// What an assembler told, as text.
    static func hear(
        _ direction: Direction, _ pieces: [[UInt8]], limit: Int = 1 << 20, deflate: DeflateParameters? = nil
    ) -> [String] {
        var assembler = MessageAssembler(direction, limit: limit, deflate: deflate)
        var heard: [String] = []
        for piece in pieces {
            var at = 0
            feed: while true {
                switch assembler.feed(piece.span, from: at) {
                case .more: break feed
                case .message(let opcode, let bytes, let deflated, let fragments, let next):
                    let text = String(validUTF8: bytes) ?? "\(bytes)"
                    heard.append("\(opcode.rawValue)\(deflated ? " deflated" : "") \(fragments) \(text)")
                    at = next
                case .ping(let bytes, let next):
                    heard.append("ping \(String(decoding: bytes, as: UTF8.self))")
                    at = next
                case .pong(let bytes, let next):
                    heard.append("pong \(String(decoding: bytes, as: UTF8.self))")
                    at = next
                case .close(let code, let reason, let next):
                    heard.append("close \(code.map(String.init) ?? "-") \(reason)")
                    at = next
                case .violation(let code, _):
                    heard.append("violation \(code)")
                    break feed
                }
            }
        }
        return heard
    }

    @Test func aConversationInEverySplit() {
        var bytes: [UInt8] = []
        func frame(_ opcode: UInt8, _ text: String, fin: Bool = true, mask: UInt32 = 0x37fa_213d) {
            FrameWriter.append(opcode: opcode, fin: fin, payload: Array(text.utf8).span, mask: mask, into: &bytes)
        }
        frame(1, "Hello")
        frame(2, "")
        frame(1, "{\"ty", fin: false)
        frame(9, "are you there?")
        frame(0, "", fin: false, mask: 0)
        frame(0, "pe\":6}ü", mask: 0xffff_ffff)
        frame(10, "")
        FrameWriter.appendClose(code: 1000, reason: "bye", mask: 1, into: &bytes)
        frame(1, "not heard")
        for way in pieces(of: bytes) {
            #expect(
                Self.hear(.toServer, way) == [
                    "text [] Hello", "binary [] ", "ping are you there?", "text [4, 0, 8] {\"type\":6}ü", "pong ",
                    "close 1000 bye",
                ])
        }
    }

    /// RFC 6455 section 5.7, RFC 7692 section 7.2.3 and the vectors of SignalR.
    @Test func vectors() {
        #expect(Self.hear(.toClient, [hex("810548656c6c6f")]) == ["text [] Hello"])
        #expect(Self.hear(.toServer, [hex("818537fa213d7f9f4d5158")]) == ["text [] Hello"])
        #expect(Self.hear(.toClient, [hex("010348656c80026c6f")]) == ["text [3, 2] Hello"])
        #expect(Self.hear(.toClient, [hex("890548656c6c6f")]) == ["ping Hello"])
        #expect(Self.hear(.toServer, [hex("8a8537fa213d7f9f4d5158")]) == ["pong Hello"])
        #expect(Self.hear(.toServer, [hex("818b37fa213d4cd85544479f030701873f")]) == ["text [] {\"type\":6}\u{1e}"])
        #expect(Self.hear(.toClient, [hex("01047b22747980077065223a367d1e")]) == ["text [4, 7] {\"type\":6}\u{1e}"])
        #expect(Self.hear(.toClient, [hex("880203e9")]) == ["close 1001 "])
        #expect(Self.hear(.toClient, [hex("8800")]) == ["close - "])
        let deflate = DeflateParameters()
        // One block, shared window, no compression, a final block, two blocks.
        let hello = hex("c107f248cdc9c90700")
        let again = hex("c105f200110000")
        #expect(
            Self.hear(.toClient, [hello + again], deflate: deflate) == [
                "text deflated [] Hello", "text deflated [] Hello",
            ])
        #expect(
            Self.hear(.toClient, [hex("c10b000500faff48656c6c6f00")], deflate: deflate) == ["text deflated [] Hello"])
        #expect(Self.hear(.toClient, [hex("c108f348cdc9c9070000")], deflate: deflate) == ["text deflated [] Hello"])
        #expect(
            Self.hear(.toClient, [hex("c10df248050000 00ffffcac9c90700")], deflate: deflate) == [
                "text deflated [] Hello"
            ])
        #expect(
            Self.hear(.toClient, [hex("4103f248cd8004c9c90700")], deflate: deflate) == ["text deflated [3, 4] Hello"])
        #expect(Self.hear(.toClient, [hex("810548656c6c6f")], deflate: deflate) == ["text [] Hello"])
    }

    static let violations: [(String, String, Int)] = [
        ("unmasked from a client", "810548656c6c6f", 1002), ("RSV1 without an extension", "c18000000000", 1002),
        ("RSV2", "a18000000000", 1002), ("RSV3", "918000000000", 1002), ("opcode 3", "838000000000", 1002),
        ("opcode 7", "878000000000", 1002), ("opcode 11", "8b8000000000", 1002), ("opcode 15", "8f8000000000", 1002),
        ("fragmented ping", "098000000000", 1002), ("fragmented close", "088000000000", 1002),
        ("ping of 126 bytes", "89fe007e00000000", 1002), ("continuation of nothing", "808000000000", 1002),
        ("message in a message", "018000000000818000000000", 1002), ("126 for 5 bytes", "81fe000500000000", 1002),
        ("127 for 300 bytes", "81ff000000000000012c00000000", 1002),
        ("2^63 bytes", "81ff800000000000000000000000", 1002), ("2^64-1 bytes", "81ffffffffffffffffff00000000", 1002),
        ("over the limit", "81ff00000000 0010000100000000", 1009),
        ("2^63-1 bytes", "81ff7fffffffffffffff00000000", 1009),
        ("not UTF-8", "818100000000ff", 1007), ("cut UTF-8", "818100000000c3", 1007),
        ("close of one byte", "88810000000003", 1002), ("close 1005", "88820000000003ed", 1002),
        ("close 1006", "88820000000003ee", 1002), ("close 1015", "88820000000003f7", 1002),
        ("close 999", "88820000000003e7", 1002), ("close 2999", "8882000000000bb7", 1002),
        ("close 5000", "8882000000001388", 1002), ("close reason not UTF-8", "88830000000003e8ff", 1007),
    ]

    @Test(arguments: violations)
    func violationsInEverySplit(name: String, bytes: String, code: Int) {
        for way in pieces(of: hex(bytes) + [1, 2, 3], random: 3) {
            #expect(Self.hear(.toServer, way) == ["violation \(code)"], "\(name)")
        }
    }

    @Test func serversMustNotMask() {
        #expect(Self.hear(.toClient, [hex("818537fa213d7f9f4d5158")]) == ["violation 1002"])
    }

    @Test func fragmentsCountTogether() {
        var bytes: [UInt8] = []
        for i in 0..<20 {
            FrameWriter.append(
                opcode: i == 0 ? 2 : 0, fin: false, payload: [UInt8](repeating: 1, count: 100).span, mask: 1,
                into: &bytes)
        }
        #expect(Self.hear(.toServer, [bytes], limit: 1999) == ["violation 1009"])
        #expect(Self.hear(.toServer, [bytes], limit: 2000) == [])
    }

    /// Frames without bytes cost memory as well.
    @Test(arguments: [true, false]) func framesAreCounted(_ listsFragments: Bool) {
        func hear(_ count: Int) -> Assembled {
            var bytes: [UInt8] = []
            for i in 0..<count {
                FrameWriter.append(
                    opcode: i == 0 ? 2 : 0, fin: i == count - 1, payload: [UInt8]().span, mask: 1, into: &bytes)
            }
            var assembler = MessageAssembler(.toServer, listsFragments: listsFragments)
            return assembler.feed(bytes.span, from: 0)
        }
        guard case .message(.binary, [], deflated: false, let fragments, _) = hear(131_072) else {
            Issue.record("131,072 frames are a message")
            return
        }
        #expect(fragments.count == (listsFragments ? 131_072 : 0))
        #expect(hear(131_073) == .violation(code: 1009, reason: "message of more than 131072 frames"))
    }

    /// 16 MiB of zeros in 16 KiB.
    @Test func bombsStopAtTheLimit() {
        var deflater = Deflater()
        var bomb: [UInt8] = []
        #expect(deflater.append([UInt8](repeating: 0, count: 16 << 20).span, flush: .message, into: &bomb))
        var frame: [UInt8] = []
        FrameWriter.append(opcode: 2, rsv1: true, payload: bomb.span, mask: 5, into: &frame)
        #expect(frame.count < 1 << 20)
        #expect(Self.hear(.toServer, [frame], limit: 1 << 20, deflate: DeflateParameters()) == ["violation 1009"])
    }

    @Test func corruptDeflateIsAViolation() {
        #expect(Self.hear(.toClient, [hex("c103ffffff")], deflate: DeflateParameters()) == ["violation 1007"])
    }

    @Test(arguments: 9...15, [true, false])
    func windowsAndContexts(bits: Int, resets: Bool) {
        var parameters = DeflateParameters()
        parameters.clientMaxWindowBits = bits
        parameters.clientNoContextTakeover = resets
        var deflater = Deflater(windowBits: bits)
        var bytes: [UInt8] = []
        var expected: [String] = []
        for i in 0..<30 {
            let text = String(repeating: "message \(i / 3) of many, ", count: 1 + i * 40)
            var deflated: [UInt8] = []
            #expect(deflater.append(Array(text.utf8).span, flush: .message, into: &deflated))
            if resets { deflater.reset() }
            FrameWriter.append(opcode: 1, rsv1: true, payload: deflated.span, mask: 0x0102_0304, into: &bytes)
            expected.append("text deflated [] \(text)")
        }
        for way in [[bytes], bytes.map { [$0] }] {
            #expect(Self.hear(.toServer, way, deflate: parameters) == expected)
        }
    }
}
