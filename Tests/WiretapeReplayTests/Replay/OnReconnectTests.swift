import Testing
import WiretapeAttempts
import WiretapeBytes
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// `--on-reconnect`: what a client gets after its connection was lost in the middle, message by message.
@Suite struct OnReconnectTests {
    private static let ticks =
        TestTape.handshake + (1...6).map { "\($0 * 10) < \(push("Tick", "\($0)"))\n" }.joined()

    private func tick(_ n: Int) -> String { push("Tick", "\(n)") }

    /// Two ticks, a cut, two seconds, and all that comes then.
    private func run(_ policy: ReplayOptions.OnReconnect, sessions: Int = 1) throws -> (Playbook, [String]) {
        let play = try Playbook((1...sessions).map { TestTape.session(Self.ticks, number: $0) }) {
            $0.onReconnect = policy
        }
        let c = try play.start()
        play.pass(ms: 20)
        play.expect(c, tick(1), tick(2))
        play.close(c, .rst("reset"))
        play.pass(ms: 2_000)
        guard let token = play.negotiate() else { return (play, []) }
        let d = play.upgrade(token)
        play.send(d, #"{"protocol":"json","version":1}"#)
        play.pass(ms: 3_000)
        return (play, Array(play.take(d).dropFirst(2)))
    }

    @Test func resumeGoesOnWhereItWas() throws {
        let (play, got) = try run(.resume)
        #expect(got == [tick(3), tick(4), tick(5), tick(6)])
        #expect(play.finish().sessions[0].finished)
    }

    @Test func loseLeavesOutTheNextPushes() throws {
        let (play, got) = try run(.lose(2))
        #expect(got == [tick(5), tick(6)])
        #expect(play.finish().sessions[0].finished)
        #expect(try run(.lose(99)).1.isEmpty)
    }

    @Test func rewindSendsTheLastPushesAgain() throws {
        let (play, got) = try run(.rewind(1))
        #expect(got == [tick(2), tick(3), tick(4), tick(5), tick(6)])
        #expect(play.finish().sessions[0].finished)
        #expect(try run(.rewind(99)).1 == (1...6).map(tick))
    }

    @Test func liveLosesWhatWasDueMeanwhile() throws {
        let tape = TestTape.session(
            TestTape.handshake + (1...6).map { "\($0 * 1_000) < \(push("Tick", "\($0)"))\n" }.joined())
        let play = try Playbook([tape]) { $0.onReconnect = .live }
        let c = try play.start()
        play.pass(ms: 1_500)
        play.expect(c, tick(1))
        play.close(c)
        play.pass(ms: 2_000)
        // 3.5 s: ticks 2 and 3 are gone, and the clock runs on: tick 4 comes at 4 s.
        let d = try play.start()
        play.pass(ms: 480)
        play.expect(d)
        play.pass(ms: 30)
        play.expect(d, tick(4))
        play.pass(ms: 2_000)
        play.expect(d, tick(5), tick(6))
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished)
        #expect(report.outsideDigest == ["pushes of session 1 (--on-reconnect live without a manual clock)"])
    }

