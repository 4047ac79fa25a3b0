import Testing
import WiretapeBytes
import WiretapeIntercept
import WiretapeWire

/// Messages of a WebSocket that rules may touch, when they are large.
struct InterceptedFramesTests {
    private static let deflate = DeflateParameters(accepted: ["permessage-deflate"])

    /// A deflated message of so many equal letters.
    private static func frame(_ packer: inout MessageDeflater, _ size: Int) -> [UInt8] {
        let plain = [UInt8](repeating: 0x61, count: size)
        let packed = packer.pack(plain.span) ?? []
        var out: [UInt8] = []
        FrameWriter.append(opcode: 1, rsv1: true, payload: packed.span, mask: 0x0102_0304, into: &out)
        return out
    }

    /// A frame of 16 KiB that inflates to 16 MiB goes on as it came, at once. It is inflated in slices, so that whoever reads can
    /// see to others in between, and all of it, since the next message's compression refers to it.
    @Test func aBombIsInflatedInSlices() throws {
        let parameters = try #require(Self.deflate)
        var packer = MessageDeflater(.toServer, parameters)
        let size = 15 << 20
        let bomb = Self.frame(&packer, size)
        let next = Self.frame(&packer, 300)
        #expect(next.count < 40)
        var frames = InterceptedFrames(.toServer, deflate: parameters)
        let bytes = bomb + next
        var at = 0
        var pieces: [InterceptedPiece] = []
        var messages: [InterceptedMessage] = []
        var slices = 0
        while case let found = frames.feed(bytes.span, from: at), found != .more {
            switch found {
            case .later(let next):
                slices += 1
                #expect(next == bomb.count && frames.owes && frames.heldCount < 2 << 20)
                at = next
            case .piece(let piece, let next):
                #expect(next == bomb.count)
                pieces.append(piece)
                at = next
                #expect(frames.owes == !piece.isLast)
            case .message(let message, let next):
                messages.append(message)
                at = next
            case .control, .more: Issue.record("\(found)")
            }
        }
        #expect(pieces.map(\.raw) == [bomb] + [[UInt8]](repeating: [], count: pieces.count - 1))
        #expect(pieces.allSatisfy { $0.endsFrame && ($0.plain?.count ?? 0) <= InterceptedFrames.limit + 1 })
        #expect(pieces.dropFirst().allSatisfy { ($0.plain?.count ?? 0) <= InterceptedFrames.sliceLimit + 1 })
        #expect(slices == InterceptedFrames.limit / InterceptedFrames.sliceLimit - 1)
        #expect(pieces.reduce(0) { $0 + ($1.plain?.count ?? 0) } == size)
        #expect(pieces.map(\.isFirst) == [true] + [Bool](repeating: false, count: pieces.count - 1))
        #expect(pieces.map(\.isLast) == [Bool](repeating: false, count: pieces.count - 1) + [true])
        #expect(messages.map(\.payload.count) == [300] && messages.map(\.raw) == [next])
    }

    /// A close frame within a message: the server has to hear both in the order in which they were said, and what follows, too.
    @Test(arguments: [1, 3, 1_000]) func aCloseWithinAMessageStaysInItsPlace(cut: Int) {
        var bytes: [UInt8] = []
        FrameWriter.append(opcode: 1, fin: false, payload: Array("fragment1".utf8).span, mask: 7, into: &bytes)
        FrameWriter.append(opcode: 8, fin: true, payload: ([0x03, 0xe8] as [UInt8]).span, mask: 8, into: &bytes)
        FrameWriter.append(opcode: 0, fin: true, payload: Array("fragment2".utf8).span, mask: 9, into: &bytes)
        var frames = InterceptedFrames(.toServer)
        var passed: [UInt8] = []
        var closes = 0
        var from = 0
        while from < bytes.count {
            let end = min(bytes.count, from + cut)
            let part = Array(bytes[from..<end])
            var at = 0
            reading: while true {
                switch frames.feed(part.span, from: at) {
                case .more: break reading
                case .later(let next): at = next
                case .piece(let piece, let next):
                    passed += piece.raw
                    at = next
                case .control(let control, let next):
                    passed += control.raw
                    closes += control.opcode == 8 ? 1 : 0
                    at = next
                case .message(let message, _):
                    Issue.record("\(message)")
                    break reading
                }
            }
            from = end
        }
        #expect(passed == bytes)
        #expect(closes == 1)
    }

    /// One that inflates to more than 16 MiB ends what is understood of its direction; its bytes and those behind it go on.
    @Test func aBombThatIsTooLarge() throws {
        let parameters = try #require(Self.deflate)
        var packer = MessageDeflater(.toServer, parameters)
        let bytes = Self.frame(&packer, 17 << 20) + [1, 2, 3]
        var frames = InterceptedFrames(.toServer, deflate: parameters)
        var at = 0
        var passed: [UInt8] = []
        while case let found = frames.feed(bytes.span, from: at), found != .more {
            switch found {
            case .later(let next): at = next
            case .piece(let piece, let next):
                passed += piece.raw
                at = next
            case .message, .control, .more: Issue.record("\(found)")
            }
        }
        #expect(passed == bytes && at == bytes.count && !frames.owes)
    }

    /// Whatever length a peer writes: what is held comes out as it came.
    @Test(
        arguments: [
            0, 125, 126, 65_535, 65_536, 1 << 31, 1 << 32, 1 << 53, 1 << 62, .max >> 1, 1 << 63, .max,
        ] as [UInt64])
    func lengthsAtTheirLimits(_ length: UInt64) {
        let big = (0..<8).map { UInt8(truncatingIfNeeded: length >> UInt64(8 * (7 - $0))) }
        for opcode in 0...15 as ClosedRange<UInt8> {
            for bytes in [[0x80 | opcode, 0xff] + big + [1, 2, 3, 4, 5], [opcode, 0x7f] + big + [5, 6]] {
                for direction in Direction.allCases {
                    var frames = InterceptedFrames(direction)
                    var passed: [UInt8] = []
                    var at = 0
                    reading: while true {
                        switch frames.feed(bytes.span, from: at) {
                        case .more: break reading
                        case .later(let next): at = next
                        case .message(let message, let next):
                            passed += message.raw
                            at = next
                        case .control(let control, let next):
                            passed += control.raw
                            at = next
                        case .piece(let piece, let next):
                            passed += piece.raw
                            at = next
                        }
                    }
                    #expect(passed + frames.takeRest() == bytes)
                }
            }
        }
    }
}
