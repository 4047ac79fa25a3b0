import Testing
import WiretapeBytes
import WiretapeWire

/// Asking a proxy for a way.
@Suite struct ViaHandshakeTests {
    private func handshake(_ via: String, _ host: String, _ port: UInt16 = 443) throws -> ViaHandshake {
        ViaHandshake(try ViaProxy(parsing: via), to: ForwardTarget(host: host, port: port))
    }

    private func feed(_ handshake: inout ViaHandshake, _ bytes: [UInt8]) -> ViaHandshake.Outcome {
        handshake.feed(bytes.span)
    }

    @Test func connectAsksByNameAndKeepsWhatFollows() throws {
        var way = try handshake("http://u:p@10.0.0.1:3128", "::1")
        #expect(
            String(decoding: way.greeting, as: UTF8.self)
                == "CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\nProxy-Authorization: Basic dTpw\r\n\r\n")
        #expect(feed(&way, Array("HTTP/1.0 200 ok\r\nVia: x\r\n\r".utf8)) == .more)
        #expect(feed(&way, Array("\nSSH".utf8)) == .open(rest: Array("SSH".utf8)))
    }

    @Test(arguments: [
        "HTTP/1.1 403 no\r\n\r\n", "SSH-2.0\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", String(repeating: "x", count: 17_000),
    ])
    func whatIsNoWayIsRefused(_ answer: String) throws {
        var way = try handshake("http://p.example:1", "a.example")
        guard case .refused(let why) = feed(&way, Array(answer.utf8)) else {
            Issue.record("not refused")
            return
        }
        #expect(why.hasPrefix("the proxy http://p.example:1 "))
    }

    @Test func socksTellsAddressesAsSuch() throws {
        var way = try handshake("socks5://p.example:1", "10.1.2.3", 80)
        #expect(way.greeting == [5, 1, 0])
        #expect(feed(&way, [5]) == .more)
        #expect(feed(&way, [0]) == .send([5, 1, 0, 1, 10, 1, 2, 3, 0, 80]))
        var way6 = try handshake("socks5h://p.example:1", "2001:db8::5:1", 80)
        let address: [UInt8] = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 1]
        #expect(feed(&way6, [5, 0]) == .send([5, 1, 0, 4] + address + [0, 80]))
        #expect(feed(&way6, [5, 0, 0, 4] + address + [0]) == .more)
        #expect(feed(&way6, [80, 7]) == .open(rest: [7]))
    }

    @Test func aPasswordThatIsRefusedIsNotSaid() throws {
        var way = try handshake("socks5://ann:secret@p.example:1", "a.example")
        #expect(feed(&way, [5, 2]) == .send([1, 3] + Array("ann".utf8) + [6] + Array("secret".utf8)))
        #expect(
            feed(&way, [1, 1]) == .refused("the proxy socks5://p.example:1 refuses the name and the password of --via"))
        #expect("\(try ViaProxy(parsing: "http://ann:secret@p.example:1"))" == "http://p.example:1")
    }

    @Test(arguments: [
        "p:1", "https://p:1", "http://p", "http://p:0", "socks5://:x@p:1", "socks5://u@p:1", "http://u:secret@", "",
    ])
    func whatIsNoProxyIsRefusedWithoutSayingIt(_ text: String) {
        let error = #expect(throws: OptionError.self) { try ViaProxy(parsing: text) }
        #expect(error?.message.contains("secret") == false)
    }

    @Test func absoluteForm() {
        let raw = Array("GET /x?y HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        let out = HTTPHeadWriter.absoluteForm(raw, of: "a:5000", authorization: nil)
        #expect(String(decoding: out, as: UTF8.self) == "GET http://a:5000/x?y HTTP/1.1\r\nHost: a\r\n\r\n")
        let star = Array("OPTIONS * HTTP/1.1\r\n\r\n".utf8)
        #expect(HTTPHeadWriter.absoluteForm(star, of: "a", authorization: "x") == star)
    }
}
