import Testing
import WiretapeBytes
import WiretapeProxy
import WiretapeSimulation
import WiretapeWire

/// Clients that a server sends elsewhere come back.
@Suite struct LeadBackTests {
    private func get(_ target: String, port: UInt16 = 8080, _ fields: String = "") -> String {
        "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\(fields)\r\n"
    }

    private func found(_ location: String, _ more: String = "") -> String {
        "HTTP/1.1 302 Found\r\nLocation: \(location)\r\n\(more)Content-Length: 0\r\n\r\n"
    }

    @Test(arguments: [false, true])
    func aRedirectLeadsToAListenerThatStandsForTheOtherHost(isWatched: Bool) throws {
        let stage = try LeadBackStage(isWatched: isWatched) { host, head, _ in
            host == "a.example" && head.target == "/in"
                ? found("http://b.example/there?x=1") : HTTPOrigin.ok("\(host)\(head.target)")
        }
        let answer = stage.ask(get("/in"))
        let port = try #require(LeadBackStage.port(in: answer))
        #expect(answer == found("http://127.0.0.1:\(port)/there?x=1"))
        #expect(stage.ask(get("/there?x=1", port: port), port: port).hasSuffix("b.example/there?x=1"))
        #expect(LeadBackStage.port(in: stage.ask(get("/in"))) == port)
        #expect(stage.asked.map(\.host) == ["a.example", "b.example", "a.example"])
        #expect(stage.asked[1].head.headers.first("Host") == "b.example")
        #expect(stage.sayings.all.count == 1)
        let lines = stage.finish()
        // Both hosts are on the tape, and each side's words as it said them.
        #expect(lines.contains { $0.contains(#""upstream":"http://b.example""#) })
        #expect(lines.contains { $0.contains(#"["Location","http://b.example/there?x=1"]"#) })
        #expect(lines.contains { $0.contains(#"["Host","127.0.0.1:\#(port)"]"#) })
        #expect(!lines.contains { $0.contains(#"["Location","http://127.0.0.1"#) })
    }

    @Test func offLeavesEveryByte() throws {
        let words = found("http://b.example/", "Set-Cookie: a=b; Domain=a.example; Secure\r\nAlt-Svc: h3\r\n")
        let stage = try LeadBackStage(nil) { _, _, _ in words }
        #expect(stage.ask(get("/", "Origin: http://127.0.0.1:8080\r\n")) == words)
        #expect(stage.asked[0].head.headers.first("Origin") == "http://127.0.0.1:8080")
        _ = stage.finish()
    }

    @Test(arguments: [false, true], UInt64(1)...4)
    func aNegotiationLeadsBack(isWatched: Bool, seed: UInt64) throws {
        let body = #"{"url":"http://b.example/client/?hub=chat","accessToken":"t","availableTransports":[]}"#
        let stage = try LeadBackStage(seed: seed, conditions: seed == 1 ? .calm : .rough, isWatched: isWatched) {
            host, head, _ in
            guard host == "a.example" else {
                return HTTPOrigin.ok(head.headers.first("Authorization") ?? "none")
            }
            // In chunks, and with a head that must not be lost.
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
            return head + HTTPOrigin.chunk(String(body.prefix(20))) + HTTPOrigin.chunk(String(body.dropFirst(20)))
                + "0\r\n\r\n"
        }
        let post = "POST /chat/negotiate?a=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Length: 0\r\n\r\n"
        let answer = stage.ask(post)
        let port = try #require(LeadBackStage.port(in: answer))
        #expect(answer.contains("Content-Type: application/json\r\n"))
        #expect(answer.contains(body.replacing("http://b.example/", with: "http://127.0.0.1:\(port)/")))
        let second =
            "POST /client/negotiate?hub=chat HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer t\r\n"
        #expect(stage.ask(second + "Content-Length: 0\r\n\r\n", port: port).hasSuffix("\r\n\r\nBearer t"))
        let lines = stage.finish()
        #expect(lines.contains { $0.contains("http://b.example/client/?hub=chat") })
    }

