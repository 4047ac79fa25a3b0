import Testing
import WiretapeWire

struct FrameWriterTests {
    @Test(arguments: [0, 1, 125, 126, 127, 65535, 65536, 70000], [UInt32?.none, 0x37fa_213d])
    func lengthsComeBack(count: Int, mask: UInt32?) {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var bytes: [UInt8] = [9]
        FrameWriter.append(opcode: 2, payload: payload.span, mask: mask, into: &bytes)
        let frames = FrameScannerTests.frames([Array(bytes.dropFirst())])
        #expect(frames.count == 1 && frames[0].ended)
        #expect(frames[0].header.byteCount == (count < 126 ? 2 : count < 65536 ? 4 : 10) + (mask == nil ? 0 : 4))
        var unmasked = frames[0].payload
        FrameMask.apply(frames[0].header.key, to: &unmasked)
        #expect(unmasked == payload)
    }

    @Test func masksFromAnyOffset() {
        let plain = (0..<100).map { UInt8($0) }
        let key: UInt32 = 0x0102_0380
        let masked = plain.enumerated().map { i, byte in byte ^ [0x01, 0x02, 0x03, 0x80][i % 4] }
        for cut in 0...100 {
            var out = Array(masked[..<cut])
            FrameMask.apply(key, to: &out)
            let rest = Array(masked[cut...])
            FrameMask.append(rest.span, key, offset: UInt64(cut), into: &out)
            #expect(out == plain)
        }
        var whole = masked
        FrameMask.apply(key, offset: .max - 3, to: &whole)
        #expect(whole == plain)
    }

    /// The last frame gets the remaining bytes. Empty frames are kept.
    @Test(arguments: [
        ([], []), ([7], []), ([4, 4, 2, 0], [4, 4, 2, 0]), ([3, 3], [3, 7]), ([8, 8, 8], [8, 2, 0]),
        ([-1, 4], [0, 10]),
    ])
    func aMessageInFrames(_ sizes: [Int32], _ written: [Int]) {
        let payload = Array("0123456789".utf8)
        for mask in [nil, 0x37fa_213d] as [UInt32?] {
            var bytes: [UInt8] = []
            let lengths = FrameWriter.append(
                opcode: 1, rsv1: true, payload: payload.span, frames: .sizes(sizes), mask: { mask }, into: &bytes)
            #expect(lengths == written)
            let frames = FrameScannerTests.frames([bytes])
            #expect(frames.map { Int($0.header.length) } == (written.isEmpty ? [10] : written))
            #expect(frames.map(\.header.opcode) == [1] + Array(repeating: 0, count: frames.count - 1))
            #expect(frames.map(\.header.fin) == Array(repeating: false, count: frames.count - 1) + [true])
            #expect(frames.map(\.header.rsv1) == [true] + Array(repeating: false, count: frames.count - 1))
        }
    }

    @Test(arguments: [
        (1, Array(repeating: 1, count: 10)), (4, [4, 4, 2]), (5, [5, 5]), (10, []), (0, Array(repeating: 1, count: 10)),
    ])
    func framesOfALimitedSize(_ size: Int, _ written: [Int]) {
        var bytes: [UInt8] = []
        let lengths = FrameWriter.append(
            opcode: 1, payload: Array("0123456789".utf8).span, frames: .atMost(size), into: &bytes)
        #expect(lengths == written)
        #expect(FrameScannerTests.frames([bytes]).count == max(1, written.count))
    }

    @Test func closeReasonsAreCutBetweenCharacters() {
        var bytes: [UInt8] = []
        FrameWriter.appendClose(code: 1011, reason: String(repeating: "é", count: 100), into: &bytes)
        #expect(bytes.count == 2 + 2 + 122)
        #expect(String(validUTF8Bytes: Array(bytes[4...])) == String(repeating: "é", count: 61))
    }
}

extension String {
    fileprivate init?(validUTF8Bytes bytes: [UInt8]) { self.init(validating: bytes, as: UTF8.self) }
}
