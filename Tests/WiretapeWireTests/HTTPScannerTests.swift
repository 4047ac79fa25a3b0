import Testing
import WiretapeWire

struct HTTPScannerTests {
    /// Two pipelined requests, one chunked with an extension and a trailer.
    static let requests = Array(
        """
        POST /a?b=c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\
        5;name="v"\r\nhello\r\nA\r\n, world!!!\r\n0\r\nX-Sum: 1\r\n\r\n\
        GET /chat HTTP/1.1\r\nHost:x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\n
        """.utf8)

    @Test func requestsInEverySplit() {
        for way in pieces(of: Self.requests) {
            let heard = HTTPHeard.hear(.toServer, way, fin: true)
            #expect(heard.count == 6)
            guard heard.count == 6, case .request(let post, let postInfo) = heard[0],
                case .request(let get, let getInfo) = heard[3]
            else {
                Issue.record("\(heard)")
                return
            }
            #expect(post.method == "POST" && post.target == "/a?b=c" && post.version == "1.1")
            #expect(post.headers == [HeaderField("Host", "x"), HeaderField("Transfer-Encoding", "chunked")])
            #expect(postInfo.framing == .chunked && postInfo.keepAlive && !postInfo.isUpgrade)
            #expect(heard[1] == .body("hello, world!!!"))
            #expect(heard[2] == .end([HeaderField("X-Sum", "1")]))
            #expect(get.target == "/chat" && getInfo.upgradeProtocol == "websocket" && getInfo.framing == .none)
            #expect(getInfo.raw == Array(Self.requests[(Self.requests.count - getInfo.raw.count)...]))
            #expect(heard[4] == .end([]) && heard[5] == .finish(.clean))
        }
    }

    @Test func responsesInEverySplit() {
        let bytes = Array(
            """
            HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello\
            HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nHTTP/1.1 304\r\nContent-Length: 9\r\n\r\n\
            HTTP/1.1 204 \r\n\r\nHTTP/1.1 200 OK\nTransfer-Encoding: Chunked\n\n2 \nhi\n0\n\n\
            HTTP/1.0 200 Fine thing\r\n\r\nuntil the end
            """.utf8)
        for way in pieces(of: bytes) {
            let heard = HTTPHeard.hear(.toClient, way, expecting: ["POST", "HEAD", "GET", "GET"], fin: true)
            let statuses = heard.compactMap {
                if case .response(let head, _) = $0 { head.status } else { nil }
            }
            #expect(statuses == [100, 200, 200, 304, 204, 200, 200])
            let others = heard.filter {
                if case .response = $0 { false } else { true }
            }
            #expect(
                others == [
                    .body("hello"), .end([]), .end([]), .end([]), .end([]), .body("hi"), .end([]),
                    .body("until the end"), .finish(.endOfBody),
                ])
        }
    }

    @Test func nothingIsReadBehindAnUpgrade() {
        let bytes = Array(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\u{1}GET".utf8)
        for way in pieces(of: bytes) {
            let heard = HTTPHeard.hear(.toClient, way, expecting: ["GET"], fin: true)
            #expect(heard.count == 3)
            #expect(heard.dropFirst() == [.rest("\u{1}GET"), .finish(.clean)])
        }
    }

    @Test func aTunnelIsNotScanned() {
        var scanner = HTTPScanner(.toClient)
        scanner.expect(method: "CONNECT")
        let bytes = Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHTTP".utf8)
        guard case .response(_, let info, let next) = scanner.scan(bytes.span, from: 0) else {
            Issue.record("no response")
            return
        }
        #expect(info.framing == .none && next == bytes.count - 4)
        #expect(scanner.scan(bytes.span, from: next) == .more)
    }

    /// Bytes of a head come back in `raw`, all others may be forwarded as they are passed: together they are the input.
    @Test func everyByteIsForwardedOnce() {
        for way in pieces(of: Self.requests) {
            var scanner = HTTPScanner(.toServer)
            var forwarded: [UInt8] = []
            for piece in way {
                var at = 0
                scan: while true {
                    let isHead = scanner.isInHead
                    let next: Int
                    switch scanner.scan(piece.span, from: at) {
                    case .more:
                        if !isHead { forwarded += piece[at...] }
                        break scan
                    case .request(_, let info, let end):
                        forwarded += info.raw
                        at = end
                        continue scan
                    case .body(_, let end), .end(_, let end): next = end
                    case .response, .bad:
                        Issue.record("unexpected")
                        return
                    }
                    if !isHead { forwarded += piece[at..<next] }
                    at = next
                }
            }
            #expect(forwarded == Self.requests)
        }
    }

    @Test(arguments: [
        ("", HTTPFinish.clean), ("\r\n", .clean), ("GET", .cutHead), ("GET / HTTP/1.1\r\nHost: x\r\n", .cutHead),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n1", .cutBody),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n12", .clean),
        ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", .cutBody),
        ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n", .cutBody),
        ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", .clean),
    ])
    func endOfTheConnection(text: String, outcome: HTTPFinish) {
        #expect(HTTPHeard.hear(.toServer, [Array(text.utf8)], fin: true).last == .finish(outcome))
    }
}
