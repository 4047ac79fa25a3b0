import Testing
import WiretapeBytes
import WiretapeCapture
import WiretapeProtocol
import WiretapeWire

/// Packets that can be taken for something else: each was met in a capture that had been changed at random.
struct MisleadingPacketsTests {
    private typealias Turns = [(fromClient: Bool, bytes: [UInt8])]

    private static func ask(_ n: Int) -> (Bool, [UInt8]) { (true, Array("GET /\(n) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)) }
    private static func answer(_ n: Int) -> (Bool, [UInt8]) {
        (false, Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n0\(n)".utf8))
    }

    /// A frame of a server.
    private static func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
        [first, UInt8(payload.count)] + payload
    }

    private static let upgrade =
        "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    private static let accepted = "HTTP/1.1 101 Switching Protocols\r\n\r\n"

    /// The kinds of events, messages with what they say, in order.
    private static func kinds(_ imported: Imported) -> [String] {
        imported.events.map { event in
            switch event.kind {
            case .open: "open"
            case .request(_, let head, _): "request \(head.target)"
            case .response(let x, let head, _, _, _, _): "response \(head.status) to \(x)"
            case .message(_, _, let bytes, _, _): "message \(String(decoding: bytes, as: UTF8.self))"
            case .part(_, _, _, let bytes, _): "part \(String(decoding: bytes, as: UTF8.self))"
            case .missing(let direction, _): "missing \(direction)"
            case .ping: "ping"
            case .pong: "pong"
            case .close: "close"
            case .frame: "frame"
            case .gone(let party, _, _): "gone \(party)"
            case .unknown(let kind): kind
            case .chunk, .end, .fault, .mark, .take, .gap, .stop: "other"
            }
        }
    }

    /// Packets that were captured twice, the second time behind the end of their connection, open no other one.
    @Test(arguments: [true, false]) func aSecondSYNBehindTheEndOpensNothing(isFirstThere: Bool) throws {
        var capture = SyntheticCapture([Self.ask(1), Self.answer(1)])
        let again = Array(capture.packets.prefix(4))
        if !isFirstThere { capture.packets.removeFirst() }
        let once = try Imported(capture.bytes)
        capture.packets += again
        let twice = try Imported(capture.bytes)
        #expect(Self.kinds(twice) == Self.kinds(once))
        #expect(twice.report.connections == 1)
    }

    /// The same ends may have another connection, which another SYN tells.
    @Test func anotherSYNBehindTheEndOpensAnother() throws {
        var capture = SyntheticCapture([Self.ask(1), Self.answer(1)])
        capture.packets += SyntheticCapture([Self.ask(2), Self.answer(2)], start: 5_000_000).packets
        let imported = try Imported(capture.bytes)
        #expect(Self.kinds(imported).count { $0 == "open" } == 2)
        #expect(Self.kinds(imported).contains("request /2"))
    }

    /// The last bytes of a frame whose beginning was lost look like a frame themselves, and a whole one follows them.
    @Test func theEndOfAFrameIsNoFrame() throws {
        let long = Self.frame(0x82, Array(repeating: 7, count: 20) + [0x01, 0x01, 0x00])
        let turns: Turns = [
            (true, Array(Self.upgrade.utf8)), (false, Array(Self.accepted.utf8)), (false, Array(long.prefix(22))),
            (false, Array(long.suffix(3)) + Self.frame(0x81, Array("two".utf8))),
            (false, Self.frame(0x81, Array("three".utf8))),
            (false, Self.frame(0x81, Array("four".utf8))),
        ]
        var capture = SyntheticCapture(turns)
        #expect(Self.kinds(try Imported(capture.bytes)).contains("message two"))
        // Bytes from the middle of the head before the frame to within it are missing.
        capture.packets[3].payload.removeLast(2)
        capture.packets.remove(at: 4)
        let imported = try Imported(capture.bytes)
        #expect(!Self.kinds(imported).contains { $0.hasPrefix("part") || $0 == "message two" })
        #expect(Self.kinds(imported).contains("missing toClient"))

        // A frame that nobody saw begin: what follows may not be believed before a read of whole frames has passed.
        capture = SyntheticCapture(turns)
        capture.packets[4].payload.removeFirst(4)
        capture.packets[4].sequence &+= 4
        capture.packets[4].payload.removeLast(4)
        let torn = try Imported(capture.bytes)
        #expect(!Self.kinds(torn).contains { $0.hasPrefix("part") })
        #expect(Self.kinds(torn).contains("message four"))
    }

    /// The beginning of a request to upgrade was lost, and its end came late: it is no frame.
    @Test func theEndOfARequestIsNoFrame() throws {
        let frames = (0..<3).map { n in [0x89, 0x84, 1, 2, 3, 4, UInt8(n), 0, 0, 0] as [UInt8] }
        var capture = SyntheticCapture(
            [
                (true, Array(Self.upgrade.utf8)), (false, Array(Self.accepted.utf8)), (true, frames[0]),
                (true, frames[1]),
                (true, frames[2]),
            ])
        #expect(Self.kinds(try Imported(capture.bytes)).count { $0 == "ping" } == 3)
        // Its last bytes happen to be a ping.
        let head = capture.packets[2]
        capture.packets[2].payload = Array(head.payload.suffix(12))
        capture.packets[2].payload.replaceSubrange(0..<12, with: [0x89, 0x86, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
        capture.packets[2].sequence = head.sequence &+ UInt32(head.payload.count - 12)
        capture.packets.swapAt(2, 3)
        let imported = try Imported(capture.bytes)
        #expect(Self.kinds(imported).contains("missing toServer"))
        let pings = Self.kinds(imported).count { $0 == "ping" }
        #expect(pings < 3, "\(Self.kinds(imported))")
        let gap = try #require(Self.kinds(imported).lastIndex(of: "missing toServer"))
        let tunnel = try #require(Self.kinds(imported).firstIndex(of: "response 101 to 0"))
        #expect(gap > tunnel)
    }

    /// A segment that was sent again with more behind it acknowledges the request that was sent in between, and that one the
    /// segment's first bytes: each stands in its place.
    @Test func whatWasSentAgainWithMoreIsInItsPlace() throws {
        var capture = SyntheticCapture([
            Self.ask(1), Self.answer(1), Self.ask(2), Self.answer(2), Self.ask(3), Self.answer(3),
        ])
        // The last bytes of the first answer are in the packet of the second one only.
        let lost = Array(capture.packets[3].payload.suffix(5))
        capture.packets[3].payload.removeLast(5)
        capture.packets[5].payload = lost + capture.packets[5].payload
        capture.packets[5].sequence &-= 5
        let imported = try Imported(capture.bytes)
        #expect(imported.report.gaps == 0)
        let expected = (1...3).flatMap { ["request /\($0)", "response 200 to \($0)"] }
        #expect(Self.kinds(imported).filter { $0.hasPrefix("re") } == expected)
    }
}
