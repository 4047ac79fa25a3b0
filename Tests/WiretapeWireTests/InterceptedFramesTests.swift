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
}
