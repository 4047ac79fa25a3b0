import Testing
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// `--on-reconnect` where the protocol goes on without a handshake: every record that the client gets, in order.
@Suite struct StatefulReconnectTests {
    private static let handshake = """
        1 > {"protocol":"json","version":2}
        2 < {}

        """
    private static let ticks = handshake + (1...6).map { "\($0 * 10) < \(push("Tick", "\($0)"))\n" }.joined()

    private func tick(_ n: Int) -> String { push("Tick", "\(n)") }

    private func sequence(_ n: Int) -> String { #"{"type":9,"sequenceId":\#(n)}"# }

    private func ack(_ n: Int) -> String { #"{"type":8,"sequenceId":\#(n)}"# }

    /// Two ticks, of which the client acknowledges one, a cut, two seconds, and the same token again.
    private func run(_ policy: ReplayOptions.OnReconnect, sessions: Int = 1) throws -> (Playbook, [String]) {
        let play = try Playbook((1...sessions).map { TestTape.session(Self.ticks, number: $0) }) {
            $0.onReconnect = policy
        }
        let token: String = try #require(play.negotiate())
        let c = play.upgrade(token)
        play.send(c, #"{"protocol":"json","version":2}"#)
        play.pass(ms: 20)
        play.expect(c, "101", "{}", tick(1), tick(2))
        play.send(c, ack(1))
        play.close(c, .rst("reset"))
        play.pass(ms: 2_000)
        let d = play.upgrade(token)
        play.send(d, sequence(1))
        play.pass(ms: 5_000)
        return (play, play.take(d))
    }

    @Test func resumeResendsWhatIsNotAcknowledgedAndGoesOn() throws {
        let (play, got) = try run(.resume)
        #expect(got == ["101", sequence(2), tick(2), tick(3), tick(4), tick(5), tick(6)])
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished && report.sessions[0].assigned == .token)
    }

    /// Rules reach what replay sends by itself.
    @Test func rulesReachAcknowledgements() throws {
        for (rule, wanted) in [("drop on Ack", []), ("replace(/sequenceId=7) on Ack", [ack(7)])] {
            let play = try Playbook([TestTape.session(Self.handshake + "10 > \(call("0", "Slow"))")], faults: [rule])
            let token: String = try #require(play.negotiate())
            let c = play.upgrade(token)
            play.send(c, #"{"protocol":"json","version":2}"# + " | " + call("17", "Slow"))
            play.pass(ms: 2_000)
            #expect(play.take(c) == ["101", "{}"] + wanted, "\(rule)")
            #expect(play.finish().faults.map(\.rule) == [rule])
        }
    }

    @Test func rulesReachTheSequence() throws {
        #expect(
            try sequenced("replace(/sequenceId=7) on Sequence") == [
                ["101", sequence(7), tick(1), tick(2), tick(3)], [],
            ])
        #expect(try sequenced("drop on Sequence") == [["101", tick(1), tick(2), tick(3)], []])
        // The messages after the Sequence are delayed, too.
        #expect(try sequenced("delay(1s) on Sequence") == [["101"], [sequence(1), tick(1), tick(2), tick(3)]])
        #expect(try sequenced("reset after Sequence") == [["101", sequence(1), "RST"], []])
    }

    /// The messages that a client receives after a reconnect: those of the first second, then those of the next second.
    private func sequenced(_ rule: String) throws -> [[String]] {
        let three = Self.handshake + (1...3).map { "\($0) < \(tick($0))\n" }.joined()
        let play = try Playbook([TestTape.session(three)], faults: ["reset after Tick[2]", rule])
        let token: String = try #require(play.negotiate())
        let c = play.upgrade(token)
        play.send(c, #"{"protocol":"json","version":2}"#)
        play.pass(ms: 100)
        let d = play.upgrade(token)
        play.send(d, sequence(1))
        play.pass(ms: 900)
        let first = play.take(d)
        play.pass(ms: 1_000)
        return [first, play.take(d)]
    }

    @Test func loseLosesWhatComesThen() throws {
        #expect(try run(.lose(2)).1 == ["101", sequence(2), tick(2), tick(5), tick(6)])
    }

    @Test func rewindSaysTheLastOnesAsNewOnes() throws {
        #expect(
            try run(.rewind(1)).1 == ["101", sequence(2), tick(2), tick(2), tick(3), tick(4), tick(5), tick(6)])
    }

    @Test func liveLosesNothingSinceTheServerKeptIt() throws {
        let play = try Playbook([
            TestTape.session(Self.handshake + (1...4).map { "\($0 * 1_000) < \(tick($0))\n" }.joined())
        ]) { $0.onReconnect = .live }
        let token: String = try #require(play.negotiate())
        let c = play.upgrade(token)
        play.send(c, #"{"protocol":"json","version":2}"#)
        play.pass(ms: 1_500)
        play.expect(c, "101", "{}", tick(1))
        play.close(c, .rst("reset"))
        play.pass(ms: 2_000)
        let d = play.upgrade(token)
        play.send(d, sequence(1))
        play.pass(ms: 10)
        play.expect(d, "101", sequence(1), tick(1), tick(2), tick(3))
        play.pass(ms: 500)
        play.expect(d, tick(4))
        #expect(play.finish().verdict == .pass)
    }

    @Test func pendingCallsAndTheirIDsSurvive() throws {
        let play = try Playbook([
            TestTape.session(
                Self.handshake + """
                    10 > \(call("0", "Slow"))
                    500 < \(done("0", "1"))
                    510 < \(tick(1))
                    """)
        ])
        let token: String = try #require(play.negotiate())
        let c = play.upgrade(token)
        play.send(c, #"{"protocol":"json","version":2}"# + " | " + call("17", "Slow"))
        play.pass(ms: 100)
        play.close(c, .rst("reset"))
        let d = play.upgrade(token)
        play.send(d, sequence(1) + " | " + call("17", "Slow"))
        play.pass(ms: 1_400)
        #expect(play.take(d) == ["101", sequence(1), done("17", "1"), tick(1), ack(1)])
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].abandoned == 0 && report.sessions[0].matched == 2)
    }

    /// The server has forgotten the connection: the client must begin anew, and gets what the policy has.
    @Test(arguments: [ReplayOptions.OnReconnect.restart, .next, .refuse])
    func otherPoliciesForgetTheConnection(_ policy: ReplayOptions.OnReconnect) throws {
        let (play, got) = try run(policy, sessions: 2)
        #expect(got.first?.hasPrefix("404 ") == true && got.count == 1)
        let token = play.negotiate()
        guard policy != .refuse else {
            #expect(token == nil)
            return
        }
        #expect(token != nil)
        let e = play.upgrade(token)
        play.send(e, #"{"protocol":"json","version":2}"#)
        play.pass(ms: 1_000)
        #expect(play.take(e) == ["101", "{}"] + (1...6).map(tick))
        #expect(play.finish().sessions.map(\.session) == (policy == .next ? [1, 2] : [1]))
    }
}
