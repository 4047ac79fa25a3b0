import Testing
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

@Suite struct RouteTests {
    private func session(_ query: String, number: Int = 1) -> RecordedSession {
        TestTape.session(TestTape.handshake, number: number, query: query)
    }

    private let upgrade = [HeaderField("Upgrade", "websocket")]

    @Test func whatIsBelowARouteIsMappedWithIt() throws {
        let play = try Playbook([TestTape.session(TestTape.handshake, route: "/api/v1/chat")]) {
            $0.routing.routes = [
                ReplayOptions.Route(from: "/", to: "/api/v1"), ReplayOptions.Route(from: "/old", to: "/api/v1/"),
            ]
        }
        #expect(play.negotiate("/chat") == "token-1")
        #expect(play.negotiate("/old/chat") != nil)
        #expect(play.negotiate("/oldest/chat") == nil)
    }

    @Test func pseudonymsAreNeverCompared() throws {
        let play = try Playbook([session("room=a&key=td_3&")])
        #expect(play.take(play.request("GET", "/chat?room=a&key=secret", upgrade)) == ["101"])
    }

    @Test func otherItemsAreCompared() throws {
        let play = try Playbook([session("room=a&")])
        for query in ["", "?room=b", "?room=a&more=1"] {
            let c = play.request("GET", "/chat\(query)", upgrade)
            #expect(play.answers[c]?.status == 404, "\(query)")
        }
        let order = try Playbook([session("a=1&b=2&")])
        #expect(order.take(order.request("GET", "/chat?b=2&a=1", upgrade)) == ["101"])
    }

    @Test func aSubprotocolMustBeOffered() throws {
        var one = session("")
        one.opening.response?.headers = [HeaderField("Sec-WebSocket-Protocol", "v2")]
        let play = try Playbook([one])
        let c = play.request("GET", "/chat", upgrade + [HeaderField("Sec-WebSocket-Protocol", "v1")])
        #expect(play.answers[c]?.status == 404)
        let both = upgrade + [HeaderField("Sec-WebSocket-Protocol", "v1, v2")]
        #expect(play.take(play.request("GET", "/chat", both)) == ["101"])
    }

    @Test func aMissMayBeAStatusOrGoOn() throws {
        // No session is claimed here, which is told apart from the miss.
        let status = try Playbook([session("")]) {
            ($0.routing.onMiss, $0.ending.allowsUnplayed) = (.status(204), true)
        }
        let c = status.request("GET", "/favicon.ico")
        #expect(status.answers[c]?.status == 204 && status.answers[c]?.body == [])
        #expect(status.finish().verdict == .pass)
        let through = try Playbook([session("")]) {
            ($0.routing.onMiss, $0.ending.allowsUnplayed) = (.passthrough, true)
        }
        #expect(through.take(through.request("GET", "/favicon.ico")) == ["through"])
        #expect(through.finish().verdict == .pass)
    }

    @Test func divergencesMayBeIgnored() throws {
        let ignore = try Playbook([session("")]) { ($0.onDivergence, $0.ending.allowsUnplayed) = (.ignore, true) }
        let c = ignore.request("GET", "/favicon.ico")
        #expect(ignore.answers[c]?.status == 404)
        #expect(ignore.finish().verdict == .pass)
        let stall = try Playbook([session("")]) { $0.onDivergence = .stall }
        #expect(stall.take(stall.request("GET", "/favicon.ico")) == [])
        #expect(stall.finish().verdict == .diverged)
    }

    @Test func theEndpointHasWhatFindsTheSession() {
        #expect(session("room=a&_=3&").endpoint == "/chat?room=a")
        #expect(session("").endpoint == "/chat")
    }
}
