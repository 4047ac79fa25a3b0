import Testing
import WiretapeWire

/// What two readers could frame in different ways, and other hostile heads: refused with the right status, in every split.
struct HTTPSmugglingTests {
    static let post = "POST / HTTP/1.1\r\nHost: x\r\n"
    static let chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"

    static let refused: [(String, Int)] = [
        (post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", 400),
        (post + "transfer-encoding: chunked\r\ncontent-length: 0\r\n\r\n", 400),
        (post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n", 400),
        (post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\n", 400),
        (post + "Content-Length: 5, 5\r\n\r\n", 400), (post + "Content-Length: +5\r\n\r\n", 400),
        (post + "Content-Length: -1\r\n\r\n", 400), (post + "Content-Length: 0x5\r\n\r\n", 400),
        (post + "Content-Length: 5 5\r\n\r\n", 400), (post + "Content-Length:\r\n\r\n", 400),
        (post + "Content-Length: ٥\r\n\r\n", 400), (post + "Content-Length: 9223372036854775808\r\n\r\n", 400),
        (post + "Content-Length: 99999999999999999999999999\r\n\r\n", 400),
        (post + "Content-Length : 5\r\n\r\n", 400), (post + "Content-Length\t: 5\r\n\r\n", 400),
        (post + "Content-Length: 5\n\r\n", 400), (post + "X: a\r\n Content-Length: 5\r\n\r\n", 400),
        (post + "X: a\r\n\tb\r\n\r\n", 400), (post + " X: a\r\n\r\n", 400), (post + "X: a\rb\r\n\r\n", 400),
        (post + "X: a\r\rb\r\n\r\n", 400), (post + "X: a\u{0}b\r\n\r\n", 400), (post + "X\u{0}: b\r\n\r\n", 400),
        (post + ": b\r\n\r\n", 400), (post + "nothing\r\n\r\n", 400), (post + "X y: b\r\n\r\n", 400),
        (post + "(x): b\r\n\r\n", 400), (post + "Ünicode: b\r\n\r\n", 400),
        (post + "Transfer-Encoding: chunked, identity\r\n\r\n", 400),
        (post + "Transfer-Encoding: identity\r\n\r\n", 400), (post + "Transfer-Encoding: xchunked\r\n\r\n", 400),
        (post + "Transfer-Encoding: chunked, chunked\r\n\r\n", 400),
        (post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n", 400),
        (post + "Transfer-Encoding:\r\n\r\n", 400), (post + "Transfer-Encoding: \u{b}chunked\r\n\r\n", 400),
        (post + "Transfer-Encoding: chunked;q=1\r\n\r\n", 400),
        (post + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501),
        ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("POST / HTTP/1.1\nHost: x\nContent-Length: 5\n\n", 400),
        ("POST / HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\n", 400),
        ("GET / HTTP/1.1\nHost: x\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: x\n\r\n", 400),
        ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n", 400),
        ("GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400), ("GET / HTTP/1.1 \r\nHost: x\r\n\r\n", 400),
        ("GET /\tHTTP/1.1\r\nHost: x\r\n\r\n", 400), ("GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        ("GET /\u{1} HTTP/1.1\r\nHost: x\r\n\r\n", 400), ("GET /\u{7f} HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        ("GET / \r\n\r\n", 400), ("GET /\r\n\r\n", 400), ("GET\r\n\r\n", 400),
        ("GET / http/1.1\r\nHost: x\r\n\r\n", 400),
        ("GET / HTTP/1.x\r\nHost: x\r\n\r\n", 400), ("GET / HTTP/11\r\nHost: x\r\n\r\n", 505),
        ("GET / HTTP/1.2\r\nHost: x\r\n\r\n", 505), ("GET / HTTP/0.9\r\nHost: x\r\n\r\n", 505),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505), ("G(T / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        (String(repeating: "G", count: 65) + " / HTTP/1.1\r\nHost: x\r\n\r\n", 501),
        ("\u{16}\u{3}\u{1}", 400), ("\u{0}", 400), (" GET / HTTP/1.1\r\n\r\n", 400),
        ("\rGET / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        (String(repeating: "\r\n", count: 17), 400),
        (chunked + "G\r\n", 400), (chunked + "\r\n", 400), (chunked + "-1\r\n", 400), (chunked + "0x5\r\n", 400),
        (chunked + "5 \r\nhello", 400), (chunked + " 5\r\nhello", 400), (chunked + "5\nhello", 400),
        (chunked + "5\rhello", 400), (chunked + "5;a\nb\r\n", 400), (chunked + "5;a\rb\r\n", 400),
        (chunked + "5;a\u{0}b\r\n", 400), (chunked + "ffffffffffffffff\r\n", 400),
        (chunked + "8000000000000000\r\n", 400), (chunked + "10000000000000005\r\nhello", 400),
        (chunked + "5\r\nhello!\r\n", 400), (chunked + "5\r\nhello\n", 400), (chunked + "5\r\nhello\r!", 400),
        (chunked + "0\r\nX : y\r\n\r\n", 400), (chunked + "0\r\nX: y\n\r\n", 400), (chunked + "0\r\n\n", 400),
        (chunked + "0\r\n X: y\r\n\r\n", 400),
    ]

    @Test(arguments: refused)
    func refusedInEverySplit(text: String, status: Int) {
        for way in pieces(of: Array(text.utf8), random: 3) {
            let heard = HTTPHeard.hear(.toServer, way)
            let verdict = heard.last { if case .rest = $0 { false } else { true } }
            #expect(verdict == .bad(status), "\(way.map(\.count))")
            // What came before the fault is told, and nothing else is.
            for event in heard.dropLast() {
                switch event {
                case .request, .body, .bad, .rest: break
                case .response, .end, .finish: Issue.record("\(event)")
                }
            }
        }
    }

    /// Not pretty, and harmless: real pairs send it.
    static let accepted: [(String, HTTPFraming)] = [
        ("GET / HTTP/1.1\nHost: x\n\n", .none), ("\r\n\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", .none),
        ("GET / HTTP/1.0\r\n\r\n", .none), ("PROPFIND * HTTP/1.1\r\nHost:\r\n\r\n", .none),
        ("GET http://x/y?z HTTP/1.1\r\nHost: x\r\n\r\n", .none), ("GET /ü\u{80} HTTP/1.1\r\nHost: ü\r\n\r\n", .none),
        ("GET / HTTP/1.1\r\nHost: x\r\nX: \u{1}\u{7f}\r\nY:\r\n\r\n", .none),
        (post + "Content-Length: 00\r\n\r\n", .length(0)),
        (post + "Content-Length:\t9223372036854775807 \r\n\r\n", .length(1 << 63 - 1)),
        (post + "TRANSFER-ENCODING: Chunked\r\n\r\n", .chunked),
    ]

    @Test(arguments: accepted)
    func acceptedInEverySplit(text: String, framing: HTTPFraming) {
        let bytes = Array(text.utf8)
        for way in pieces(of: bytes, random: 3) {
            guard case .request(let head, let info) = HTTPHeard.hear(.toServer, way).first else {
                Issue.record("\(way.map(\.count))")
                return
            }
            #expect(info.framing == framing)
            #expect(bytes.suffix(info.raw.count) == info.raw[...])
            var written: [UInt8] = []
            HTTPHeadWriter.append(head, into: &written)
            #expect(
                written.filter { $0 != 0x0d && $0 != 0x20 && $0 != 0x09 }
                    == info.raw.filter { $0 != 0x0d && $0 != 0x20 && $0 != 0x09 })
        }
    }

    static let responses: [(String, Bool)] = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n", false),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n", false),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\nContent-Length: 2\r\n\r\n", true),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n", false),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", true),
        ("HTTP/1.1 200 OK\r\nX : y\r\n\r\n", false), ("HTTP/1.1 200 OK\r\nX: y\r\n z\r\n\r\n", false),
        ("HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n", false), ("HTTP/1.1 200 OK\r\nX: y\nY: z\r\n\r\n", true),
        ("HTTP/1.1 2000 OK\r\n\r\n", false), ("HTTP/1.1 20 OK\r\n\r\n", false), ("HTTP/1.1 099 OK\r\n\r\n", false),
        ("HTTP/2 200\r\n\r\n", false), ("ICY 200 OK\r\n\r\n", false), ("SSH-2.0-x\r\n", false),
        ("HTTP/1.1\r\n\r\n", false),
        ("HTTP/1.1  200 OK\r\n\r\n", false), ("HTTP/1.1 999 \u{fc}\r\n\r\n", true), ("HTTP/1.1 200\r\n\r\n", true),
    ]

    @Test(arguments: responses)
    func responsesOfBrokenServers(text: String, isAccepted: Bool) {
        for way in pieces(of: Array(text.utf8), random: 3) {
            guard let first = HTTPHeard.hear(.toClient, way).first else {
                Issue.record("nothing heard")
                return
            }
            if case .response = first { #expect(isAccepted) } else { #expect(!isAccepted && first == .bad(502)) }
        }
    }

    @Test(arguments: [
        ("GET /" + String(repeating: "a", count: 70_000), 414),
        ("GET / HTTP/1.1\r\nHost: x\r\nX: " + String(repeating: "a", count: 70_000), 431),
        ("GET / HTTP/1.1\r\nHost: x\r\n" + String(repeating: "X: a\r\n", count: 1025) + "\r\n", 431),
        (chunked + "5;" + String(repeating: "a", count: 20_000), 400),
        (chunked + String(repeating: "0", count: 20_000), 400),
        (chunked + "0\r\nX: " + String(repeating: "a", count: 70_000), 431),
    ])
    func withoutEnd(text: String, status: Int) {
        let bytes = Array(text.utf8)
        for way in [
            [bytes], bytes.map { [$0] }, pieces(of: Array(bytes.prefix(100)))[0] + [Array(bytes.dropFirst(100))],
        ] {
            let heard = HTTPHeard.hear(.toServer, way)
            #expect(heard.contains(.bad(status)))
        }
    }

    @Test func heldBytesAreBounded() {
        var scanner = HTTPScanner(.toServer)
        let piece = Array(repeating: UInt8(ascii: "A"), count: 5000)
        var most = 0
        for _ in 0..<100 {
            _ = scanner.scan(piece.span, from: 0)
            most = max(most, scanner.partialHead.count)
        }
        #expect(most <= HTTPScanner.headLimit)
    }
}
