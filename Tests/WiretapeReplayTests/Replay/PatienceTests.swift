import Testing
import WiretapeReplay
import WiretapeReport

/// How long a replay waits for its client, and what it makes of one that speaks late, out of turn or not at all.
@Suite struct PatienceTests {
    /// Say is said 10 ms after the opening; Heard follows, then an answered call.
    private let tape = TestTape.session(
        TestTape.handshake + """
            12 > \(push("Say", "1"))
            20 < \(push("Heard", "1"))
            30 > \(call("0", "Echo", "2"))
            40 < \(done("0", "2"))
            50 < \(push("Later"))
            """)

    private func quiet(_ options: inout ReplayOptions) { options.keepalive = .off }

    @Test func aClientThatWaitsForThePushGetsItAfterGraceAndIsReordered() throws {
        let play = try Playbook([tape], quiet)
        let c = try play.start()
        // 10 ms of the recorded client, 500 ms of grace from the handshake's answer on.
        play.pass(ms: 509)
        play.expect(c)
        play.pass(ms: 1)
        play.expect(c, push("Heard", "1"))
        play.send(c, push("Say", "1"))
        play.send(c, call("7", "Echo", "2"))
        play.pass(ms: 100)
        play.expect(c, done("7", "2"), push("Later"))
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].reordered == 1 && report.sessions[0].matched == 3)
        #expect(report.sessions[0].finished && report.sessions[0].late.isEmpty)
        #expect(play.logs.isEmpty)
    }

    @Test func graceLeavesTheRecordedClientItsTimeWhateverTheSpeed() throws {
        let slow = TestTape.session(
            TestTape.handshake + """
                2002 > \(push("Say", "1"))
                2010 < \(push("Heard", "1"))
                """)
        let play = try Playbook([slow], speed: .instant, quiet)
        let c = try play.start()
        play.pass(ms: 2_400)
        play.expect(c)
        play.send(c, push("Say", "1"))
        play.expect(c, push("Heard", "1"))
        #expect(play.finish().sessions[0].reordered == 0)
    }

    @Test func aClientThatSpeaksIsNotQuiet() throws {
        let play = try Playbook([tape], quiet)
        let c = try play.start()
        for _ in 0..<10 {
            play.pass(ms: 400)
            play.send(c, #"{"type":6}"#)
        }
        play.expect(c)
    }

    /// What is recorded between a call and its answer is what the call did.
    @Test func whatACallDidIsNotSentBeforeTheCall() throws {
        let tape = TestTape.session(
            TestTape.handshake + """
                5 > \(call("0", "Send", "1"))
                6 < \(push("Heard", "1"))
                7 < \(done("0", "null"))
                8 < \(push("Tick"))
                """)
        let play = try Playbook([tape], quiet)
        let c = try play.start()
        play.pass(ms: 29_000)
        play.expect(c)
        play.send(c, call("3", "Send", "1"))
        play.pass(ms: 10)
        play.expect(c, push("Heard", "1"), done("3", "null"), push("Tick"))
        #expect(play.finish().sessions[0].reordered == 0)
    }

    @Test func endingsAndAnswersAreNotSentBeforeTheirCauses() throws {
        for last in [done("0", "1"), #"{"type":7}"#, "close 1000", "reset"] {
            let tape = TestTape.session(
                TestTape.handshake + """
                    5 > \(call("0", "Echo"))
                    6 < \(last)
                    """)
            let play = try Playbook([tape], quiet)
            let c = try play.start()
            play.pass(ms: 29_000)
            play.expect(c)
        }
    }

    /// The answer and the items of a stream that was never asked for are not sent; a push behind them is.
    @Test func aPushPassesWhatIsSetAsideAndTheChainIsServedWhenItOpens() throws {
        let tape = TestTape.session(
            TestTape.handshake + """
                5 > \(stream("0", "Counter"))
                6 < \(item("0", "1"))
                7 < \(push("Tick"))
                8 < \(item("0", "2"))
                9 < \(end("0"))
                10 < \(push("Tock"))
                """)
        let play = try Playbook([tape], quiet)
        let c = try play.start()
        play.pass(ms: 600)
        // Item 2 is behind the first push, and needs its request just the same.
        play.expect(c, push("Tick"), push("Tock"))
        play.send(c, stream("9", "Counter"))
        play.pass(ms: 100)
        play.expect(c, item("9", "1"), item("9", "2"), end("9"))
        let report = play.finish()
        #expect(report.sessions[0].reordered == 1 && report.sessions[0].finished && report.verdict == .pass)
    }

    @Test func onExpiryAllBlockersAreForgivenAtOnce() throws {
        let tape = TestTape.session(
            TestTape.handshake + """
                3 > \(push("A"))
                4 > \(push("B"))
                5 > \(call("0", "C"))
                6 < \(done("0", "1"))
                7 < \(push("Tick"))
                """)
        let play = try Playbook([tape]) {
            quiet(&$0)
            $0.onDivergence = .warn
            $0.grace = 3_600_000_000_000
        }
        let c = try play.start()
        play.pass(ms: 30_000)
        play.expect(c)
        play.pass(ms: 10)
        play.expect(c, push("Tick"))
        #expect(play.logs.count == 1)
        let report = play.finish()
        #expect(report.exitCode == 2 && report.sessions[0].finished)
        // The client stopped at the first of them.
        #expect(report.sessions[0].missing == ["client message 2 (chat.tape:13, Invocation A)"])
        #expect(report.sessions[0].unreached == 2 && report.sessions[0].late == [])
        #expect(report.divergences.count == 1)
        #expect(
            report.reasons.last
                == "session 1: 1 client message never came, first client message 2 (chat.tape:13, Invocation A); 2 more not reached"
        )
    }

    /// What a client says after all that stood behind the one that it was late with is not late by itself.
    @Test func whatFollowsALateMessageIsNotLate() throws {
        let tape = TestTape.session(
            TestTape.handshake + """
                3 > \(push("A"))
                4 > \(push("B"))
                5 < \(push("Tick"))
                6 > \(push("C"))
                7 < \(push("Tock"))
                8 > \(push("D"))
                """)
        let play = try Playbook([tape]) {
            quiet(&$0)
            $0.onDivergence = .warn
            $0.grace = 3_600_000_000_000
        }
        let c = try play.start()
        play.pass(ms: 61_000)
        play.expect(c, push("Tick"), push("Tock"))
        // Still at the same message: it costs patience once more, and is no other divergence.
        #expect(play.logs.count == 2)
        for target in ["A", "B", "C", "D"] { play.send(c, push(target)) }
        let report = play.finish()
        let session = report.sessions[0]
        #expect(report.divergences.count == 1)
        #expect(session.late == ["client message 2 (chat.tape:13, Invocation A)"])
        #expect(session.missing == [] && session.unreached == 0 && session.matched == 5 && session.finished)
    }

    /// Left out is what the client went on without; it stopped at the first thing behind what it said last.
    @Test func whatIsLeftOutAndWhereTheClientStopped() throws {
        let tape = TestTape.session(
            TestTape.handshake + """
                3 > \(push("A"))
                4 > \(push("B"))
                5 > \(push("C"))
                6 > \(push("D"))
                7 < \(push("Tick"))
                """)
        let play = try Playbook([tape]) {
            quiet(&$0)
            $0.onDivergence = .warn
            $0.grace = 3_600_000_000_000
        }
        let c = try play.start()
        play.send(c, push("B"))
        play.pass(ms: 31_000)
        let session = play.finish().sessions[0]
        #expect(
            session.missing == [
                "client message 2 (chat.tape:13, Invocation A)", "client message 4 (chat.tape:15, Invocation C)",
            ])
        #expect(session.unreached == 1)
    }

    @Test func aForgivenMessageThatComesIsLateAndReleasesNothingTwice() throws {
        let play = try Playbook([tape]) {
            quiet(&$0)
            $0.onDivergence = .warn
            $0.grace = 3_600_000_000_000
        }
        let c = try play.start()
        play.pass(ms: 30_100)
        play.expect(c, push("Heard", "1"))
        play.send(c, push("Say", "1"))
        play.pass(ms: 1_000)
        play.expect(c)
        play.pass(ms: 30_000)
        play.expect(c, push("Later"))
        // The answer of a request that was given up is for the request when it comes after all.
        play.send(c, call("5", "Echo", "2"))
        play.pass(ms: 20)
        play.expect(c, done("5", "2"))
        let session = play.finish().sessions[0]
        #expect(session.missing.isEmpty && session.matched == 3 && session.reordered == 0)
        #expect(
            session.late == [
                "client message 2 (chat.tape:13, Invocation Say)", "client message 3 (chat.tape:15, Invocation Echo)",
            ])
    }

    @Test func aMessageOfEqualMeaningStandsForTheOneThatIsStillInTime() throws {
        let tape = TestTape.session(
            TestTape.handshake + """
                3 > \(push("Beat"))
                4 < \(push("One"))
                5 > \(push("Beat"))
                6 < \(push("Two"))
                """)
        let play = try Playbook([tape]) {
            quiet(&$0)
            $0.onDivergence = .ignore
            $0.grace = 3_600_000_000_000
        }
        let c = try play.start()
        play.pass(ms: 30_100)
        play.expect(c, push("One"))
        play.send(c, push("Beat"))
        play.pass(ms: 10)
        play.expect(c, push("Two"))
        let report = play.finish()
        #expect(report.sessions[0].missing == ["client message 2 (chat.tape:13, Invocation Beat)"])
        #expect(report.verdict == .pass && report.exitCode == 0)
        #expect(report.text.contains("1 divergence ignored"))
    }

    @Test func whatNeverComesIsMissingAlsoAfterGrace() throws {
        let play = try Playbook([tape], quiet)
        let c = try play.start()
        play.pass(ms: 510)
        play.expect(c, push("Heard", "1"))
        play.send(c, call("7", "Echo", "2"))
        play.pass(ms: 100)
        play.expect(c, done("7", "2"), push("Later"))
        play.pass(ms: 30_000)
        play.expect(c, "close 1011 wiretape: still waiting for client message 2 (chat.tape:13, Invocation Say)")
        let session = play.finish().sessions[0]
        #expect(session.missing == ["client message 2 (chat.tape:13, Invocation Say)"] && session.reordered == 0)
    }

    @Test func aCancelThatNeverComesHoldsItsAnswerForPatienceOnly() throws {
        let tape = TestTape.session(
            TestTape.handshake + """
                5 > \(stream("0", "Counter"))
                6 < \(item("0", "1"))
                7 > \(cancel("0"))
                8 < \(end("0"))
                9 < \(push("Tick"))
                """)
        let play = try Playbook([tape]) {
            quiet(&$0)
            $0.onDivergence = .ignore
        }
        let c = try play.start()
        play.send(c, stream("4", "Counter"))
        play.pass(ms: 510)
        // The push goes past the answer that waits for the cancellation.
        play.expect(c, item("4", "1"), push("Tick"))
        play.pass(ms: 30_100)
        play.expect(c, end("4"))
        #expect(play.finish().sessions[0].missing == ["client message 3 (chat.tape:15, CancelInvocation Counter)"])
    }
}
