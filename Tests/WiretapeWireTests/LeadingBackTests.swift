import Testing
import WiretapeBytes
import WiretapeWire

/// What becomes of the fields of an answer that would lead its client away.
@Suite struct LeadingBackTests {
    private func leading(
        isTLS: Bool = false, isForward: Bool = false, page: (told: String, own: String)? = nil,
        except bypassed: String = "stays.example"
    ) -> LeadingBack {
        LeadingBack(
            server: WebOrigin(ForwardTarget(host: "chat.example", port: 443), isTLS: true), isTLS: isTLS,
            isForward: isForward, fields: ["x-hub-url"], page: page
        ) { $0.target.host == bypassed ? nil : $0.target.host == "chat.example" ? "127.0.0.1:5001" : "127.0.0.1:5002" }
    }

    @Test(arguments: [
        ("Location", "https://chat.example/a?b=1#c", "http://127.0.0.1:5001/a?b=1#c"),
        ("location", "HTTPS://Other.example:8443", "http://127.0.0.1:5002"),
        ("Location", "//other.example/x", "http://127.0.0.1:5002/x"),
        ("Content-Location", "http://other.example?x", "http://127.0.0.1:5002?x"),
        ("X-Hub-Url", "wss://other.example/hub", "ws://127.0.0.1:5002/hub"),
        ("Refresh", "5; url=https://other.example/x", "5; url=http://127.0.0.1:5002/x"),
        ("Refresh", "0;URL='https://other.example/x'", "0;URL='http://127.0.0.1:5002/x'"),
    ])
    func addressesLeadBack(_ name: String, _ value: String, _ led: String) {
        #expect(leading().edit(name, value) == .value(led))
    }

