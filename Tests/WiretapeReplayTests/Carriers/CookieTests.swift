import Testing
import WiretapeAttempts
import WiretapeProtocol
import WiretapeReport
import WiretapeWire

@Suite struct CookieTests {
    @Test func cookiesOfTheNegotiationAreSet() throws {
        var session = TestTape.session(TestTape.handshake)
        session.negotiate?.response = ResponseHead(
            status: 200,
            headers: [
                HeaderField("Set-Cookie", "affinity=a=b; Path=/; HttpOnly"),
                HeaderField("set-cookie", "plain=1"),
            ])
        let play = try Playbook([session])
        let c = play.request("POST", "/chat/negotiate?negotiateVersion=1")
        #expect(play.answers[c]?.headers.all("Set-Cookie") == ["affinity=a=b; Path=/; HttpOnly", "plain=1"])
    }

    /// Header fields about one connection, one moment or the recorded body are not played.
    @Test func headerFieldsOfRecordedResponsesArePlayed() throws {
        var session = TestTape.session(TestTape.handshake)
        let recorded = [
            HeaderField("X-Room", "blue"), HeaderField("Set-Cookie", "sid=abc"), HeaderField("Date", "yesterday"),
            HeaderField("Content-Length", "99"), HeaderField("Content-Encoding", "gzip"),
            HeaderField("Sec-WebSocket-Accept", "x"), HeaderField("Access-Control-Allow-Origin", "https://x"),
        ]
        session.negotiate?.response = ResponseHead(status: 200, headers: recorded)
        session.opening.response = ResponseHead(status: 101, headers: recorded)
        let play = try Playbook([session])
        let token = try #require(play.negotiate())
        let negotiated = try #require(play.answers.values.first { $0.headers.first("X-Room") != nil })
        #expect(negotiated.headers.map(\.name) == ["Content-Type", "X-Room", "Set-Cookie"])
        let c = play.upgrade(token)
        #expect(play.upgrades[c]?.map(\.name) == ["X-Room", "Set-Cookie"])
        _ = play.finish()
    }

    @Test func aRecordedRefusalIsGivenAgainAndTheNextAttemptTakesTheNextSession() throws {
        var refused = TestTape.session("", number: 1, transport: .http)
        refused.opening = StreamOpening(request: RequestHead(method: "POST", target: "/chat/negotiate"))
        refused.negotiate = nil
        refused.refusal = .init(
            ResponseHead(
                status: 503, reason: "Busy",
                headers: [
                    HeaderField("Retry-After", "1"), HeaderField("Date", "yesterday"),
                    HeaderField("Content-Length", "99"),
                    HeaderField("Transfer-Encoding", "chunked"),
                    HeaderField("Access-Control-Allow-Origin", "https://x"),
                ]), body: Array("busy".utf8))
        let play = try Playbook([refused, TestTape.session(TestTape.handshake, number: 2)])
        let c = play.request("POST", "/chat/negotiate?negotiateVersion=1", [HeaderField("Origin", "http://a")])
        play.expect(c, "503 busy")
        #expect(
            play.answers[c]?.headers.map(\.name) == [
                "Retry-After", "Access-Control-Allow-Origin", "Access-Control-Allow-Credentials", "Vary",
            ])
        let (_, poll) = try play.startPolling()
        play.expect(poll)
        let report = play.finish()
        #expect(report.sessions.map(\.session) == [1, 2] && report.verdict == .pass)
        #expect(report.sessions[0].attempts[0].ended?.how == .status(503))
    }
}
