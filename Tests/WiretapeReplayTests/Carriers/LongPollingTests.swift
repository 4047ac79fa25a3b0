import Testing
import WiretapeAttempts
import WiretapeReplay
import WiretapeReport
import WiretapeWire

@Suite struct LongPollingTests {
    private static let chat = TestTape.session(
        TestTape.handshake + """
            10 > {"type":1,"target":"Send","arguments":["hi"],"invocationId":"1"}
            20 < {"type":1,"target":"Got","arguments":["hi"]} | {"type":3,"invocationId":"1","result":null}
            30 < {"type":1,"target":"A","arguments":[]}
            40 < {"type":1,"target":"B","arguments":[]}
            5000 < {"type":1,"target":"Late","arguments":[]}

            """)
    private static let call = #"{"type":1,"target":"Send","arguments":["hi"],"invocationId":"0"}"#
    private static let a = #"{"type":1,"target":"A","arguments":[]}"#
    private static let b = #"{"type":1,"target":"B","arguments":[]}"#
    private static let got =
        #"{"type":1,"target":"Got","arguments":["hi"]} | {"type":3,"invocationId":"0","result":null}"#

    @Test func aSessionOfAWebSocketIsPolled() throws {
        let play = try Playbook([Self.chat])
        let (token, poll) = try play.startPolling()
        #expect(play.post(token, Self.call) == ["200 "])
        play.pass(ms: 30)
        play.expect(poll, Playbook.body(Self.got))
        // What falls due between two polls waits for the next one, in one body.
        play.pass(ms: 100)
        play.expect(poll)
        play.poll(token, on: poll)
        play.expect(poll, Playbook.body(Self.a + " | " + Self.b))
        play.poll(token, on: poll)
        play.expect(poll)
        play.pass(ms: 5_000)
        play.expect(poll, Playbook.body(#"{"type":1,"target":"Late","arguments":[]}"#))
        play.ask(poll, "DELETE", "/chat?id=\(token)")
        play.expect(poll, "202 ")
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished)
        #expect(report.sessions[0].transports == [.lp])
        #expect(report.sessions[0].attempts.first?.steps.map(\.request) == ["negotiate", "poll"])
        #expect(report.sessions[0].attempts.first?.ended?.how == .farewell)
    }

    @Test func anIdlePollIsAnsweredEmptyAndANewerOneTakesItsPlace() throws {
        let play = try Playbook([Self.chat]) { $0.patience = 600_000_000_000 }
        let (token, first) = try play.startPolling()
        play.pass(ms: 89_000)
        play.expect(first)
        play.pass(ms: 1_001)
        play.expect(first, "200 ")
        play.poll(token, on: first)
        let second = play.poll(token)
        play.expect(first, "204 ")
        #expect(play.post(token, Self.call) == ["200 "])
        play.pass(ms: 30)
        play.expect(second, Playbook.body(Self.got))
        play.expect(first)
    }

    /// A poll that failed on the tape, between others that did not: the one that waits is cut there, over whatever transport.
    @Test func aPollThatFailsInTheMiddle() throws {
        let script =
            TestTape.handshake + """
                10 < {"type":1,"target":"A","arguments":[]}
                30 < disconnect
                40 < {"type":1,"target":"B","arguments":[]}
                """
        let play = try Playbook([TestTape.session(script, transport: .lp)])
        let (token, poll) = try play.startPolling()
        play.pass(ms: 10)
        play.expect(poll, Playbook.body(Self.a))
        play.poll(token, on: poll)
        play.pass(ms: 20)
        play.expect(poll, "FIN")
        let next = play.poll(token)
        play.pass(ms: 10)
        play.expect(next, Playbook.body(Self.b))
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished)
        #expect(report.sessions[0].attempts.map { $0.ended?.by } == [.server, nil])

        let other = try Playbook([TestTape.session(script, transport: .lp)])
        let c = try other.start()
        other.pass(ms: 30)
        other.expect(c, Self.a, "FIN")
        let d = try other.start()
        other.pass(ms: 100)
        other.expect(d, Self.b)
        #expect(other.finish().verdict == .pass)
    }

