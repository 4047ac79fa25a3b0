import Testing
import WiretapeAttempts
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// Connections that a rule makes go silent, and clients that come back from them.
@Suite struct SilenceTests {
    private let ticks = TestTape.session(
        TestTape.handshake
            + (1...9).map { #"\#($0 * 100) < {"type":1,"target":"Tick","arguments":[\#($0)]}"# }
            .joined(separator: "\n"))

    private func tick(_ n: Int) -> String { #"{"type":1,"target":"Tick","arguments":[\#(n)]}"# }

    @Test(arguments: ["stall after Tick[2]", "stall(both, 60s) + reset after Tick[2]"])
    func aClientThatComesBackHasGivenUp(_ rule: String) throws {
        let play = try Playbook([ticks], faults: [rule])
        let c = try play.start()
        play.pass(ms: 260)
        #expect(play.take(c) == [tick(1), tick(2), "stall in out"])
        // What is said afterwards does not leave.
        play.kernelTakes = false
        play.pass(ms: 30_000)
        // Its first connection is still there: nothing was read that told of its end.
        let d = try play.start()
        play.pass(ms: 5_000)
        #expect(play.take(d).first == tick(3))
        play.kernelTakes = true
        play.takeAll()
        _ = play.take(c)
        play.close(c)
        play.expect(c, "FIN")
        play.close(d, .closeFrame(code: 1000, reason: ""))
        let report = play.finish()
        #expect(report.exitCode == 0, "\(report.reasons)")
        let attempts = try #require(report.sessions.first?.attempts)
        #expect(attempts.map(\.outcome) == [.connected, .connected])
        #expect(attempts[0].ended?.how == .givenUp && attempts[0].ended?.by == .client)
        // Nobody knows when it gave up.
        #expect(attempts[1].delay == nil)
    }

    /// Policies about the wait are not judged when nothing tells when the client left.
    @Test(arguments: [true, false])
    func theWaitIsThatBehindTheClientsCloseFrame(isSaid: Bool) throws {
        let policies = [try Expectation.parse("delays(500ms)"), try Expectation.parse("detects(within=5s)")]
        let play = try Playbook([ticks], faults: ["stall after Tick[2]"]) { $0.expectations = policies }
        let c = try play.start()
        play.pass(ms: 260)
        play.kernelTakes = false
        play.pass(ms: 9_000)
        if isSaid {
            play.act { engine, now, _ in
                engine.clientLeftSilently(c, .closeFrame(code: 4499, reason: "no pong"), at: now)
            }
        }
        play.pass(ms: 500)
        let d = try play.start()
        play.pass(ms: 5_000)
        play.close(d, .closeFrame(code: 1000, reason: ""))
        let report = play.finish()
        let attempts = try #require(report.sessions.first?.attempts)
        #expect(attempts[0].ended?.how == (isSaid ? .close(4499) : .givenUp))
        #expect(report.expectations.map(\.word) == (isSaid ? ["met", "not met"] : ["not judged", "not judged"]))
        #expect(isSaid || report.expectations[0].reason.contains("is not known"), "\(report.expectations[0].reason)")
    }

    /// A client whose upgrade nobody answers negotiates again, whether its first socket is still open or not.
    @Test(arguments: ["stall(both, 60s) on upgrade[1]", "delay(60s) on upgrade[1]"], [true, false])
    func whoIsNotAnsweredComesAgain(_ rule: String, isClosed: Bool) throws {
        let play = try Playbook([ticks], faults: [rule])
        let first: String = try #require(play.negotiate())
        let held = play.upgrade(first)
        play.pass(ms: 500)
        if isClosed { play.close(held) }
        play.pass(ms: 100)
        let second: String = try #require(play.negotiate())
        let d = play.upgrade(second)
        play.send(d, #"{"protocol":"json","version":1}"#)
        play.pass(ms: 3_000)
        #expect(play.take(d).prefix(3) == ["101", "{}", tick(1)])
        play.close(d, .closeFrame(code: 1000, reason: ""))
        #expect(play.finish().exitCode == 0)
    }

    /// A client that leaves before its negotiation has a response ends that attempt, and gets the same session again.
    @Test(arguments: ["stall(both, 60s) on negotiate[1]", "delay(60s) on negotiate[1]"])
    func aHeldNegotiationIsGivenUp(_ rule: String) throws {
        let other = TestTape.session(TestTape.handshake + "10 < " + push("Other"), number: 2)
        let play = try Playbook([ticks, other], faults: [rule])
        let held = play.request("POST", "/chat/negotiate?negotiateVersion=1")
        play.pass(ms: 500)
        play.close(held)
        play.pass(ms: 100)
        let c = try play.start()
        play.pass(ms: 150)
        #expect(play.take(c).first == tick(1))
        play.close(c)
        let attempts = try #require(play.finish().sessions.first?.attempts)
        #expect(attempts.map(\.outcome) == [.abandoned, .connected])
        #expect(attempts[0].ended == Attempt.End(time: 500_000_000, by: .client, how: .fin))
        #expect(attempts[1].delay == 100_000_000)
    }

    /// Another client that looks the same takes the next session, and not the one whose answer a rule delays.
    @Test func aDelayedAnswerIsStillItsClients() throws {
        let other = TestTape.session(TestTape.handshake + "10 < " + push("Other"), number: 2)
        let play = try Playbook([ticks, other], faults: ["delay(2s) on upgrade[1] in session=1"])
        let held = play.upgrade(play.negotiate())
        play.pass(ms: 100)
        let second = try play.start()
        // The second session waits for the first client, which may still speak.
        play.pass(ms: 600)
        #expect(play.take(second).first == push("Other"))
        play.pass(ms: 1_500)
        #expect(play.take(held).contains("101"))
    }

    /// A client that closes a muted connection may reconnect, whatever its close code.
    @Test func whoClosesAMutedConnectionMayReturn() throws {
        let play = try Playbook([ticks], faults: ["mute after Tick[9]"])
        let c = try play.start()
        play.pass(ms: 2_000)
        play.close(c, .closeFrame(code: 1000, reason: ""))
        play.pass(ms: 100)
        #expect(play.negotiate() != nil)
    }

    @Test func aRuleFiresWhenTheSilenceBegins() throws {
        let play = try Playbook([ticks], faults: ["stall(both, 60s) + reset since handshake=150ms"])
        let c = try play.start()
        play.pass(ms: 30_000)
        play.close(c)
        let early = play.finish()
        #expect(early.faults.map { $0.time / 100_000_000 } == [1])
        #expect(early.unfired.isEmpty)
    }

    @Test func manyClientsThatLookAlikeKeepTheirSessions() throws {
        let play = try Playbook([ticks], faults: ["stall after Tick[2] in session=1 max=1"]) { $0.clients = 2 }
        let c = try play.start()
        play.pass(ms: 260)
        #expect(play.take(c).last == "stall in out")
        // Another client begins at the beginning.
        let d = try play.start()
        play.pass(ms: 150)
        #expect(play.take(d) == [tick(1)])
    }

    @Test func patienceDoesNotRunWhileTheClientCannotBeHeard() throws {
        let tape = TestTape.session(
            TestTape.handshake + """
                100 < {"type":1,"target":"Tick","arguments":[1]}
                200 > {"type":1,"target":"Send","arguments":[]}
                """)
        let play = try Playbook([tape], faults: ["stall(both, 60s) after Tick[1]"])
        let c = try play.start()
        play.pass(ms: 60_000)
        #expect(play.logs == [])
        #expect(play.take(c).contains("stall in out"))
        play.pass(ms: 20_000)
        #expect(play.logs == [])
        play.pass(ms: 20_000)
        #expect(play.logs.count == 1)
    }

    @Test(arguments: ["reset after Tick[2]", "expire + reset after Tick[2]"])
    func aRenewedCredentialIsTheSameClients(_ rule: String) throws {
        let play = try Playbook([ticks], faults: [rule])
        func start(_ token: String) throws -> ConnectionID {
            let header = HeaderField("Authorization", "Bearer \(token)")
            let n = play.request("POST", "/chat/negotiate?negotiateVersion=1", [header])
            let answer = try JSONValue(parsing: String(try #require(play.take(n).first).dropFirst(4)))
            let id = try #require(answer["connectionToken"]?.string)
            let c = play.request("GET", "/chat?id=\(id)", [HeaderField("Upgrade", "websocket"), header])
            play.send(c, #"{"protocol":"json","version":1}"#)
            play.pass(ms: 1)
            return c
        }
        let c = try start("a")
        play.pass(ms: 400)
        #expect(play.take(c).last == "RST")
        let d = try start("b")
        play.pass(ms: 5_000)
        #expect(play.take(d).contains(tick(9)))
        let report = play.finish()
        #expect(report.sessions.map(\.attempts.count) == [2])
        #expect(report.exitCode == 0, "\(report.reasons)")
    }
}
