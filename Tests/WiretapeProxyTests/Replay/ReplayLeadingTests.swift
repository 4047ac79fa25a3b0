import Testing
import WiretapeBytes
import WiretapeCodecs
import WiretapeProxy
import WiretapeReplay
internal import WiretapeReplayServer
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

/// Recorded answers that would lead a client to a real server lead to the replay's listeners.
@Suite struct ReplayLeadingTests {
    private static let servers: [(name: String, server: WebOrigin)] = [
        ("chat", WebOrigin(ForwardTarget(host: "chat.example", port: 443), isTLS: true)),
        ("news", WebOrigin(ForwardTarget(host: "news.example", port: 443), isTLS: true)),
    ]

    /// What a client of a listener gets of a recorded answer, with `CHAT` and `NEWS` for the ports of the two listeners.
    private func ask(
        _ request: String, _ answer: HTTPAnswer, _ leading: ReplayLeading, of upstreams: [String?] = [nil],
        at index: Int = 0
    ) throws -> String {
        let loop = SimulatedLoop(seed: 1, conditions: .calm)
        let driver = ScriptedDriver()
        driver.onRequest = { c, _, out in out.append(.respond(c, answer, thenClose: true)) }
        let server = ReplayService(loop, driver: driver, leading: leading)
        let addresses = try upstreams.map { try server.listen(on: Address(host: "127.0.0.1", port: 0), upstream: $0) }
        let peer = ScriptedPeer()
        peer.onConnect = { $0.send(request) }
        peer.stream = loop.connect(to: addresses[index], peer)
        _ = loop.run(until: loop.now.advanced(by: 10_000_000_000))
        server.stop {}
        _ = loop.run(until: loop.now.advanced(by: 10_000_000_000))
        var text = peer.text
        for (address, name) in zip(addresses, ["CHAT", "NEWS"]) {
            text = text.replacing(":\(address.port)/", with: ":\(name)/")
        }
        return text
    }

    private func get(_ target: String = "/", _ more: String = "") -> String {
        "GET \(target) HTTP/1.1\r\nHost: localhost:1\r\n\(more)\r\n"
    }

    private func found(_ location: String, _ more: [HeaderField] = []) -> HTTPAnswer {
        HTTPAnswer(status: 302, headers: [HeaderField("Location", location)] + more)
    }

    @Test(arguments: ["https://chat.example/x", "http://nobody.example:81/x", "//cdn.example/x"])
    func everyAddressLeadsToTheListenerThatWasAsked(_ location: String) throws {
        let text = try ask(get(), found(location), ReplayLeading())
        #expect(text.contains("Location: http://localhost:1/x\r\n"), "\(text)")
    }

    @Test func addressesOfOtherUpstreamsLeadToTheirListeners() throws {
        let leading = ReplayLeading(.standard, [], upstreams: Self.servers)
        for (location, own) in [
            ("https://news.example/x", "http://localhost:NEWS/x"), ("https://chat.example/x", "http://localhost:1/x"),
            ("https://nobody.example/x", "http://localhost:1/x"),
        ] {
            let text = try ask(get(), found(location), leading, of: ["chat", "news"])
            #expect(text.contains("Location: \(own)\r\n"), "\(text)")
        }
        // What is no upstream was recorded beside the first.
        let text = try ask(get(), found("https://nobody.example/x"), leading, of: ["chat", "news"], at: 1)
        #expect(text.contains("Location: http://localhost:CHAT/x\r\n"), "\(text)")
    }

    @Test func aProxyWithTLSInFrontIsHeardOf() throws {
        let text = try ask(
            get("/", "X-Forwarded-Proto: https\r\n"),
            found("https://chat.example/x", [HeaderField("Set-Cookie", "a=b; Domain=chat.example; Secure")]),
            ReplayLeading())
        #expect(text.contains("Location: https://localhost:1/x\r\nSet-Cookie: a=b; Secure\r\n"), "\(text)")
    }

    @Test func cookiesAreMadeForPlainHTTP() throws {
        let cookie = HeaderField("Set-Cookie", "a=b; Path=/; Domain=.chat.example; Secure; HttpOnly; SameSite=None")
        let text = try ask(get(), HTTPAnswer(status: 200, headers: [cookie]), ReplayLeading(nil))
        #expect(text.contains("Set-Cookie: a=b; Path=/; HttpOnly\r\n"), "\(text)")
    }

    @Test func negotiationsAndNamedPlacesLeadHere() throws {
        let body = Array(#"{"url":"https://service.example/client/?hub=a","accessToken":"t"}"#.utf8)
        let leading = ReplayLeading(.standard, Codecs.all)
        let post = "POST /chat/negotiate HTTP/1.1\r\nHost: localhost:1\r\nContent-Length: 0\r\n\r\n"
        let text = try ask(post, HTTPAnswer(status: 200, body: body), leading)
        #expect(text.hasSuffix(#"{"url":"http://localhost:1/client/?hub=a","accessToken":"t"}"#), "\(text)")
        #expect(
            try ask(get("/chat"), HTTPAnswer(status: 200, body: body), leading).hasSuffix(
                String(decoding: body, as: UTF8.self)))
        let named = ReplayLeading(try LeadBackRules(["*:/url"], only: .none, bypass: .none))
        #expect(
            try ask(get("/chat"), HTTPAnswer(status: 200, body: body), named).contains("http://localhost:1/client/"))
    }

    @Test func offAndHostsThatAreLeftOutStay() throws {
        let bypassed = try LeadBackRules([], only: .none, bypass: HostPatterns(["chat.example"]))
        for leading in [ReplayLeading(nil), ReplayLeading(bypassed), ReplayLeading(nil, isForward: true)] {
            #expect(
                try ask(get(), found("https://chat.example/x"), leading).contains(
                    "Location: https://chat.example/x\r\n"))
        }
    }
}
