import Testing
import WiretapeAttempts
import WiretapeBytes
import WiretapeFaults
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// What rules do to a replay.
@Suite struct FaultTests {
    private let ticks = TestTape.session(
        TestTape.handshake
            + (1...6).map { #"\#($0 * 10) < {"type":1,"target":"Tick","arguments":[\#($0)]}"# }.joined(separator: "\n"))

    private func tick(_ n: Int) -> String { #"{"type":1,"target":"Tick","arguments":[\#(n)]}"# }

    @Test func afterAMessageMeansAcknowledgedAndSettled() throws {
        let play = try Playbook([ticks], faults: ["reset after Tick[3]"])
        play.peerAcknowledges = false
        let c = try play.start()
        play.pass(ms: 1_000)
        // The match holds back everything later, and the reset waits for the peer.
        play.expect(c, tick(1), tick(2), tick(3))
        play.acknowledge()
        play.pass(ms: 19)
        play.expect(c)
        play.pass(ms: 1)
        play.expect(c, "RST")
        let d = try play.start()
        play.peerAcknowledges = true
        play.pass(ms: 100)
        play.expect(d, tick(4), tick(5), tick(6))
        let report = play.finish()
        #expect(report.exitCode == 0 && report.sessions[0].finished)
        let firing = try #require(report.faults.first)
        #expect(firing.rule == "reset after Tick[3]" && firing.message == 4 && firing.attempt == 1 && !firing.cut)
        #expect(report.sessions[0].attempts[0].ended?.by == .fault("reset after Tick[3]"))
        #expect(report.sessions[0].attempts[0].ended?.how == .reset)
    }

    /// The pause gives the client time to read.
    @Test(arguments: ["reset after Tick[3] + 200ms", "delay(200ms) + reset after Tick[3]"])
    func aPauseComesBeforeTheEnd(_ rule: String) throws {
        let play = try Playbook([ticks], faults: [rule])
        let c = try play.start()
        play.pass(ms: 247)
        play.expect(c, tick(1), tick(2), tick(3))
        // 28 ms from the handshake to the third tick, 20 ms for any client, and the pause.
        play.pass(ms: 1)
        play.expect(c, "RST")
        let report = play.finish()
        #expect(report.faults.map(\.rule) == [rule])
        #expect(report.faults.map(\.time) == report.sessions[0].attempts.map { $0.ended?.time })
    }

    @Test func aPauseComesBeforeTheEndBehindAnAnswer() throws {
        let play = try Playbook([ticks], faults: ["disconnect after negotiate[1] + 200ms"])
        let c = play.request("POST", "/chat/negotiate?negotiateVersion=1")
        #expect(play.take(c).first?.hasPrefix("200 ") == true)
        play.pass(ms: 219)
        play.expect(c)
        play.pass(ms: 1)
        play.expect(c, "FIN")
        _ = play.finish()
    }

    @Test func reportsShowRulesAsTheUserWroteThem() throws {
        let rules = ["reset after Tick[3]", "respond(401) on connect[token=stale] optional"]
        let play = try Playbook([ticks], faults: rules) { $0.expectations = [try! Expectation.parse("delays(0s)")] }
        #expect(play.engine.masked("rule '\(rules[1])' and token=stale") == "rule '\(rules[1])' and token=td_90001")
    }

    @Test func aFaultThatIsNotAcknowledgedIsReportedAsCut() throws {
        let play = try Playbook([ticks], faults: ["close(4403, \"Forbidden\") after Tick[1]"])
        play.peerAcknowledges = false
        let c = try play.start()
        play.pass(ms: 10)
        play.acknowledge(complete: false)
        play.pass(ms: 20)
        play.expect(c, tick(1), "close 4403 Forbidden")
        #expect(play.finish().faults.map(\.cut) == [true])
    }

    @Test func aClientThatLeavesBeforeItsFaultIsReportedAsCut() throws {
        let play = try Playbook([ticks], faults: ["reset after Tick[1]"])
        play.peerAcknowledges = false
        let c = try play.start()
        play.pass(ms: 10)
        play.close(c)
        #expect(play.finish().faults.map(\.cut) == [true])
    }

    @Test func beforeKeepsTheMessageAndOnLosesIt() throws {
        for (rule, next) in [("disconnect before Tick[2]", 2), ("disconnect on Tick[2]", 3), ("reset on Tick[2]", 3)] {
            let play = try Playbook([ticks], faults: [rule])
            let c = try play.start()
            play.pass(ms: 100)
            play.expect(c, tick(1), rule.hasPrefix("reset") ? "RST" : "FIN")
            let d = try play.start()
            play.pass(ms: 11)
            #expect(play.take(d).first == tick(next), "\(rule)")
            #expect(play.finish().faults.count == 1)
        }
    }

    @Test func theFirstRetryGetsAStatusAndTheSecondGoesThrough() throws {
        let play = try Playbook(
            [ticks], faults: ["reset after Tick[3]", "respond(503, Retry-After=1, \"later\") on connect[retry=1]"]
        ) { $0.expectations = [try! Expectation.parse("delays(0s, 2s)")] }
        let c = try play.start()
        play.pass(ms: 60)
        play.expect(c, tick(1), tick(2), tick(3), "RST")
        #expect(play.negotiate() == nil)
        #expect(play.take(play.refused) == ["503 later"])
        #expect(play.answers[play.refused]?.headers.first("Retry-After") == "1")
        play.pass(ms: 2_000)
        let d = try play.start()
        play.pass(ms: 50)
        play.expect(d, tick(4), tick(5), tick(6))
        let report = play.finish()
        #expect(report.exitCode == 0)
        let attempts = report.sessions[0].attempts
        #expect(attempts.map(\.outcome) == [.connected, .status, .connected])
        #expect(attempts.map(\.retry) == [0, 1, 2])
        #expect(attempts[1].steps.map(\.status) == [503])
        #expect(attempts[1].ended?.how == .status(503))
        #expect(attempts[2].delay == 2_000_000_000)
        #expect(report.expectations.map(\.met) == [true])
        #expect(report.faults.map(\.rule).count == 2)
    }

    @Test func placesAroundRequestsAndTheHandshake() throws {
        let cases: [(rule: String, answer: String)] = [
            ("reset on negotiate[1]", "RST"), ("disconnect before request[1]", "FIN"),
            ("respond(404) on upgrade[1]", "404 "), ("reset after upgrade[1]", "RST"),
            ("disconnect after negotiate[1]", "FIN"), ("close after handshake[1]", "close -"),
            ("close(1011) on handshake[1]", "close 1011"), ("disconnect on handshake[direction=toServer, 1]", "FIN"),
        ]
        for (rule, answer) in cases {
            let play = try Playbook([ticks], faults: [rule])
            var seen: [String] = []
            if let token = play.negotiate() {
                play.pass(ms: 30)
                let c = play.upgrade(token)
                play.send(c, #"{"protocol":"json","version":1}"#)
                play.pass(ms: 30)
                seen = play.take(c)
            } else {
                seen = play.take(play.refused)
            }
            let all = seen + play.take(1)
            #expect(all.contains(answer), "\(rule): \(all)")
            if seen.contains("101"), !all.contains(answer) || rule == "disconnect after negotiate[1]" {
                // Only the negotiation's own connection was cut.
                play.pass(ms: 60)
                #expect(play.take(2).last == tick(6))
            } else {
                // The next attempt is well.
                let d = try play.start()
                play.pass(ms: 60)
                #expect(play.take(d).last == tick(6), "\(rule)")
            }
            let report = play.finish()
            #expect(report.faults.count == 1 && report.exitCode == 0, "\(rule): \(report.reasons)")
        }
    }

    @Test func faultsOnClientMessages() throws {
        let tape = TestTape.session(
            TestTape.handshake + """
                10 > {"type":1,"target":"Say","arguments":[1]}
                11 > {"type":1,"target":"Say","arguments":[2]}
                12 < {"type":1,"target":"Tick","arguments":[1]}
                """)
        let play = try Playbook([tape], speed: .instant, faults: ["disconnect on Say[2]", "reset after Say[3]"])
        let c = try play.start()
        play.send(c, #"{"type":1,"target":"Say","arguments":[1]}"#)
        play.send(c, #"{"type":1,"target":"Say","arguments":[2]}"#)
        play.expect(c, "FIN")
        let d = try play.start()
        play.send(d, #"{"type":1,"target":"Say","arguments":[2]}"#)
        play.pass(ms: 20)
        play.expect(d, "RST")
        let e = try play.start()
        play.expect(e, tick(1))
        #expect(play.finish().sessions[0].matched == 3)
    }

    @Test func whatTheClientSaysWhileItsEndIsOnItsWayArrives() throws {
        let tape = TestTape.session(
            TestTape.handshake + """
                10 < {"type":1,"target":"Tick","arguments":[1]}
                12 > {"type":1,"target":"Say","arguments":[1]}
                13 < {"type":1,"target":"Tick","arguments":[2]}
                """)
        let play = try Playbook([tape], speed: .instant, faults: ["reset after Tick[1]"])
        let c = try play.start()
        play.expect(c, tick(1))
        play.send(c, #"{"type":1,"target":"Say","arguments":[1]}"#)
        play.pass(ms: 20)
        play.expect(c, "RST")
        // It was heard, so the session goes on with what followed it.
        let d = try play.start()
        play.expect(d, tick(2))
        #expect(play.finish().verdict == .pass)
    }

    @Test func ordinalsCountAcrossAttemptsAndRulesOfLaterOrderCountToo() throws {
        let play = try Playbook([ticks], faults: ["disconnect after Tick[every 2]", "close after Tick[3]"])
        for _ in 1...4 {
            let c = try play.start()
            play.pass(ms: 100)
            _ = play.take(c)
        }
        let report = play.finish()
        #expect(report.faults.map(\.message) == [3, 4, 5, 7])
    }

    @Test func aRuleThatNeverFiresFailsTheRunWithTheNearestName() throws {
        let pushes = (1...12).map { #"\#($0 * 10) < {"type":1,"target":"ReceiveMessage","arguments":[]}"# }
        let tape = TestTape.session(TestTape.handshake + pushes.joined(separator: "\n"))
        var plan = FaultPlan()
        let source = RuleSource(file: "plan.yaml", line: 4, column: 5)
        plan.append(try FaultRule(parsing: "reset after RecieveMessage[3]", from: source, name: "cut"))
        plan.append(try FaultRule(parsing: "reset after Nothing", from: source, optional: true))
        var options = ReplayOptions()
        options.ending.allowsUnplayed = true
        var engine = ReplayEngine(sessions: [tape], tapeName: "chat.tape", options: options, faults: plan, seed: 1)
        let report = engine.finish(at: .zero)
        #expect(report.exitCode == 5 && report.verdict == .failed)
        #expect(report.reasons == [try Golden.text("never-fired")])
        #expect(report.unfired.map(\.optional) == [false, true])
        let inline = FaultPlan(rules: [
            try FaultRule(parsing: "reset after RecieveMessage[3]", from: RuleSource(file: "--fault"))
        ])
        let problems = inline.unknownNames(in: [tape], tapeName: "chat.tape")
        #expect(problems.map(\.description) == [try Golden.text("never-occurs")])
    }

    @Test func drawsDependOnSeedAndNameOnlyAndOnesAndZerosAreCertain() throws {
        func firings(_ rule: String, seed: UInt64, others: [String] = []) throws -> [Int?] {
            let play = try Playbook([ticks], speed: .instant, faults: [rule] + others, seed: seed)
            for _ in 1...8 {
                guard play.negotiate() != nil else { break }
                let c = play.upgrade(play.lastToken)
                play.send(c, #"{"protocol":"json","version":1}"#)
                play.pass(ms: 30)
            }
            return play.finish().faults.filter { $0.rule.hasPrefix("disconnect") }.map(\.message)
        }
        #expect(try firings("disconnect after Tick p=1", seed: 1) == [2, 3, 4, 5, 6, 7])
        #expect(try firings("disconnect after Tick p=0", seed: 1) == [])
        #expect(try firings("disconnect after Tick p=1 max=2", seed: 1) == [2, 3])
        let some = try firings("disconnect after Tick p=0.5", seed: 7)
        #expect(try firings("disconnect after Tick p=0.5", seed: 7, others: ["close after Other p=0.5"]) == some)
        let patterns = try Set((1...16).map { try firings("disconnect after Tick p=0.5", seed: $0) })
        #expect(patterns.count > 4)
    }
}
