import Testing
import WiretapeAttempts
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// Divergences under `--on-divergence fail`, and their golden texts.
@Suite struct DivergenceTests {
    private let tape = TestTape.session(
        TestTape.handshake + """
            3 > {"type":1,"target":"A","arguments":[]}
            4 > {"type":1,"target":"B","arguments":[]}
            10 > {"type":1,"invocationId":"0","target":"Send","arguments":["ada","hi"]}
            11 > {"type":4,"invocationId":"1","target":"Counter","arguments":[]}
            12 < {"type":3,"invocationId":"1"}
            """)

    @Test func aDifferentMessageIsRefusedForItsIDAndEndsTheSession() throws {
        let play = try Playbook([tape])
        let c = try play.start()
        play.send(
            c, #"{"type":1,"target":"A","arguments":[]} | {"type":1,"target":"B","arguments":[]}"#)
        play.pass(ms: 811)
        play.send(c, #"{"type":1,"invocationId":"7","target":"Send","arguments":["ada","hi!"]}"#)
        let reason = #"wiretape: diverged at Invocation Send("ada", "hi!"): not on chat.tape"#
        let refusal = JSONValue.object([
            .init("type", .number("3")), .init("invocationId", .string("7")), .init("error", .string(reason)),
        ])
        play.expect(c, refusal.text, "close 1011 \(reason)")
        #expect(play.logs == [try Golden.text("diverged")])
        // Every reconnect to it is refused with the reason, and the next session is not given away.
        #expect(play.negotiate() == nil)
        #expect(play.take(play.refused) == ["409 \(reason)\n"])
        #expect(play.take(play.upgrade("token-1")) == ["409 \(reason)\n"])
        let report = play.finish()
        #expect(report.verdict == .diverged && report.exitCode == 2)
        #expect(report.sessions[0].unexpected == [#"Invocation Send("ada", "hi!")"#])
        #expect(report.sessions[0].attempts[0].ended == Attempt.End(time: 812_000_000, by: .replay, how: .close(1011)))
    }

    /// No protocol lets a client speak before its opening: it is not refused in words that it would take for the answer.
    @Test(arguments: [OnDivergence.fail, .warn])
    func whatComesBeforeTheHandshakeIsOutOfTurn(_ way: OnDivergence) throws {
        let tape = TestTape.session(TestTape.handshake + "10 > \(call("0", "Add"))\n20 < \(done("0", "3"))")
        let play = try Playbook([tape]) { $0.onDivergence = way }
        let c = play.upgrade(play.negotiate())
        play.send(c, call("7", "Add"))
        let head = "wiretape: diverged at client message 1 of session 1 (chat.tape:11), after 0 ms\n"
        #expect(play.logs == [head + "    recorded  Handshake json 1\n    received  Invocation Add()"])
        if way == .fail {
            play.expect(c, "101", "close 1011 wiretape: diverged at Invocation Add(): not on chat.tape")
        } else {
            play.send(c, #"{"protocol":"json","version":1}"#)
            play.pass(ms: 100)
            play.expect(c, "101", "{}", done("7", "3"))
        }
        #expect(play.finish().sessions[0].unexpected == ["Invocation Add()"])
    }

    @Test func anIgnoredPlaceIsNoDifference() throws {
        let play = try Playbook([tape]) { $0.ignore = [IgnoreRule(label: "Send", pointer: "/arguments/1")] }
        let c = try play.start()
        play.send(
            c, #"{"type":1,"target":"A","arguments":[]} | {"type":1,"target":"B","arguments":[]}"#)
        play.send(c, #"{"type":1,"invocationId":"7","target":"Send","arguments":["ada","hi!"]}"#)
        play.expect(c)
        #expect(play.finish().sessions[0].matched == 4)
    }

    @Test func patienceEnds() throws {
        let play = try Playbook([tape]) { $0.keepalive = .off }
        let c = try play.start()
        play.send(
            c, #"{"type":1,"target":"A","arguments":[]} | {"type":1,"target":"B","arguments":[]}"#)
        play.send(c, #"{"type":1,"invocationId":"7","target":"Send","arguments":["ada","hi"]}"#)
        play.pass(ms: 15_000)
        play.send(c, #"{"type":6}"#)
        play.engine.controlFrame(c, isPing: true, at: play.now)
        play.pass(ms: 15_000)
        play.expect(c)
        play.pass(ms: 1)
        play.expect(
            c, "close 1011 wiretape: still waiting for client message 5 (chat.tape:16, StreamInvocation Counter)")
        #expect(play.logs == [try Golden.text("still-waiting")])
        let report = play.finish()
        #expect(report.exitCode == 2)
        #expect(report.sessions[0].missing == ["client message 5 (chat.tape:16, StreamInvocation Counter)"])
    }

    @Test func patienceCountsOnlyWithAConnectionAndAfterTheRecordedGap() throws {
        let late = TestTape.session(
            TestTape.handshake + """
                60002 > {"type":1,"target":"A","arguments":[]}
                60003 < {"type":1,"target":"Tick","arguments":[]}
                """)
        let play = try Playbook([late]) {
            $0.keepalive = .off
            $0.grace = 3_600_000_000_000
        }
        let c = try play.start()
        play.pass(ms: 60_000)
        play.close(c)
        play.pass(ms: 3_600_000)
        let d = try play.start()
        play.pass(ms: 89_000)
        play.expect(d)
        play.pass(ms: 1_001)
        #expect(play.take(d).first?.hasPrefix("close 1011 wiretape: still waiting") == true)
    }

    @Test func aClientThatLeavesEarlyMissesItsMessages() throws {
        let play = try Playbook([tape])
        let c = try play.start()
        play.send(c, #"{"type":1,"target":"B","arguments":[]}"#)
        play.close(c)
        let report = play.finish()
        // It went on without A, and stopped before Send.
        #expect(
            report.sessions[0].missing == [
                "client message 2 (chat.tape:13, Invocation A)", "client message 4 (chat.tape:15, Invocation Send)",
            ])
        #expect(report.verdict == .diverged && report.sessions[0].unreached == 1)
        #expect(!report.sessions[0].finished)
    }

    @Test func longReasonsFitACloseFrame() throws {
        let play = try Playbook([tape])
        let c = try play.start()
        play.send(c, #"{"type":1,"target":"X","arguments":["\#(String(repeating: "ü", count: 500))"]}"#)
        let close = try #require(play.take(c).last)
        #expect(close.hasPrefix("close 1011 wiretape: diverged at Invocation X(") && close.hasSuffix("…"))
        #expect(close.utf8.count <= 11 + 123)
    }

    @Test func aFarewellIsOptionalAndAnsweredAsRecorded() throws {
        let tape = TestTape.session(
            TestTape.handshake + """
                10 > {"type":7}
                11 < {"type":7}
                12 < close 1000
                """)
        for says in [true, false] {
            let play = try Playbook([tape])
            let c = try play.start()
            if says {
                play.send(c, #"{"type":7}"#)
                play.expect(c, #"{"type":7}"#, "close 1000")
            } else {
                play.close(c)
            }
            let report = play.finish()
            #expect(report.verdict == .pass && report.sessions[0].finished)
            #expect(report.sessions[0].attempts[0].ended?.by == .client)
        }
    }
}
