import Testing
import WiretapeAttempts
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
