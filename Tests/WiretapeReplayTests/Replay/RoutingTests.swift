import Testing
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

@Suite struct RoutingTests {
    private let chat = TestTape.session(TestTape.handshake)

    @Test func aRouteThatTheTapeHasNotIsAMissWithTheRoutesThatItHas() throws {
        let play = try Playbook([chat, TestTape.session(TestTape.handshake, number: 2)])
        let c = play.request("GET", "/v2/chat", [HeaderField("Upgrade", "websocket")])
        #expect(play.answers[c]?.status == 404)
        let golden = try Golden.text("no-session")
        #expect(play.logs == [golden])
        #expect("wiretape: \(String(decoding: play.answers[c]?.body ?? [], as: UTF8.self))" == golden + "\n")
        let report = play.finish()
        #expect(report.verdict == .diverged && report.exitCode == 2 && report.unclaimed == [1, 2])
    }

    @Test func routesAreMapped() throws {
        let play = try Playbook([chat]) { $0.routing.routes = [ReplayOptions.Route(from: "/v2/chat", to: "/chat")] }
        #expect(play.negotiate("/v2/chat") == "token-1")
        #expect(play.take(play.upgrade("token-1", "/v2/chat")) == ["101"])
    }

    @Test func skippedNegotiationGoesByPathAndStableQuery() throws {
        let play = try Playbook([
            TestTape.session(TestTape.handshake, query: "room=a&"),
            TestTape.session(TestTape.handshake, number: 2, query: "room=b&"),
        ])
        let upgrade = [HeaderField("Upgrade", "websocket")]
        #expect(play.take(play.request("GET", "/chat?room=b&_=17", upgrade)) == ["101"])
        #expect(play.finish().sessions.map(\.session) == [2])
        let wrong = play.request("GET", "/chat?room=c", upgrade)
        #expect(play.answers[wrong]?.status == 404)
    }

    @Test func negotiationOffersWhatIsServed() throws {
        let play = try Playbook([chat])
        let c = play.request("POST", "/chat/negotiate?negotiateVersion=1")
        let body = try JSONValue(parsing: play.answers[c]?.body ?? [])
        #expect(body.value(at: "/availableTransports/0/transport")?.string == "WebSockets")
        #expect(
            body["availableTransports"]?.array?.map { $0["transport"]?.string } == [
                "WebSockets", "ServerSentEvents", "LongPolling",
            ])
    }

    @Test func aSessionThatNoTransportCanServeIsRefusedReadably() throws {
        let play = try Playbook([TestTape.session(TestTape.handshake, transport: .lp)]) { $0.transports = [.stream] }
        let c = play.request("POST", "/chat/negotiate?negotiateVersion=1")
        let body = try JSONValue(parsing: play.answers[c]?.body ?? [])
        #expect(
            body["error"]?.string == "session 1 of chat.tape can be served over ws, sse, lp only (--transports stream)")
        #expect(play.finish().exitCode == 2)
    }

    @Test func preflightsAreAnsweredAndOriginsAllowed() throws {
        let play = try Playbook([chat])
        let origin = HeaderField("Origin", "http://localhost:3000")
        let c = play.request(
            "OPTIONS", "/chat/negotiate",
            [
                origin, HeaderField("Access-Control-Request-Method", "POST"),
                HeaderField("Access-Control-Request-Headers", "x-requested-with"),
            ])
        let preflight = try #require(play.answers[c])
        #expect(preflight.status == 204)
        #expect(preflight.headers.first("Access-Control-Allow-Headers") == "x-requested-with")
        #expect(preflight.headers.first("Access-Control-Allow-Methods") == "POST")
        play.ask(c, "POST", "/chat/negotiate?negotiateVersion=1", [origin])
        #expect(play.answers[c]?.headers.first("Access-Control-Allow-Origin") == origin.value)
        #expect(play.answers[c]?.headers.first("Access-Control-Allow-Credentials") == "true")
        #expect(play.logs.isEmpty)
    }

    @Test func unknownTokensAndOtherTransportsAreRefused() throws {
        let play = try Playbook([chat])
        #expect(play.take(play.upgrade("nobody")) == ["404 No Connection with that ID"])
        let poll = play.request("GET", "/chat?id=token-1")
        #expect(play.answers[poll]?.status == 404)
        // Nobody had a session, which is said, and nothing else.
        let report = play.finish()
        #expect(report.divergences.isEmpty && report.nobody?.contains("instead came GET /chat (2 times)") == true)
    }

    @Test func theRecordedSubprotocolMustBeOffered() throws {
        var session = chat
        session.opening.response = ResponseHead(status: 101, headers: [HeaderField("Sec-WebSocket-Protocol", "v2")])
        let play = try Playbook([session])
        let upgrade = HeaderField("Upgrade", "websocket")
        let wrong = play.request("GET", "/chat", [upgrade])
        #expect(play.answers[wrong]?.status == 404)
        let right = play.request("GET", "/chat", [upgrade, HeaderField("Sec-WebSocket-Protocol", "v1, v2")])
        #expect(play.take(right) == ["101"])
    }
}