    @Test(arguments: [
        ("Location", "/a"), ("Location", "https://stays.example/"), ("Location", "mailto:a@b.example"),
        ("Location", "https://user@other.example/"), ("Location", "https://"), ("Refresh", "5"),
        ("Refresh", "5; url=/x"),
        ("X-Other", "https://other.example/"), ("Access-Control-Allow-Origin", "*"), ("Set-Cookie", "a=b; Path=/"),
    ])
    func everythingElseStays(_ name: String, _ value: String) { #expect(leading().edit(name, value) == .keep) }

    @Test func overTLSAddressesHaveIts() {
        #expect(leading(isTLS: true).url("ws://other.example/x") == "wss://127.0.0.1:5002/x")
        #expect(leading(isForward: true).url("ws://other.example/x") == nil)
    }

    @Test func whatTellsTheClientToComeOtherwiseIsTakenOut() {
        #expect(leading().edit("Alt-Svc", "h3=\":443\"") == .drop)
        #expect(leading(isTLS: true).edit("strict-transport-security", "max-age=1") == .drop)
        #expect(leading(isForward: true).edit("Alt-Svc", "h3=\":443\"") == .keep)
    }

    @Test(arguments: [
        (
            "sid=a=b; Domain=.chat.example; Path=/; Secure; HttpOnly; SameSite=None", "sid=a=b; Path=/; HttpOnly",
            "sid=a=b; Path=/; Secure; HttpOnly; SameSite=None"
        ),
        ("__Host-s=1;path=/;SECURE;Partitioned", "__Host-s=1;path=/", "__Host-s=1;path=/;SECURE;Partitioned"),
        ("a=secure; samesite = lax; DOMAIN=x", "a=secure; samesite = lax", "a=secure; samesite = lax"),
    ])
    func cookiesAreForTheHostAndTheSchemeThatTheClientKnows(_ cookie: String, _ plain: String, _ secure: String) {
        #expect(leading().edit("Set-Cookie", cookie) == .value(plain))
        let overTLS = leading(isTLS: true).edit("Set-Cookie", cookie)
        #expect(overTLS == (secure == cookie ? .keep : .value(secure)))
    }

    @Test func aCookieWhosePrefixAsksForTLSIsNamed() {
        #expect(LeadingBack.impossibleOverPlain("__Secure-a=1; Secure") == "__Secure-a")
        #expect(LeadingBack.impossibleOverPlain("__host-a=1") == "__host-a")
        #expect(LeadingBack.impossibleOverPlain("a=__Host-") == nil)
    }

    @Test func thePageIsToldItsOwnOrigin() {
        let page = (told: "https://chat.example", own: "http://localhost:5001")
        #expect(leading(page: page).edit("access-control-allow-origin", "https://chat.example") == .value(page.own))
        #expect(leading(page: page).edit("access-control-allow-origin", "https://x.example") == .keep)
    }

    @Test func onlyHeadsThatHaveSuchAFieldAreOfConcern() {
        let plain = ["Date", "Content-Type", "Content-Length", "Server", "Vary", "Location-X", "Cache-Control"]
        #expect(!LeadingBack.concerns(plain.map { HeaderField($0, "x") }, []))
        for name in ["LOCATION", "set-cookie", "Refresh", "alt-svc", "Content-Location", "Strict-Transport-Security"] {
            #expect(LeadingBack.concerns([HeaderField(name, "x")], []))
        }
        #expect(LeadingBack.concerns([HeaderField("X-Hub-Url", "x")], ["x-hub-url"]))
    }

    @Test func aHeadKeepsEveryOtherByte() {
        let raw = "HTTP/1.1 302  Found\r\nlocation:https://other.example/\u{e9}\r\nX:  a \r\nAlt-Svc: clear\nY:\r\n\r\n"
        let bytes = raw.unicodeScalars.map { UInt8($0.value) }
        let edited = HTTPHeadWriter.editing(bytes, leading().edit)
        let wanted = "HTTP/1.1 302  Found\r\nlocation: http://127.0.0.1:5002/\u{e9}\r\nX:  a \r\nY:\r\n\r\n"
        #expect(edited == wanted.unicodeScalars.map { UInt8($0.value) })
        #expect(HTTPHeadWriter.editing(Array("HTTP/1.1 200 OK\r\n\r\n".utf8), leading().edit) == nil)
    }

    // MARK: What a person names

    private func rules(_ texts: [String], only: [String] = [], bypass: [String] = []) throws -> LeadBackRules {
        try LeadBackRules(texts, only: HostPatterns(only), bypass: HostPatterns(bypass))
    }

    @Test func namedPlacesOfBodiesLeadBack() throws {
        let rules = try rules(["GET /config:/hubs/*/url", "/any:/x"])
        let body = Array(
            #"{"hubs":[{"url":"https://a.example/x"},{"url":"/y","n":1.50}],"x":"https://b.example"}"#.utf8)
        let get = RequestHead(method: "GET", target: "/config?a=1")
        let led = rules.leading(body, to: get) { $0.hasPrefix("https") ? "http://here" : nil }
        #expect(
            led.map { String(decoding: $0, as: UTF8.self) }
                == #"{"hubs":[{"url":"http://here"},{"url":"/y","n":1.50}],"x":"https://b.example"}"#)
        #expect(rules.names(get) && rules.names(RequestHead(method: "POST", target: "/any")))
        #expect(!rules.names(RequestHead(method: "POST", target: "/config")))
        #expect(rules.leading(Array("<html>".utf8), to: get) { _ in "x" } == nil)
        #expect(rules.leading(Array("{}".utf8), to: get) { _ in "x" } == nil)
    }

    @Test func hostsAreLeftOutWhenTheyAreNamed() throws {
        let a = WebOrigin(ForwardTarget(host: "a.example", port: 443), isTLS: true)
        #expect(try rules([]).leads(a))
        #expect(try !rules([], bypass: ["*.example"]).leads(a))
        #expect(try !rules([], only: ["b.example"]).leads(a))
        #expect(try rules([], only: ["a.example:443"]).leads(a))
    }

    @Test(arguments: ["", "off ", "GET  /x:/y", "get /x:/y", "/x", "x:/y", "a b", "GET /a /b:/c"])
    func whatIsNoPlaceIsRefused(_ text: String) {
        #expect(throws: OptionError.self) { try LeadBackRules.check(text) }
    }

    @Test(arguments: ["off", "X-Hub-Url", "*:/url", "GET *:/a/0", "/x:/"])
    func placesAreTaken(_ text: String) throws { try LeadBackRules.check(text) }
}
