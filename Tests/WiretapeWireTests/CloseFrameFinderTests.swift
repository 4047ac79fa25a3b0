import Testing
import WiretapeBytes
import WiretapeWire

/// The close frame in bytes that nobody reads as messages.
@Suite struct CloseFrameFinderTests {
    private static func frame(_ opcode: UInt8, _ payload: [UInt8], isLast: Bool = true) -> [UInt8] {
        let key: [UInt8] = [1, 2, 3, 4]
        var out: [UInt8] = [(isLast ? 0x80 : 0) | opcode]
        if payload.count < 126 {
            out.append(0x80 | UInt8(payload.count))
        } else {
            out += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xff)]
        }
        return out + key + payload.enumerated().map { $1 ^ key[$0 % 4] }
    }

    private static let goodbye = frame(8, [0x11, 0x93] + Array("gone".utf8))

    private static func found(_ bytes: [UInt8], pieces: Int) -> [CloseFrame] {
        var finder = CloseFrameFinder()
        var found: [CloseFrame] = []
        var at = 0
        while at < bytes.count {
            let next = min(bytes.count, at + pieces)
            if let close = finder.find(Array(bytes[at..<next]).span) { found.append(close) }
            at = next
        }
        return found
    }

    @Test(arguments: [1, 3, 7, 1_000])
    func itStandsBehindMessages(pieces: Int) {
        // A message that looks like a close frame, one in fragments with a ping between them, and a long one.
        let bytes =
            Self.frame(1, Self.goodbye) + Self.frame(2, [8, 8], isLast: false) + Self.frame(9, [1])
            + Self.frame(0, Array(repeating: 0x88, count: 300)) + Self.goodbye
        #expect(Self.found(bytes, pieces: pieces) == [.told(code: 4499, reason: "gone")])
    }

    @Test func thereMayBeNone() {
        #expect(Self.found(Self.frame(1, Array(repeating: 0x88, count: 300)), pieces: 5).isEmpty)
        #expect(Self.found(Array(Self.goodbye.dropLast()), pieces: 2).isEmpty)
        #expect(Self.found(Self.frame(8, []), pieces: 1) == [.empty])
    }
}
