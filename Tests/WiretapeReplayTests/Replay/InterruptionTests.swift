import Testing
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// What the simulation found: how ends, lost connections and clients that come back work together.
@Suite struct InterruptionTests {
    private func tape(_ script: String, number: Int = 1) -> RecordedSession {
        TestTape.session(TestTape.handshake + script, number: number)
    }

    // MARK: Ends

    /// A recorded end takes the client's chance to speak, so it waits for a cancellation, which holds back no push.
    @Test func anEndWaitsForACancellation() throws {
        let tape = tape(
            """
            10 > \(stream("0", "Counter"))
            20 < \(item("0", "1"))
            30 > {"type":5,"invocationId":"0"}
            40 < \(push("Tick"))
            50 < disconnect
            """)
        let play = try Playbook([tape])
        let c = try play.start()
        play.send(c, stream("4", "Counter"))
        play.pass(ms: 5_000)
        play.expect(c, item("4", "1"), push("Tick"))
        play.send(c, #"{"type":5,"invocationId":"4"}"#)
        play.pass(ms: 19)
        play.expect(c)
        play.pass(ms: 1)
        play.expect(c, "FIN")
        #expect(play.finish().verdict == .pass)
    }

    /// So it does for a message that the client says after the push that was recorded behind it.
    @Test func anEndWaitsForWhatComesAfterItsPush() throws {
        let tape = tape(
            """
            10 > \(call("0", "Echo"))
            11 < \(done("0", "1"))
            20 < \(push("Tick"))
            30 < close 1000
            """)
        let play = try Playbook([tape])
        let c = try play.start()
        play.pass(ms: 1_000)
        play.expect(c, push("Tick"))
        play.send(c, call("7", "Echo"))
        play.pass(ms: 100)
        play.expect(c, done("7", "1"), "close 1000")
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].reordered == 1)
    }

    /// An end waits while an interrupted request may be asked again. Pings are not asking.
    @Test func pingsDoNotPutOffAnEnd() throws {
        let tape = tape(
            """
            10 > \(call("0", "Echo"))
            50 < \(done("0", "1"))
            60 < close 1000
            """)
        let play = try Playbook([tape]) { $0.keepalive = .off }
        let c = try play.start()
        play.send(c, call("0", "Echo"))
        play.close(c, .rst("reset"))
        let d = try play.start()
        for _ in 0..<4 {
            play.pass(ms: 100)
            play.send(d, #"{"type":6}"#)
        }
        play.pass(ms: 99)
        play.expect(d)
        play.pass(ms: 1)
        play.expect(d, "close 1000")
        #expect(play.finish().sessions[0].abandoned == 1)
    }

    /// A client that is faster than a recorded reset has nothing to go on with: its stateful reconnect is refused, where it
    /// would wait for an end for ever.
    @Test func anEndThatTheClientWasFasterThanIsNotRepeated() throws {
        let script = """
            1 > {"protocol":"json","version":2}
            2 < {}
            10 < \(push("Tick"))
            20 < reset
            """
        var session = TestTape.session(script)
        session.negotiate = StreamOpening(
            request: RequestHead(method: "POST", target: "/chat/negotiate"), response: ResponseHead(status: 200),
            responseBody: Array(#"{"useStatefulReconnect":true}"#.utf8))
        let play = try Playbook([session])
        play.peerAcknowledges = false
        let c = play.request("POST", "/chat/negotiate?negotiateVersion=1&useStatefulReconnect=true")
        let answer: String = try #require(play.take(c).last)
        let body = try JSONValue(parsing: String(answer.dropFirst(4)))
        #expect(body["useStatefulReconnect"]?.bool == true)
        let token = try #require(body["connectionToken"]?.string)
        let d = play.upgrade(token)
        play.send(d, #"{"protocol":"json","version":2}"#)
        play.pass(ms: 100)
        play.expect(d, "101", "{}", push("Tick"))
        play.close(d, .rst("reset"))
        #expect(play.take(play.upgrade(token)) == ["404 No Connection with that ID"])
        #expect(play.finish().sessions[0].finished)
    }

    // MARK: What may be asked again

    /// A session whose only open end is an interrupted request goes on with the client that asks again.
    @Test func aSessionIsNotOverWhileAnAnswerMayBeAskedForAgain() throws {
        let tape = tape(
            """
            10 > \(call("0", "Echo"))
            20 < \(push("Tick"))
            30 < \(done("0", "1"))
            """)
        let play = try Playbook([tape])
        let c = try play.start()
        play.send(c, call("0", "Echo"))
        play.pass(ms: 10)
        play.expect(c, push("Tick"))
        play.close(c, .rst("reset"))
        // Cut again before it has said anything.
        let d = try play.start()
        play.close(d, .rst("reset"))
        let e = try play.start()
        play.send(e, call("3", "Echo"))
        play.pass(ms: 100)
        play.expect(e, done("3", "1"))
        play.close(e, .closeFrame(code: 1000, reason: ""))
        #expect(play.negotiate() == nil)
        #expect(play.finish().sessions[0].finished)
    }

    /// A client that leaves in order asks for nothing again: what it connects for next is the next session.
    @Test func whoLeavesInOrderAsksForNothingAgain() throws {
        let sessions = [
            tape(
                """
                10 > \(call("0", "Echo"))
                20 < \(done("0", "1"))
                """), tape("10 < \(push("Tick"))", number: 2),
        ]
        let play = try Playbook(sessions)
        let c = try play.start()
        play.send(c, call("0", "Echo"))
        play.close(c, .rst("reset"))
        let d = try play.start()
        play.close(d, .closeFrame(code: 1000, reason: ""))
        let e = try play.start()
        play.pass(ms: 100)
        play.expect(e, push("Tick"))
        let report = play.finish()
        #expect(report.sessions.map(\.session) == [1, 2] && report.sessions[0].finished)
    }

    // MARK: What is queued before our own end

    private var ticks: RecordedSession {
        tape(
            """
            10 < \(push("Tick", "1"))
            10 < \(push("Tick", "2"))
            20 < close 1001
            """)
    }

    private func started(_ play: Playbook) throws -> ConnectionID {
        let token: String = try #require(play.negotiate())
        let c = play.upgrade(token)
        play.send(c, #"{"protocol":"json","version":1}"#)
        return c
    }

    /// The cursor stands at the first message that the kernel did not take, whoever ended the connection.
    @Test func whatWasQueuedBeforeOurEndAndLostIsSentAgain() throws {
        let play = try Playbook([ticks])
        play.kernelTakes = false
        let c = try started(play)
        play.pass(ms: 100)
        play.expect(c, "101", "{}", push("Tick", "1"), push("Tick", "2"), "close 1001")
        play.close(c, .rst("reset"))
        #expect(!play.finish().sessions[0].finished)
        play.kernelTakes = true
        let d = try play.start()
        play.pass(ms: 100)
        play.expect(d, push("Tick", "1"), push("Tick", "2"), "close 1001")
        #expect(play.finish().sessions[0].finished)
    }

    @Test func whatTheKernelTakesAfterOurEndIsThere() throws {
        let play = try Playbook([ticks])
        play.kernelTakes = false
        let c = try started(play)
        play.pass(ms: 100)
        play.takeAll()
        play.close(c)
        #expect(play.finish().sessions[0].finished)
        play.kernelTakes = true
        let d = try play.start()
        play.pass(ms: 100)
        play.expect(d)
    }

    /// A client that is back before its old connection is known to be lost: that one is not written to any more.
    @Test func whatWasQueuedOnAConnectionThatWasLeftIsDropped() throws {
        let play = try Playbook([ticks])
        play.kernelTakes = false
        let c = try started(play)
        play.pass(ms: 100)
        _ = play.take(c)
        let d = try started(play)
        play.expect(c, "RST")
        play.pass(ms: 100)
        play.expect(d, "101", "{}", push("Tick", "1"), push("Tick", "2"), "close 1001")
        play.takeAll()
        play.close(c)
        #expect(play.finish().sessions[0].finished)
    }

    /// A rule took the end of a stream away, and the lost connection what was on its way before it: who asks again gets all.
    @Test func whatWasLostBeforeAnEndThatARuleTookAwayComesAgain() throws {
        let tape = tape(
            """
            10 > \(stream("0", "Counter"))
            20 < \(item("0", "1"))
            30 < \(item("0", "2"))
            40 < \(end("0"))
            """)
        let play = try Playbook([tape], faults: ["disconnect on message[direction=toClient, 3]"])
        let c = try play.start()
        play.kernelTakes = false
        play.send(c, stream("4", "Counter"))
        play.pass(ms: 100)
        play.expect(c, item("4", "1"), item("4", "2"), "FIN")
        play.close(c, .rst("reset"))
        play.kernelTakes = true
        let d = try play.start()
        play.send(d, stream("5", "Counter"))
        play.pass(ms: 100)
        play.expect(d, item("5", "1"), item("5", "2"), end("5"))
        #expect(play.finish().sessions[0].finished)
    }
}
