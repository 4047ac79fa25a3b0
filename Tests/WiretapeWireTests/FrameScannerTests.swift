import Testing
import WiretapeWire

struct FrameScannerTests {
    /// A frame as told, its payload joined.
    struct Frame: Equatable {
        var header: FrameHeader
        var payload: [UInt8] = []
        var ended = false
    }

    static func frames(_ pieces: [[UInt8]]) -> [Frame] {
        var scanner = FrameScanner()
        var frames: [Frame] = []
        for piece in pieces {
            var at = 0
            scan: while true {
                switch scanner.scan(piece.span, from: at) {
                case .more: break scan
                case .header(let header, let next):
                    frames.append(Frame(header: header))
                    at = next
                case .payload(let range, let offset, let last, let next):
                    #expect(offset == UInt64(frames[frames.count - 1].payload.count))
                    frames[frames.count - 1].payload += piece[range]
                    frames[frames.count - 1].ended = last
                    at = next
                }
            }
        }
        return frames
    }

    /// RFC 6455 section 5.7 and the vectors of SignalR.
    static let vectors = [
        "810548656c6c6f", "818537fa213d7f9f4d5158", "010348656c", "80026c6f", "890548656c6c6f",
        "8a8537fa213d7f9f4d5158", "81037b7d1e", "82037b7d1e", "810b7b2274797065223a367d1e", "8203029106",
        "01047b227479", "80077065223a367d1e", "818b37fa213d4cd85544479f030701873f", "880203e8", "880203f3", "8900",
        "8180aabbccdd", "c107f248cdc9c90700", "7f03616263", "817e0003616263", "817f0000000000000003616263",
    ]

    @Test func everySplitGivesTheSameFrames() {
        let bytes = Self.vectors.flatMap(hex)
        let whole = Self.frames([bytes])
        #expect(whole.count == Self.vectors.count)
        #expect(whole.allSatisfy { $0.ended && UInt64($0.payload.count) == $0.header.length })
        var rebuilt: [UInt8] = []
        for frame in whole {
            #expect(frame.header.byteCount + frame.payload.count >= 2)
            frame.header.append(to: &rebuilt)
            rebuilt += frame.payload
        }
        #expect(rebuilt == bytes)
        for way in pieces(of: bytes) { #expect(Self.frames(way) == whole) }
    }

    @Test func fieldsOfAHeader() {
        let masked = Self.frames([hex("818537fa213d7f9f4d5158")])[0].header
        #expect(masked.fin && masked.opcode == 1 && masked.isMasked && masked.key == 0x37fa_213d && masked.length == 5)
        let odd = Self.frames([hex("7f03616263")])[0].header
        #expect(!odd.fin && odd.rsv1 && odd.rsv2 && odd.rsv3 && odd.opcode == 15 && odd.isControl && !odd.isMasked)
    }

    @Test(arguments: [UInt64(1) << 31, 1 << 32, 1 << 63 - 1, 1 << 63, .max])
    func lengthsBeyondAllMemory(length: UInt64) {
        var bytes: [UInt8] = [0x82, 0x7f]
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: length >> UInt64(shift)))
        }
        bytes += Array(repeating: 7, count: 1000)
        for way in pieces(of: bytes, random: 3) {
            let frames = Self.frames(way)
            #expect(frames.count == 1 && frames[0].header.length == length)
            #expect(frames[0].payload.count == 1000 && !frames[0].ended)
        }
    }
}
