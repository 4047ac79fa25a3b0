import Testing
import WiretapeBytes
import WiretapeWire

/// Where clients of a proxy want to go, as they and people write it.
struct ForwardTargetTests {
    @Test(
        arguments: [
            ("chat.example.com:8443", "chat.example.com", 8443), ("Chat.Example.com.:80", "chat.example.com", 80),
            ("[::1]:5000", "::1", 5000), ("127.0.0.1:1", "127.0.0.1", 1),
        ] as [(String, String, UInt16)])
    func authorities(text: String, host: String, port: UInt16) throws {
        let target = try #require(ForwardTarget(authority: text))
        #expect(target == ForwardTarget(host: host, port: port))
    }

    @Test(arguments: [
        "chat.example.com", "", ":80", "a:", "a:0", "a:65536", "a:b", "[::1", "[a]:80", "a b:80", "u@a:80", "a/b:80",
        "::1:80",
        "[::1]80",
    ])
    func whatIsNone(text: String) { #expect(ForwardTarget(authority: text) == nil) }

    @Test func namesLeaveOutTheSchemesOwnPort() {
        #expect(ForwardTarget(host: "a.example", port: 443).name(isTLS: true) == "a.example")
        #expect(ForwardTarget(host: "a.example", port: 443).name(isTLS: false) == "a.example:443")
        #expect(ForwardTarget(host: "a.example", port: 80).name(isTLS: false) == "a.example")
        #expect(ForwardTarget(host: "::1", port: 5000).name(isTLS: false) == "[::1]:5000")
    }

    @Test func theOriginsOfAHostHaveTwoNamesOnATape() {
        #expect(ForwardTarget(host: "a.example", port: 443).tapeName(isTLS: true) == "a.example")
        #expect(ForwardTarget(host: "a.example", port: 80).tapeName(isTLS: false) == "a.example:80")
        #expect(ForwardTarget(host: "a.example", port: 443).tapeName(isTLS: false) == "a.example:443")
        #expect(ForwardTarget(host: "::1", port: 80).tapeName(isTLS: false) == "[::1]:80")
        for (name, other) in [
            ("a.example", "a.example:80"), ("a.example:80", "a.example"), ("[::1]", "[::1]:80"), ("[::1]:80", "[::1]"),
            ("a.example:443", nil), ("127.0.0.1:5000", nil),
        ] {
            #expect(ForwardTarget.otherOrigin(of: name) == other)
        }
    }

    @Test func onlyPlainRequestsAreInAbsoluteForm() {
        func target(_ text: String) -> ForwardTarget? {
            ForwardTarget(absolute: RequestHead(method: "GET", target: text))
        }
        #expect(target("http://a.example/x") == ForwardTarget(host: "a.example", port: 80))
        #expect(target("HTTP://a.example:81") == ForwardTarget(host: "a.example", port: 81))
        #expect(target("https://a.example/") == nil)
        #expect(target("/http://a.example/") == nil)
        #expect(target("ftp://a.example/") == nil)
    }

    @Test(arguments: [
        ("GET http://a.example/x?y=1 HTTP/1.1", "GET /x?y=1 HTTP/1.1"),
        ("GET http://a.example HTTP/1.1", "GET / HTTP/1.1"),
        ("GET http://a.example?q HTTP/1.1", "GET /?q HTTP/1.1"), ("GET /x HTTP/1.1", "GET /x HTTP/1.1"),
        ("GET http://a/b?u=http://c/ HTTP/1.0", "GET /b?u=http://c/ HTTP/1.0"),
    ])
    func theServerGetsTheOriginForm(line: String, wanted: String) {
        let fields =
            "Host: a.example\r\nProxy-Connection: keep-alive\r\nX: 1\r\nproxy-authorization: Basic eDp5\r\n\r\n"
        let raw = HTTPHeadWriter.originForm(Array("\(line)\r\n\(fields)".utf8))
        #expect(String(decoding: raw, as: UTF8.self) == "\(wanted)\r\nHost: a.example\r\nX: 1\r\n\r\n")
    }

    @Test func patternsChooseHosts() throws {
        let patterns = try HostPatterns(["*.example.com", "127.0.0.1:5000", "[::1]:80", "Chat.test"])
        func matches(_ host: String, _ port: UInt16) -> Bool { patterns.matches(ForwardTarget(host: host, port: port)) }
        #expect(matches("a.example.com", 443) && matches("a.b.example.com", 1) && !matches("example.com", 443))
        #expect(!matches("badexample.com", 443))
        #expect(matches("127.0.0.1", 5000) && !matches("127.0.0.1", 5001))
        #expect(matches("::1", 80) && !matches("::1", 81))
        #expect(matches("chat.test", 9))
        #expect(try HostPatterns(["*"]).matches(ForwardTarget(host: "x", port: 1)))
        #expect(try !HostPatterns([]).matches(ForwardTarget(host: "x", port: 1)))
        #expect(patterns.environmentValue == ".example.com,127.0.0.1:5000,::1:80,chat.test")
        for text in ["", "http://a", "a b", "*.*", "a:x", "a/b"] {
            #expect(throws: OptionError.self, "\(text)") { try HostPatterns([text]) }
        }
    }
}