    @Test func theEndAnswersThePollAndForgetsTheToken() throws {
        let play = try Playbook([Self.chat])
        let (token, poll) = try play.startPolling()
        let other = play.request("DELETE", "/chat?id=\(token)")
        play.expect(other, "202 ")
        play.expect(poll, "204 ")
        for method in ["GET", "POST", "DELETE"] {
            let c = play.request(method, "/chat?id=\(token)")
            play.expect(c, "404 No Connection with that ID")
        }
        let report = play.finish()
        #expect(!report.sessions[0].finished && report.sessions[0].missing.count == 1)
    }

    @Test func aClientThatStopsPollingHasLeftAfterFifteenSeconds() throws {
        let play = try Playbook([Self.chat])
        let (token, poll) = try play.startPolling()
        #expect(play.post(token, Self.call) == ["200 "])
        play.pass(ms: 30)
        play.expect(poll, Playbook.body(Self.got))
        play.pass(ms: 14_900)
        #expect(play.post(token, #"{"type":6}"#) == ["200 "])
        play.pass(ms: 200)
        #expect(play.post(token, #"{"type":6}"#) == ["404 No Connection with that ID"])
        #expect(play.engine.finish(at: play.now).sessions[0].attempts[0].ended?.how == .timeout)
        // What was due and never went out is due again on the next connection.
        let next = try #require(play.negotiate())
        let again = play.poll(next)
        #expect(play.post(next, #"{"protocol":"json","version":1}"#) == ["200 "])
        play.pass(ms: 1)
        play.poll(next, on: again)
        play.expect(again, "200 ", Playbook.body("{} | " + Self.a + " | " + Self.b))
    }

    @Test func aLostPollIsTakenUpAgain() throws {
        let play = try Playbook([Self.chat])
        let (token, poll) = try play.startPolling()
        #expect(play.post(token, Self.call) == ["200 "])
        play.close(poll, .rst("reset"))
        play.pass(ms: 100)
        let next = play.poll(token)
        play.pass(ms: 100)
        play.expect(next, Playbook.body(Self.got))
        // A poll that is given up is no end of the connection, nor is the next one a new connection.
        #expect(play.finish().sessions[0].attempts.map(\.outcome) == [.connected])
    }

    @Test func aStopGivesUpThePollFirst() throws {
        let play = try Playbook([TestTape.session(TestTape.handshake + "10 > {\"type\":7}\n12 < close 1000")])
        let (token, poll) = try play.startPolling()
        play.close(poll, .rst("reset"))
        play.pass(ms: 40)
        #expect(play.post(token, #"{"type":7}"#) == ["200 "])
        let end = play.request("DELETE", "/chat?id=\(token)")
        play.expect(end, "202 ")
        let session = play.finish().sessions[0]
        #expect(session.attempts.count == 1 && session.attempts[0].ended?.how == .close(nil))
    }

    @Test func aLostPollIsTheEndWhenTheClientNegotiatesAnew() throws {
        let play = try Playbook([Self.chat])
        let (_, poll) = try play.startPolling()
        play.close(poll, .rst("reset"))
        let lost = play.now
        play.pass(ms: 2_000)
        _ = try play.startPolling()
        let attempts = play.finish().sessions[0].attempts
        #expect(attempts.map(\.outcome) == [.connected, .connected])
        #expect(attempts[0].ended?.how == .reset && attempts[0].ended?.by == .client)
        #expect(attempts[1].delay == 2_000_000_000 && lost < play.now)
    }

    @Test func aBodyThatTheKernelDidNotTakeGoesWithTheNextPoll() throws {
        let play = try Playbook([Self.chat])
        let (token, poll) = try play.startPolling()
        play.kernelTakes = false
        #expect(play.post(token, Self.call) == ["200 "])
        play.pass(ms: 30)
        play.expect(poll, Playbook.body(Self.got))
        play.close(poll, .rst("reset"))
        let next = play.poll(token)
        play.pass(ms: 1)
        play.expect(next, Playbook.body(Self.got + " | " + Self.a + " | " + Self.b))
        play.takeAll()
        #expect(play.finish().sessions[0].matched == 2)
    }

    @Test func whatComesBeforeTheFirstPollIsHeardAfterIt() throws {
        let play = try Playbook([Self.chat])
        let token = try #require(play.negotiate())
        #expect(play.post(token, #"{"protocol":"json","version":1}"#) == ["200 "])
        #expect(play.post(token, Self.call) == ["200 "])
        let poll = play.poll(token)
        play.expect(poll, "200 ")
        play.poll(token, on: poll)
        play.pass(ms: 1)
        play.expect(poll, Playbook.body("{}"))
    }