    /// A stream that is asked for again goes on behind the items that were due meanwhile.
    @Test func liveLosesItemsThatWereDue() throws {
        let tape = TestTape.session(
            TestTape.handshake + "10 > \(stream("0", "Counter"))\n"
                + (1...4).map { "\($0 * 1_000) < \(item("0", "\($0)"))\n" }.joined() + "4500 < \(end("0"))")
        let play = try Playbook([tape]) { $0.onReconnect = .live }
        let c = try play.start()
        play.send(c, stream("4", "Counter"))
        play.pass(ms: 1_500)
        play.expect(c, item("4", "1"))
        play.close(c)
        play.pass(ms: 2_000)
        let d = try play.start()
        play.send(d, stream("5", "Counter"))
        play.pass(ms: 3_000)
        play.expect(d, item("5", "4"), end("5"))
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished)
    }

    @Test func liveWithAManualClockIsInTheDigest() throws {
        var digests: Set<String> = []
        for away in [2_000, 1_900] as [UInt64] {
            let tape = TestTape.session(
                TestTape.handshake + (1...4).map { "\($0 * 1_000) < \(push("Tick", "\($0)"))\n" }.joined())
            let play = try Playbook([tape]) {
                $0.onReconnect = .live
                $0.clock.isManual = true
            }
            let c = try play.start()
            play.pass(ms: 1_500)
            play.close(c)
            play.pass(ms: away)
            let d = try play.start()
            play.pass(ms: 5_000)
            play.expect(d, tick(4))
            let report = play.finish()
            #expect(report.outsideDigest.isEmpty)
            digests.insert(report.digest)
        }
        #expect(digests.count == 1)
    }

    @Test func restartBeginsWithTheFirstMessage() throws {
        let (play, got) = try run(.restart)
        #expect(got == (1...6).map(tick))
        let report = play.finish()
        #expect(report.sessions.count == 1 && report.sessions[0].finished && report.sessions[0].run == 1)
        // The end is never resumed, nor begun again.
        #expect(play.negotiate() == nil)
    }

    @Test func nextGivesTheNextRecordedSession() throws {
        let (play, got) = try run(.next, sessions: 2)
        #expect(got == (1...6).map(tick))
        let report = play.finish()
        #expect(report.sessions.map(\.session) == [1, 2] && report.sessions.map(\.finished) == [false, true])
        #expect(report.verdict == .pass)
        // There is no other.
        #expect(try run(.next).1.isEmpty)
    }

    @Test func refuseRefuses() throws {
        let (play, got) = try run(.refuse, sessions: 2)
        #expect(got.isEmpty)
        #expect(play.take(play.refused) == ["404 session 1 of chat.tape is not resumed (--on-reconnect refuse)\n"])
        // By its old token, too.
        #expect(play.take(play.upgrade(play.lastToken)).first?.hasPrefix("404 ") == true)
        let report = play.finish()
        #expect(
            report.verdict == .pass && report.sessions[0].attempts.map(\.outcome) == [.connected, .status, .status])
        #expect(report.unclaimed == [2])
    }

    @Test func anEndOnTheTapeIsGoneOnBehindWhateverThePolicy() throws {
        let tape = TestTape.session(
            TestTape.handshake + """
                10 < \(push("Tick", "1"))
                20 < reset
                30 < \(push("Tick", "2"))
                40 < \(push("Tick", "3"))
                """)
        for policy in [ReplayOptions.OnReconnect.resume, .lose(1), .rewind(1), .live, .restart, .next, .refuse] {
            let play = try Playbook([tape], speed: .factor(100)) { $0.onReconnect = policy }
            let c = try play.start()
            play.pass(ms: 30)
            play.expect(c, tick(1), "RST")
            let d = try play.start()
            play.pass(ms: 100)
            play.expect(d, tick(2), tick(3))
            #expect(play.finish().sessions[0].finished, "\(policy)")
        }
    }

    /// Items count as pushes; those of a stream that is asked for again go on behind the lost ones.
    @Test func loseAndRewindCountTheItemsOfAStream() throws {
        let tape = TestTape.session(
            TestTape.handshake + """
                10 > \(stream("0", "Counter"))
                20 < \(item("0", "1"))
                30 < \(push("Tick", "1"))
                40 < \(item("0", "2"))
                50 < \(push("Tick", "2"))
                60 < \(item("0", "3"))
                70 < \(end("0"))
                """)
        for (policy, wanted) in [
            (.lose(2), [item("5", "3"), end("5")]), (.lose(1), [push("Tick", "2"), item("5", "3"), end("5")]),
            (.rewind(1), [tick(1), item("5", "2"), push("Tick", "2"), item("5", "3"), end("5")]),
            (.rewind(2), [item("5", "1"), tick(1), item("5", "2"), push("Tick", "2"), item("5", "3"), end("5")]),
        ] as [(ReplayOptions.OnReconnect, [String])] {
            let play = try Playbook([tape]) { $0.onReconnect = policy }
            let c = try play.start()
            play.send(c, stream("4", "Counter"))
            play.pass(ms: 20)
            play.expect(c, item("4", "1"), tick(1))
            play.close(c)
            let token: String = try #require(play.negotiate())
            let d = play.upgrade(token)
            play.send(d, #"{"protocol":"json","version":1}"# + " | " + stream("5", "Counter"))
            play.pass(ms: 500)
            #expect(Array(play.take(d).dropFirst(2)) == wanted, "\(policy)")
            let report = play.finish()
            #expect(report.sessions[0].finished && report.sessions[0].abandoned == 0)
        }
    }

    /// The parts of an upload that the lost connection interrupted hold back what is behind them while it may begin again:
    /// until the client has been quiet for the grace.
    @Test(arguments: [false, true]) func anInterruptedUploadIsForgotten(_ again: Bool) throws {
        let tape = TestTape.session(
            TestTape.handshake + """
                10 > {"type":1,"invocationId":"1","target":"Sum","arguments":[],"streamIds":["0"]}
                20 > \(item("0", "1"))
                30 > \(item("0", "2"))
                40 > \(end("0"))
                50 < \(done("1", "3"))
                60 < \(push("Tick", "1"))
                """)
        let play = try Playbook([tape], speed: .instant)
        let c = try play.start()
        play.send(c, #"{"type":1,"invocationId":"1","target":"Sum","arguments":[],"streamIds":["0"]}"#)
        play.send(c, item("0", "1"))
        play.close(c)
        let d = try play.start()
        if again {
            play.send(d, #"{"type":1,"invocationId":"8","target":"Sum","arguments":[],"streamIds":["7"]}"#)
            play.send(d, item("7", "1") + " | " + item("7", "2") + " | " + end("7"))
            play.expect(d, done("8", "3"), tick(1))
        } else {
            play.pass(ms: 498)
            play.expect(d)
            play.pass(ms: 1)
            play.expect(d, tick(1))
        }
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].abandoned == (again ? 0 : 1))
        #expect(report.sessions[0].finished)
    }
}
