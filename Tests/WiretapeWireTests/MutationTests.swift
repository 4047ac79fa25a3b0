import Testing
import WiretapeBytes
import WiretapeWire

/// Whatever the bytes, a machine neither traps nor stands still, and tells the same whole and in pieces.
struct MutationTests {
    /// `fixture` with one to four bytes changed, taken away, doubled or moved.
    private func mutated(_ fixture: [UInt8], _ draw: inout SplitMix64) -> [UInt8] {
        var bytes = fixture
        for _ in 0...draw.below(4) {
            let at = draw.below(bytes.count)
            switch draw.below(6) {
            case 0: bytes[at] = UInt8(truncatingIfNeeded: draw.next())
            case 1: bytes[at] ^= 1 << UInt8(draw.below(8))
            case 2: bytes.remove(at: at)
            case 3: bytes.insert([0, 9, 10, 13, 32, 58, 127, 255][draw.below(8)], at: at)
            case 4: bytes.insert(contentsOf: bytes[at..<min(bytes.count, at + 8)], at: at)
            default: bytes.removeLast(draw.below(bytes.count / 2 + 1))
            }
            if bytes.isEmpty { bytes = [0] }
        }
        return bytes
    }

    private func cut(_ bytes: [UInt8], _ draw: inout SplitMix64) -> [[UInt8]] {
        var way: [[UInt8]] = []
        var at = 0
        while at < bytes.count {
            let next = min(bytes.count, at + 1 + draw.below(40))
            way.append(Array(bytes[at..<next]))
            at = next
        }
        return way
    }

    @Test(arguments: 0..<4)
    func http(seed: UInt64) {
        var draw = SplitMix64(seed: seed)
        let answers = Array(
            """
            HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\nT: u\r\n\r\n\
            HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcdHTTP/1.1 304 Not Modified\r\n\r\nHTTP/1.0 200 OK\r\n\r\nrest
            """.utf8)
        for _ in 0..<3000 {
            let request = mutated(HTTPScannerTests.requests, &draw)
            #expect(
                HTTPHeard.hear(.toServer, [request], fin: true)
                    == HTTPHeard.hear(.toServer, cut(request, &draw), fin: true))
            let answer = mutated(answers, &draw)
            #expect(
                HTTPHeard.hear(.toClient, [answer], fin: true)
                    == HTTPHeard.hear(.toClient, cut(answer, &draw), fin: true))
        }
    }

    @Test(arguments: 0..<4)
    func frames(seed: UInt64) {
        var draw = SplitMix64(seed: seed)
        let fixture = FrameScannerTests.vectors.flatMap(hex)
        var parameters = DeflateParameters()
        parameters.serverMaxWindowBits = 10
        for _ in 0..<3000 {
            let bytes = mutated(fixture, &draw)
            let way = cut(bytes, &draw)
            #expect(FrameScannerTests.frames([bytes]) == FrameScannerTests.frames(way))
            for direction in Direction.allCases {
                #expect(
                    MessageAssemblerTests.hear(direction, [bytes], deflate: parameters)
                        == MessageAssemblerTests.hear(direction, way, deflate: parameters))
            }
        }
    }

    @Test(arguments: 0..<4)
    func events(seed: UInt64) {
        var draw = SplitMix64(seed: seed)
        for _ in 0..<3000 {
            let bytes = mutated(SSEReaderTests.stream, &draw)
            #expect(SSEReaderTests.hear([bytes], limit: 24) == SSEReaderTests.hear(cut(bytes, &draw), limit: 24))
        }
    }

    @Test(arguments: 0..<4)
    func parts(seed: UInt64) {
        var draw = SplitMix64(seed: seed)
        for _ in 0..<3000 {
            let bytes = mutated(MultipartReaderTests.router, &draw)
            #expect(
                MultipartReaderTests.hear([bytes], limit: 60)
                    == MultipartReaderTests.hear(cut(bytes, &draw), limit: 60))
        }
    }

    @Test func noise() {
        var draw = SplitMix64(seed: 99)
        for _ in 0..<3000 {
            let bytes = (0..<draw.below(300)).map { _ in UInt8(truncatingIfNeeded: draw.next()) }
            #expect(FrameScannerTests.frames([bytes]) == FrameScannerTests.frames(cut(bytes, &draw)))
            let heard = HTTPHeard.hear(.toServer, [bytes])
            #expect(heard == HTTPHeard.hear(.toServer, cut(bytes, &draw)))
        }
    }
}
