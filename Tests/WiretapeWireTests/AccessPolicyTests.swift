import Testing
import WiretapeBytes
import WiretapeWire

struct AccessPolicyTests {
    private func refusal(
        _ policy: AccessPolicy, host: String?, origin: String? = nil, target: String = "/chat",
        judgesOrigin: Bool = true
    ) -> AccessPolicy.Refusal? {
        var headers: [HeaderField] = []
        if let host { headers.append(HeaderField("Host", host)) }
        if let origin { headers.append(HeaderField("Origin", origin)) }
        return policy.refusal(RequestHead(method: "GET", target: target, headers: headers), judgesOrigin: judgesOrigin)
    }

    @Test(arguments: [
        "localhost", "LocalHost:5000", "localhost.:1", "app.localhost:3000", "127.0.0.1", "127.0.0.1:80", "127.9.9.9",
        "[::1]:5000",
        "[::1]", "10.0.2.2:5000", "[fe80::1%25eth0]:1", "wiretape:5000", "build.local", "hub.internal:1",
    ]) func hostsThatNoPageCanHaveAreLetIn(_ host: String) throws {
        #expect(refusal(try AccessPolicy(hosts: [], origins: []), host: host) == nil)
    }

    @Test(arguments: [
        "evil.example", "evil.example:5000", "localhost.evil.example", "127.0.0.1.evil.example", "evillocalhost.com",
        "127.0.0.1@evil.example", "evil.example.", "0x7f.0.0.1.nip.io", "1.2.3", "127.0.0.01", "", "[::1",
        "[evil.example]",
        "localhost:80:80", "localhost:x", "evil.example\u{1B}[31m", "local.com",
    ]) func othersAreRefusedWithTheWayIn(_ host: String) throws {
        let policy = try AccessPolicy(hosts: ["good.example", "*.below.example"], origins: [])
        let found = try #require(refusal(policy, host: host))
        #expect(found == .host(host))
        #expect(found.reason.contains("--allow-host") && !found.reason.contains("\u{1B}"))
        // A target in absolute form says more than Host.
        if !host.isEmpty {
            #expect(refusal(policy, host: "localhost", target: "http://\(host)/chat") == .host(host))
        }
        // Only `*` lets in what is no name at all.
        #expect(refusal(try AccessPolicy(hosts: ["*"], origins: []), host: host) == nil)
    }

    @Test func whoTakesItForAProxyIsToldOfForwardMode() throws {
        let policy = try AccessPolicy(hosts: ["*"], origins: ["*"])
        let host = [HeaderField("Host", "localhost:5000")]
        for (method, target) in [("GET", "http://localhost:5000/chat"), ("CONNECT", "localhost:5000")] {
            let found = try #require(
                policy.refusal(RequestHead(method: method, target: target, headers: host), judgesOrigin: false))
            #expect(found == .proxied(target))
            #expect(found.reason.contains("--mode forward") && found.reason.contains(target))
        }
        // A path that looks like one is none, nor is the form of OPTIONS.
        for (method, target) in [("GET", "/http://localhost/chat"), ("OPTIONS", "*")] {
            let head = RequestHead(method: method, target: target, headers: host)
            #expect(policy.refusal(head, judgesOrigin: false) == nil)
        }
    }

    @Test func namedHostsAreLetIn() throws {
        let policy = try AccessPolicy(hosts: ["Good.Example:443", "*.below.example"], origins: [])
        for host in ["good.example", "GOOD.example:5000", "a.below.example", "a.b.below.example:1"] {
            #expect(refusal(policy, host: host) == nil, "\(host)")
        }
        for host in ["bad.good.example", "below.example", "xbelow.example"] {
            #expect(refusal(policy, host: host) == .host(host))
        }
        #expect(refusal(policy, host: nil) == nil)
        for text in ["", "http://a", "a/b", "*x", "a b"] {
            #expect(throws: OptionError.self) { try AccessPolicy.host(parsing: text) }
        }
        for text in ["", "a.example", "://a", "https://"] {
            #expect(throws: OptionError.self) { try AccessPolicy.origin(parsing: text) }
        }
    }

    @Test func pagesOfLoopbackAndNamedOnesAreLetIn() throws {
        let policy = try AccessPolicy(hosts: ["hub.example"], origins: ["https://App.example", "null"])
        for origin in [
            "http://localhost:3000", "https://127.0.0.1", "http://[::1]:8080", "capacitor://localhost",
            "https://app.example", "null",
            "http://hub.example:5000",
        ] {
            #expect(refusal(policy, host: "hub.example:5000", origin: origin) == nil, "\(origin)")
        }
        for origin in [
            "https://evil.example", "http://app.example", "https://app.example:444", "http://localhost.evil.example",
            "http://hub.example:5001", "http://10.0.0.1", "localhost", "file://", "http://localhost@evil.example",
        ] {
            #expect(refusal(policy, host: "hub.example:5000", origin: origin) == .origin(origin), "\(origin)")
            #expect(refusal(policy, host: "hub.example:5000", origin: origin, judgesOrigin: false) == nil)
        }
        #expect(refusal(try AccessPolicy(hosts: [], origins: []), host: "localhost", origin: "null") == .origin("null"))
        #expect(
            refusal(try AccessPolicy(hosts: [], origins: ["*"]), host: "localhost", origin: "https://any.example")
                == nil)
    }

    /// Requests of pages that browsers send without `Origin`.
    @Test(arguments: [
        ("cross-site", "http://evil.example/page?x", AccessPolicy.Refusal.origin("http://evil.example")),
        ("cross-site", "http://evil.example", .origin("http://evil.example")), ("Cross-Site", nil, .unknownSite),
        ("cross-site", "nonsense", .unknownSite), ("cross-site", "http://localhost:3000/", nil),
        ("cross-site", "https://app.example/a/b", nil), ("same-site", "http://evil.example/", nil),
        ("same-origin", nil, nil), ("none", nil, nil),
    ])
    func requestsThatCrossSitesAreJudged(_ site: String, _ page: String?, _ expected: AccessPolicy.Refusal?) throws {
        let fields = [("Host", "localhost"), ("Sec-Fetch-Site", site)] + (page.map { [("Referer", $0)] } ?? [])
        let head = RequestHead(method: "GET", target: "/login", headers: fields.map { HeaderField($0.0, $0.1) })
        let policy = try AccessPolicy(hosts: [], origins: ["https://app.example"])
        #expect(policy.refusal(head, judgesOrigin: true) == expected)
        #expect(policy.refusal(head, judgesOrigin: false) == nil)
        #expect(try AccessPolicy(hosts: [], origins: ["*"]).refusal(head, judgesOrigin: true) == nil)
    }

    @Test func credentialsAreForNamedPagesOnly() throws {
        let grant = HTTPAnswer(
            status: 200,
            headers: [
                HeaderField("Access-Control-Allow-Origin", "O"),
                HeaderField("access-control-allow-credentials", "true"),
                HeaderField("Vary", "Origin"),
            ])
        func names(_ origins: [String], _ origin: String) throws -> [String] {
            let head = RequestHead(
                method: "GET", target: "/", headers: [HeaderField("Host", "localhost"), HeaderField("Origin", origin)])
            return try AccessPolicy(hosts: [], origins: origins).restricted(grant, to: head).headers.map(\.name)
        }
        #expect(try names([], "http://localhost:1").count == 3)
        #expect(try names(["https://a.example"], "https://a.example").count == 3)
        #expect(try names(["*"], "https://a.example") == ["Access-Control-Allow-Origin", "Vary"])
        #expect(try names([], "https://a.example") == ["Vary"])
    }
}
