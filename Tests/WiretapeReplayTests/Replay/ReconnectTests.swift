import Testing
import WiretapeAttempts
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// `resume`: where a session goes on after its connection was lost.
@Suite struct ReconnectTests {
    private static let ticks =
        TestTape.handshake + """
            10 < {"type":1,"target":"Tick","arguments":[1]}
            20 < {"type":1,"target":"Tick","arguments":[2]}
            30 < {"type":1,"target":"Tick","arguments":[3]}
            40 < {"type":1,"target":"Tick","arguments":[4]}
            """

    private func tick(_ n: Int) -> String { #"{"type":1,"target":"Tick","arguments":[\#(n)]}"# }

    @Test func theCursorStandsWhereTheConnectionWasLost() throws {
        let play = try Playbook([TestTape.session(Self.ticks)])
        let c = try play.start()
        play.pass(ms: 20)
        play.expect(c, tick(1), tick(2))
        play.close(c, .rst("connection reset"))
        play.pass(ms: 2_000)
        let d = try play.start()
        // The session's time stood still: the gap counts from the moment at which it goes on.
        play.pass(ms: 8)
        play.expect(d)
        play.pass(ms: 2)
        play.expect(d, tick(3))
        play.pass(ms: 10)
        play.expect(d, tick(4))
        let session = play.finish().sessions[0]
        #expect(session.finished && session.attempts.map(\.outcome) == [.connected, .connected])
        #expect(session.attempts[1].delay == 2_000_000_000)
        #expect(session.attempts[0].ended == Attempt.End(time: 21_000_000, by: .client, how: .reset))
        #expect(session.assigned == .identity)
    }

    @Test func whatTheKernelDidNotTakeIsSentAgain() throws {
        let play = try Playbook([TestTape.session(Self.ticks)], speed: .instant)
        let c = play.upgrade(try token(play))
        play.send(c, #"{"protocol":"json","version":1}"#)
        #expect(play.take(c).count == 6)
        // A second client whose kernel takes nothing.
        let slow = try Playbook([TestTape.session(Self.ticks)], speed: .instant)
        slow.kernelTakes = false
        let d = slow.upgrade(try token(slow))
        slow.send(d, #"{"protocol":"json","version":1}"#)
        #expect(slow.take(d).count == 6)
        slow.close(d, .rst("reset"))
        slow.kernelTakes = true
        let e = try slow.start()
        slow.expect(e, tick(1), tick(2), tick(3), tick(4))
    }

    private func token(_ play: Playbook) throws -> String { try #require(play.negotiate()) }

    @Test func aSessionAtItsEndGoesToNobodyWhileOneIsLeft() throws {
        let play = try Playbook(
            [TestTape.session(Self.ticks), TestTape.session(TestTape.handshake, number: 2)], speed: .instant)
        let c = try play.start()
        play.close(c)
        let d = try play.start()
        play.expect(d)
        play.close(d, .closeFrame(code: 1000, reason: ""))
        #expect(play.negotiate() == nil)
        #expect(
            play.take(play.refused) == [
                "404 no session left on chat.tape for POST /chat/negotiate: all 2 are taken (--when-exhausted refuse).\n"
            ])
        let report = play.finish()
        // What the replay itself refuses is no pass.
        #expect(report.verdict == .diverged && report.sessions.map(\.session) == [1, 2])
        #expect(report.divergences == report.ownRefusals && report.ownRefusals.count == 1)
        #expect(report.sessions[1].attempts.map(\.outcome) == [.connected, .status])
    }

    @Test func anUnansweredRequestIsAbandonedUnlessItComesAgain() throws {
        let tape = TestTape.session(
            TestTape.handshake + """
                10 > {"type":1,"invocationId":"0","target":"A","arguments":[]}
                500 < {"type":3,"invocationId":"0","result":1}
                510 < {"type":1,"target":"Tick","arguments":[]}
                """)
        let push = #"{"type":1,"target":"Tick","arguments":[]}"#
        for repeats in [false, true] {
            let play = try Playbook([tape])
            let c = try play.start()
            play.send(c, #"{"type":1,"invocationId":"0","target":"A","arguments":[]}"#)
            play.close(c)
            play.pass(ms: 100)
            let d = try play.start()
            if repeats { play.send(d, #"{"type":1,"invocationId":"8","target":"A","arguments":[]}"#) }
            play.pass(ms: 600)
            if repeats {
                play.expect(d, #"{"type":3,"invocationId":"8","result":1}"#, push)
            } else {
                play.expect(d, push)
            }
            let report = play.finish()
            #expect(report.sessions[0].abandoned == (repeats ? 0 : 1))
            #expect(report.sessions[0].finished && report.verdict == .pass)
        }
    }

    @Test func aCompletedRequestThatComesAgainGetsItsAnswerAgain() throws {
        let play = try Playbook(
            [
                TestTape.session(
                    TestTape.handshake + """
                        10 > {"type":1,"invocationId":"0","target":"Subscribe","arguments":["x"]}
                        11 < {"type":3,"invocationId":"0","result":null}
                        12 < {"type":1,"target":"Tick","arguments":[1]}
                        90000 < {"type":1,"target":"Tick","arguments":[2]}
                        """)
            ], speed: .factor(10))
        let c = try play.start()
        play.send(c, #"{"type":1,"invocationId":"0","target":"Subscribe","arguments":["x"]}"#)
        play.pass(ms: 10)
        play.expect(c, #"{"type":3,"invocationId":"0","result":null}"#, tick(1))
        play.close(c)
        let d = try play.start()
        play.send(d, #"{"type":1,"invocationId":"1","target":"Subscribe","arguments":["x"]}"#)
        play.pass(ms: 10)
        play.expect(d, #"{"type":3,"invocationId":"1","result":null}"#)
        play.pass(ms: 9_000)
        play.expect(d, tick(2))
        #expect(play.finish().sessions[0].finished)
    }

    @Test func aStreamGoesOnAtItsCursor() throws {
        let play = try Playbook([
            TestTape.session(
                TestTape.handshake + """
                    10 > {"type":4,"invocationId":"0","target":"Counter","arguments":[]}
                    20 < {"type":2,"invocationId":"0","item":1}
                    30 < {"type":2,"invocationId":"0","item":2}
                    40 < {"type":2,"invocationId":"0","item":3}
                    50 < {"type":3,"invocationId":"0"}
                    60 < close 1000
                    """)
        ])
        let c = try play.start()
        play.send(c, #"{"type":4,"invocationId":"0","target":"Counter","arguments":[]}"#)
        play.pass(ms: 20)
        play.expect(c, #"{"type":2,"invocationId":"0","item":1}"#, #"{"type":2,"invocationId":"0","item":2}"#)
        play.close(c)
        let d = try play.start()
        // The end of the tape waits: the client may ask again.
        play.pass(ms: 400)
        play.expect(d)
        play.send(d, #"{"type":4,"invocationId":"5","target":"Counter","arguments":[]}"#)
        play.pass(ms: 200)
        play.expect(
            d, #"{"type":2,"invocationId":"5","item":3}"#, #"{"type":3,"invocationId":"5"}"#, "close 1000")
        #expect(play.finish().sessions[0].abandoned == 0)
    }

    @Test func aServersUnansweredRequestIsAskedAgain() throws {
        let play = try Playbook(
            [
                TestTape.session(
                    TestTape.handshake + """
                        11 < {"type":1,"invocationId":"s1","target":"Name","arguments":[]}
                        12 > {"type":3,"invocationId":"s1","result":"ada"}
                        13 < {"type":1,"target":"Tick","arguments":[1]}
                        """)
            ], speed: .instant)
        let c = try play.start()
        play.expect(c, #"{"type":1,"invocationId":"s1","target":"Name","arguments":[]}"#)
        play.close(c)
        let d = try play.start()
        play.expect(d, #"{"type":1,"invocationId":"s1","target":"Name","arguments":[]}"#)
        play.send(d, #"{"type":3,"invocationId":"s1","result":"ada"}"#)
        play.expect(d, tick(1))
    }

    @Test func theOldTokenIsGoodForAReconnect() throws {
        let play = try Playbook([TestTape.session(Self.ticks)])
        let token: String = try #require(play.negotiate())
        let c = play.upgrade(token)
        #expect(play.take(play.upgrade(token)) == ["409 "])
        play.send(c, #"{"protocol":"json","version":1}"#)
        play.pass(ms: 10)
        play.close(c)
        let d = play.upgrade(token)
        play.send(d, #"{"protocol":"json","version":1}"#)
        play.pass(ms: 100)
        #expect(play.take(d).suffix(3) == [tick(2), tick(3), tick(4)])
        #expect(play.finish().sessions[0].assigned == .token)
        // Behind the last message, too; not when the client has left in order.
        play.close(d)
        let e = play.upgrade(token)
        play.expect(e, "101")
        play.close(e, .closeFrame(code: 1000, reason: ""))
        #expect(play.take(play.upgrade(token)) == ["404 No Connection with that ID"])
    }

    @Test func twoClientsOfOneHostGetASessionEach() throws {
        let tapes = [TestTape.session(Self.ticks), TestTape.session(Self.ticks, number: 2)]
        let play = try Playbook(tapes)
        let first: String = try #require(play.negotiate())
        let second: String = try #require(play.negotiate())
        #expect(first == "token-1" && second == "token-2")
        #expect(play.take(play.upgrade(second)) == ["101"])
        #expect(play.take(play.upgrade(first)) == ["101"])
        // A third negotiation has nothing left, and both sessions are taken.
        #expect(play.negotiate() == nil)
    }

    @Test func idsAreRecordedOnesFirstAndVariedThen() throws {
        let play = try Playbook([TestTape.session(Self.ticks, token: "Zb0m8n1J4sQ7tT2uY9wK3A")])
        let first: String = try #require(play.negotiate())
        let c = play.upgrade(first)
        play.close(c)
        let second: String = try #require(play.negotiate())
        #expect(first == "Zb0m8n1J4sQ7tT2uY9wK3A")
        #expect(second != first && second.count == first.count)
    }
}
