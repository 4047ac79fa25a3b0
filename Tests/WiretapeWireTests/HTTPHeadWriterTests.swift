import Testing
import WiretapeWire

struct HTTPHeadWriterTests {
    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: old:1\r\nX:  y \r\n\r\n", "GET / HTTP/1.1\r\nHost: new\r\nX:  y \r\n\r\n"),
        ("GET / HTTP/1.1\r\nX: Host: z\r\nhOSt:old\r\n\r\n", "GET / HTTP/1.1\r\nX: Host: z\r\nhOSt: new\r\n\r\n"),
        ("GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.0\r\nHost: new\r\n\r\n"),
        ("GET / HTTP/1.0\n\n", "GET / HTTP/1.0\nHost: new\n\n"),
        ("GET / HTTP/1.1\nHost:\n\n", "GET / HTTP/1.1\nHost: new\n\n"),
        ("GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET / HTTP/1.1\r\nHost: new\r\n\r\n"),
        ("GET / HTTP/1.1\r\nHostile: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: new\r\nHostile: a\r\n\r\n"),
    ])
    func hostIsReplaced(raw: String, rewritten: String) {
        let bytes = HTTPHeadWriter.rewritingHost(Array(raw.utf8), to: "new")
        #expect(String(decoding: bytes, as: UTF8.self) == rewritten)
    }

    @Test func headsComeBackAsTheyWere() {
        let raw = Array("GET /\u{fc}?q HTTP/1.1\r\nHost: x\r\nX-Name: \u{20ac}\r\n\r\n".utf8)
        guard case .request(let head, _) = HTTPHeard.hear(.toServer, [raw]).first else {
            Issue.record("no request")
            return
        }
        var written: [UInt8] = []
        HTTPHeadWriter.append(head, into: &written)
        #expect(written == raw)
    }

    @Test func answersCarryTheirOwnLength() {
        let answer = HTTPAnswer(
            status: 409, headers: [HeaderField("content-length", "99"), HeaderField("X", "a\r\nSet-Cookie: b")],
            body: Array("hi".utf8))
        func text(isHead: Bool = false, version: String = "1.1", keepAlive: Bool = true) -> String {
            var out: [UInt8] = []
            HTTPHeadWriter.append(
                answer, isHead: isHead, version: version, keepAlive: keepAlive, date: "today", into: &out)
            return String(decoding: out, as: UTF8.self)
        }
        let head = "HTTP/1.1 409 Conflict\r\nX: a  Set-Cookie: b\r\nContent-Length: 2\r\nDate: today\r\n"
        #expect(text() == head + "\r\nhi")
        #expect(text(isHead: true) == head + "\r\n")
        #expect(text(keepAlive: false) == head + "Connection: close\r\n\r\nhi")
        #expect(text(version: "1.0") == head + "Connection: keep-alive\r\n\r\nhi")
    }

    @Test(arguments: [nil, "99"]) func anAnswerToAHeadMayHaveTheLengthOfItsBody(_ length: String?) {
        let answer = HTTPAnswer(status: 200, headers: length.map { [HeaderField("Content-Length", $0)] } ?? [])
        var out: [UInt8] = []
        HTTPHeadWriter.append(answer, isHead: true, into: &out)
        let field = length.map { "Content-Length: \($0)\r\n" } ?? ""
        #expect(String(decoding: out, as: UTF8.self) == "HTTP/1.1 200 OK\r\n\(field)\r\n")
    }

    @Test func noBodyWhereNoneMayBe() {
        var out: [UInt8] = []
        HTTPHeadWriter.append(HTTPAnswer(status: 204, body: [1, 2]), into: &out)
        #expect(String(decoding: out, as: UTF8.self) == "HTTP/1.1 204 No Content\r\n\r\n")
    }
}