    @Test(arguments: [
        (#"{"connectionId":"x","availableTransports":[]}"#, ""), ("<html>", ""), ("", ""),
        (String(repeating: "x", count: 70_000), ""), (#"{"url":"/client"}"#, "Content-Encoding: gzip\r\n"),
    ])
    func anAnswerThatLeadsNowherePassesAsItIs(_ body: String, _ field: String) throws {
        let words = "HTTP/1.1 200 OK\r\n\(field)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        let stage = try LeadBackStage { _, _, _ in words }
        #expect(stage.ask("POST /negotiate HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n") == words)
        _ = stage.finish()
    }

    @Test func whatTheServerSaysBeforeAndBehindAnAnswerStaysWhereItWas() throws {
        let stage = try LeadBackStage { _, head, _ in
            head.target == "/b" ? found("http://b.example/") : HTTPOrigin.ok(head.target)
        }
        let answer = stage.ask(get("/a") + get("/b") + get("/c"))
        let port = try #require(LeadBackStage.port(in: answer))
        #expect(answer == HTTPOrigin.ok("/a") + found("http://127.0.0.1:\(port)/") + HTTPOrigin.ok("/c"))
        _ = stage.finish()
    }

    @Test(arguments: [false, true])
    func theServerHearsItsOwnOriginAndThePageItsOwn(isWatched: Bool) throws {
        let stage = try LeadBackStage(isWatched: isWatched) { _, head, _ in
            HTTPOrigin.ok("x", ["Access-Control-Allow-Origin: \(head.headers.first("Origin") ?? "none")"])
        }
        let page = "http://localhost:8080"
        let answer = stage.ask(get("/", "Origin: \(page)\r\nReferer: http://127.0.0.1:8080/page?a=1\r\n"))
        #expect(stage.asked[0].head.headers.first("Origin") == "http://a.example")
        #expect(stage.asked[0].head.headers.first("Referer") == "http://a.example/page?a=1")
        #expect(answer.contains("Access-Control-Allow-Origin: \(page)\r\n"))
        // A page of somebody else stays what it is.
        let other = stage.ask(get("/", "Origin: http://localhost:3000\r\n"))
        #expect(stage.asked[1].head.headers.first("Origin") == "http://localhost:3000")
        #expect(other.contains("Access-Control-Allow-Origin: http://localhost:3000\r\n"))
        #expect(stage.finish().contains { $0.contains(#"["Origin","http://localhost:8080"]"#) })
    }

    @Test func theClientsHostKeepsItsOrigin() throws {
        var options = RelayOptions()
        options.keepHost = true
        let stage = try LeadBackStage(options: options) { _, head, _ in
            found("http://\(head.headers.first("Host") ?? "")/own")
        }
        let answer = stage.ask(get("/", "Origin: http://127.0.0.1:8080\r\n"))
        #expect(answer == found("http://127.0.0.1:8080/own"))
        #expect(stage.asked[0].head.headers.first("Origin") == "http://127.0.0.1:8080")
        _ = stage.finish()
    }

    @Test func cookiesAreMadeForUsAndThoseThatCannotWorkAreTold() throws {
        let stage = try LeadBackStage { _, _, _ in
            HTTPOrigin.ok("x", ["Set-Cookie: s=1; Domain=a.example; Secure", "Set-Cookie: __Host-t=1; Secure; Path=/"])
        }
        let answer = stage.ask(get("/"))
        #expect(answer.contains("Set-Cookie: s=1\r\nSet-Cookie: __Host-t=1; Path=/\r\n"))
        _ = stage.ask(get("/"))
        #expect(stage.sayings.all.count == 1)
        #expect(stage.sayings.all.first?.contains("'__Host-t'") == true)
        _ = stage.finish()
    }

    @Test func hostsThatAreLeftOutStayWhereTheyAre() throws {
        let rules = try LeadBackRules([], only: .none, bypass: HostPatterns(["b.example"]))
        let stage = try LeadBackStage(rules) { _, _, _ in found("http://b.example/x") }
        #expect(stage.ask(get("/")) == found("http://b.example/x"))
        _ = stage.finish()
    }

    @Test(arguments: [false, true])
    func placesThatAreNamedLeadBack(isWatched: Bool) throws {
        let rules = try LeadBackRules(["GET /config:/hub"], only: .none, bypass: .none)
        let stage = try LeadBackStage(rules, isWatched: isWatched) { _, _, _ in
            HTTPOrigin.ok(#"{"hub":"ws://b.example/hub"}"#)
        }
        let answer = stage.ask(get("/config"))
        let port = try #require(LeadBackStage.port(in: answer, behind: "ws://127.0.0.1:"))
        #expect(answer == HTTPOrigin.ok(#"{"hub":"ws://127.0.0.1:\#(port)/hub"}"#))
        #expect(stage.ask(get("/other")) == HTTPOrigin.ok(#"{"hub":"ws://b.example/hub"}"#))
        _ = stage.finish()
    }

    @Test func circlesAreToldAndEnd() throws {
        let stage = try LeadBackStage { host, _, _ in
            found(host == "a.example" ? "http://b.example/x" : "http://a.example/x")
        }
        var port: UInt16 = 8080
        var hops = 0
        var answer = ""
        while hops < 300 {
            answer = stage.ask(get("/x", port: port), port: port)
            guard let next = LeadBackStage.port(in: answer) else { break }
            port = next
            hops += 1
        }
        #expect(hops == 200)
        #expect(answer.hasPrefix("HTTP/1.1 508 Loop Detected\r\n"))
        #expect(stage.troubles.all.count == 2)
        #expect(stage.troubles.all.first?.contains("20 redirects one after the other") == true)
        _ = stage.finish()
    }

    @Test func manyClientsThatAreLedOnAreNoCircle() throws {
        var times = 0
        let stage = try LeadBackStage { host, _, _ in
            times += 1
            return host == "a.example" && times % 3 == 1
                ? found("http://b.example/sso")
                : host == "b.example" ? found("http://a.example/x") : HTTPOrigin.ok("in")
        }
        for _ in 0..<150 {
            let port = try #require(LeadBackStage.port(in: stage.ask(get("/x"))))
            _ = stage.ask(get("/sso", port: port), port: port)
            #expect(stage.ask(get("/x")).hasSuffix("in"))
        }
        #expect(stage.troubles.all == [])
        _ = stage.finish()
    }
}