    @Test func requestsThatFitNoConnectionAreRefusedAsTheServerDoes() throws {
        let play = try Playbook([Self.chat])
        let (token, _) = try play.startPolling()
        play.expect(play.stream(token), "400 Cannot change transports mid-connection")
        play.expect(play.upgrade(token), "400 Cannot change transports mid-connection")
        play.expect(play.request("GET", "/chat?id=nobody"), "404 No Connection with that ID")
    }

    @Test func aCloseOfTheTapeIsThePollThatSaysItIsOver() throws {
        let play = try Playbook([
            TestTape.session(
                TestTape.handshake + "10 < {\"type\":1,\"target\":\"A\",\"arguments\":[]}\n20 < close 1000 bye")
        ])
        let (token, poll) = try play.startPolling()
        play.pass(ms: 9)
        play.expect(poll, Playbook.body(Self.a))
        play.pass(ms: 100)
        play.poll(token, on: poll)
        play.expect(poll, "204 ")
        play.poll(token, on: poll)
        play.expect(poll, "404 No Connection with that ID")
        #expect(play.finish().sessions[0].finished)
    }

    @Test(arguments: ["reset", "disconnect"])
    func anAbruptEndOfTheTapeCutsTheNextPoll(_ how: String) throws {
        let play = try Playbook([
            TestTape.session(TestTape.handshake + "10 < {\"type\":1,\"target\":\"A\",\"arguments\":[]}\n20 < \(how)")
        ])
        let (token, poll) = try play.startPolling()
        play.pass(ms: 9)
        play.expect(poll, Playbook.body(Self.a))
        play.pass(ms: 100)
        let next = play.poll(token)
        play.pass(ms: 100)
        play.expect(next, how == "reset" ? "RST" : "FIN")
        play.expect(poll)
    }

    @Test func aFarewellIsAnsweredAndThenItIsOver() throws {
        let play = try Playbook([
            TestTape.session(
                TestTape.handshake + "10 > {\"type\":7}\n11 < {\"type\":7,\"allowReconnect\":false}\n12 < close 1000")
        ])
        let (token, poll) = try play.startPolling()
        #expect(play.post(token, #"{"type":7}"#) == ["200 "])
        play.expect(poll, Playbook.body(#"{"type":7,"allowReconnect":false}"#))
        let end = play.request("DELETE", "/chat?id=\(token)")
        play.expect(end, "202 ")
        #expect(play.finish().verdict == .pass)
    }

    @Test func aDivergenceAnswersAndEnds() throws {
        let play = try Playbook([Self.chat])
        let (token, poll) = try play.startPolling()
        #expect(play.post(token, #"{"type":1,"target":"Other","arguments":[],"invocationId":"9"}"#) == ["200 "])
        let answer = play.take(poll)
        #expect(answer.count == 1 && answer[0].contains(#""invocationId":"9","error":"wiretape: diverged"#))
        play.poll(token, on: poll)
        play.expect(poll, "204 ")
        #expect(play.finish().verdict == .diverged)
    }

    @Test func aQueueThatNobodyFetchesStopsGrowing() throws {
        var script = TestTape.handshake
        let text = String(repeating: "x", count: 1_000)
        for i in 0..<2_000 { script += "2 < {\"type\":1,\"target\":\"P\",\"arguments\":[\(i),\"\(text)\"]}\n" }
        let play = try Playbook([TestTape.session(script)], speed: .instant)
        let token = try #require(play.negotiate())
        let poll = play.poll(token)
        play.expect(poll, "200 ")
        #expect(play.post(token, #"{"protocol":"json","version":1}"#) == ["200 "])
        var records = 0
        var bodies = 0
        while records <= 2_000, bodies < 100 {
            play.pass(ms: 1)
            play.poll(token, on: poll)
            let body = play.take(poll).joined()
            #expect(body.utf8.count < 300 << 10)
            records += body.utf8.count { $0 == 0x1e }
            bodies += 1
        }
        #expect(records == 2_001 && bodies < 20)
    }
}
