import Testing
import WiretapeAttempts
import WiretapeReplay
import WiretapeReport

/// Rules about requests of HTTP transports, and about messages over long polling.
@Suite struct CarrierFaultTests {
    private static let chat = TestTape.session(
        TestTape.handshake + """
            10 > {"type":1,"target":"Send","arguments":["hi"],"invocationId":"1"}
            20 < {"type":1,"target":"Got","arguments":["hi"]}
            21 < {"type":3,"invocationId":"1","result":null}
            30 < {"type":1,"target":"B","arguments":[]}

            """)
    private static let call = #"{"type":1,"target":"Send","arguments":["hi"],"invocationId":"0"}"#
    private static let got = #"{"type":1,"target":"Got","arguments":["hi"]}"#

    @Test(arguments: [("reset", "RST"), ("disconnect", "FIN"), ("close(1000)", "204 ")])
    func anEndAfterAMessageIsThatOfTheNextPoll(_ action: String, _ wanted: String) throws {
        let play = try Playbook([Self.chat], faults: ["\(action) after Got"])
        let (token, poll) = try play.startPolling()
        #expect(play.post(token, Self.call) == ["200 "])
        play.pass(ms: 500)
        play.expect(poll, Playbook.body(Self.got))
        play.poll(token, on: poll)
        // Answers that the client sends with its poll are still heard.
        play.expect(poll)
        #expect(play.post(token, #"{"type":6}"#) == ["200 "])
        play.pass(ms: 20)
        play.expect(poll, wanted)
        let report = play.finish()
        #expect(report.faults.map(\.cut) == [false])
        #expect(report.sessions[0].attempts[0].ended?.by == .fault("\(action) after Got"))
    }

    @Test func aPollThatIsRefusedIsTheEndUnlessTheClientPollsAgain() throws {
        let play = try Playbook([Self.chat], faults: ["respond(500) on poll[3]"])
        let (token, poll) = try play.startPolling()
        play.expect(poll, "500 ")
        play.pass(ms: 100)
        let next = play.poll(token)
        #expect(play.post(token, Self.call) == ["200 "])
        play.pass(ms: 15)
        #expect(play.take(next).first?.contains("Got") == true)
        let attempts = play.finish().sessions[0].attempts
        #expect(attempts.count == 2 && attempts[0].ended?.how == .status(500))
    }

    /// A success is no end for a client that polls, whoever answers.
    @Test func aPollThatARuleAnswersWellGoesOn() throws {
        let play = try Playbook([Self.chat], faults: ["respond(200) on poll[3]"])
        let (token, poll) = try play.startPolling()
        play.expect(poll, "200 ")
        play.poll(token, on: poll)
        #expect(play.post(token, Self.call) == ["200 "])
        play.pass(ms: 20)
        #expect(play.take(poll).first?.contains("Got") == true)
        #expect(play.finish().sessions[0].attempts.count == 1)
    }

    /// A send that was on its way when its poll ended is heard, and begins no attempt: the client's new negotiation does.
    @Test(arguments: ["respond(401)", "respond(503)", "reset", "disconnect"])
    func aLateSendBeginsNothing(_ action: String) throws {
        let policy = try Expectation.parse("delays(0s)")
        let play = try Playbook([Self.chat], faults: ["\(action) on poll[3]"]) { $0.expectations = [policy] }
        let (token, poll) = try play.startPolling()
        #expect(play.take(poll).count == 1)
        #expect(play.post(token, Self.call) == ["200 "])
        let (next, second) = try play.startPolling()
        #expect(next != token)
        #expect(play.post(next, Self.call) == ["200 "])
        play.pass(ms: 50)
        #expect(play.take(second).joined().contains("Got"))
        let report = play.finish()
        #expect(report.sessions.count == 1 && report.sessions[0].attempts.map(\.outcome) == [.connected, .connected])
        #expect(report.sessions[0].unexpected == [] && report.sessions[0].missing == [])
        #expect(report.expectations.map(\.word) == ["met"])
    }

    /// It counts as said, so that the client need not say it again.
    @Test func aLateSendIsHeard() throws {
        let play = try Playbook([Self.chat], faults: ["reset on poll[3]"])
        let (token, _) = try play.startPolling()
        #expect(play.post(token, Self.call) == ["200 "])
        #expect(play.finish().sessions[0].matched == 2)
    }

    /// It is refused by a rule while the next attempt is under way: that is none of the attempt's business.
    @Test func aLateSendThatIsRefused() throws {
        let play = try Playbook([Self.chat], faults: ["reset on poll[3]", "respond(503) on send[2]"])
        let (token, _) = try play.startPolling()
        let next = try #require(play.negotiate())
        #expect(play.post(token, Self.call) == ["503 "])
        play.expect(play.poll(next), "200 ")
        #expect(play.finish().sessions[0].attempts.count == 2)
    }

    /// While the server is away it answers polls, too: that ends the connection as a rule about the poll does.
    @Test func aPollThatFindsTheServerAway() throws {
        let play = try Playbook([Self.chat], faults: ["outage(200ms, cut=none, answer=503) since handshake=5ms"])
        let (token, poll) = try play.startPolling()
        #expect(play.post(token, Self.call) == ["200 "])
        play.pass(ms: 18)
        #expect(play.take(poll).joined().contains("Got"))
        let again = play.poll(token)
        #expect(play.take(again) == ["503 unavailable\n"])
        play.pass(ms: 10)
        let ended = try #require(play.finish().sessions[0].attempts[0].ended)
        #expect(ended.by == .fault("outage(200ms, cut=none, answer=503) since handshake=5ms"))
    }

    @Test func aSendThatIsRefusedIsNotHeard() throws {
        let play = try Playbook([Self.chat], faults: ["respond(503) on send[2]"])
        let (token, _) = try play.startPolling()
        #expect(play.post(token, Self.call) == ["503 "])
        #expect(play.post(token, Self.call) == ["200 "])
        #expect(play.finish().sessions[0].matched == 2)
    }

    @Test func aStreamThatIsRefusedIsTriedOverAnotherTransport() throws {
        let play = try Playbook([Self.chat], faults: ["respond(404) on stream"])
        let token = try #require(play.negotiate())
        play.expect(play.stream(token), "404 ")
        let (_, poll) = try play.startPolling()
        play.expect(poll)
        let report = play.finish()
        // At once over another one: a step of the same attempt.
        #expect(report.sessions.count == 1 && report.sessions[0].attempts.map(\.outcome) == [.connected])
        #expect(report.sessions[0].attempts[0].steps.map(\.status) == [200, 404, 200, 200])
    }

    @Test func aStreamIsResetAfterItsOpening() throws {
        let play = try Playbook([Self.chat], faults: ["reset after stream"])
        let token = try #require(play.negotiate())
        let c = play.stream(token)
        play.pass(ms: 50)
        play.expect(c, "200 …", "RST")
    }
}
