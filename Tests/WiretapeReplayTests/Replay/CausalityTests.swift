import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport

/// `--causality tape`: what another session's client said first.
@Suite struct CausalityTests {
    /// Alice hears of bob after bob has said hello; lines tell the order.
    private func tape() -> [RecordedSession] {
        var alice = TestTape.session(TestTape.handshake + "50 < \(push("Joined", #""bob""#))")
        var bob = TestTape.session(TestTape.handshake + "40 > \(push("Hello"))\n60 < \(push("Tick"))", number: 2)
        for (i, line) in [2, 3, 9].enumerated() { alice.entries[i].line = line }
        for (i, line) in [4, 5, 8, 10].enumerated() { bob.entries[i].line = line }
        (alice.name, bob.name) = ("alice", "bob")
        return [alice, bob]
    }

    @Test func aMessageWaitsForTheOthersClient() throws {
        let play = try Playbook(tape(), speed: .instant) { $0.causality = .tape }
        let alice = try play.start()
        play.pass(ms: 5_000)
        play.expect(alice)
        play.host = "10.0.0.2"
        let bob = try play.start()
        play.expect(alice)
        play.send(bob, push("Hello"))
        play.expect(bob, push("Tick"))
        play.expect(alice, push("Joined", #""bob""#))
        #expect(play.finish().verdict == .pass)
    }

    /// Several sessions need names. Replay recognizes a session of a single request by its content.
    @Test func namesAreNeededForSeveralSessions() throws {
        var options = ReplayOptions()
        options.causality = .tape
        var unnamed = tape()
        unnamed[1].name = nil
        try options.check(tape(), tape: "chat.tape")
        #expect(throws: OptionError.self) { try options.check(unnamed, tape: "chat.tape") }
        try options.check([unnamed[1]], tape: "chat.tape")
        let requests = OperationTape.sessions(
            #"0 1 POST json {"query":"mutation { send }"}"# + "\n" + #"5 1 json {"data":{"send":true}}"#)
        try options.check(requests + [unnamed[1]] + requests, tape: "chat.tape")
    }

    @Test func sessionsNeedNotWaitForEachOther() throws {
        let play = try Playbook(tape(), speed: .instant) { $0.causality = .session }
        let alice = try play.start()
        play.expect(alice, push("Joined", #""bob""#))
    }

    /// A push that both sessions' clients hold back: grace lets go of its own, and not again and again.
    @Test func noGraceForWhatAnotherSessionHoldsBack() throws {
        var alice = TestTape.session(TestTape.handshake + "45 > \(push("Here"))\n50 < \(push("Joined"))")
        for (i, line) in [2, 3, 7, 9].enumerated() { alice.entries[i].line = line }
        let play = try Playbook([alice, tape()[1]], speed: .instant) {
            $0.causality = .tape
            $0.grace = 0
            $0.keepalive = .off
        }
        let c = try play.start()
        play.pass(ms: 20_000)
        play.expect(c)
        play.host = "10.0.0.2"
        let bob = try play.start()
        play.send(bob, push("Hello"))
        play.expect(c, push("Joined"))
        play.send(c, push("Here"))
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].reordered == 1)
    }

    @Test func patienceEndsHereToo() throws {
        let play = try Playbook(tape(), speed: .instant) {
            $0.causality = .tape
            $0.onDivergence = .warn
            $0.keepalive = .off
        }
        let alice = try play.start()
        play.pass(ms: 29_998)
        play.expect(alice)
        play.pass(ms: 40_000)
        play.expect(alice, push("Joined", #""bob""#))
        let report = play.finish()
        #expect(report.exitCode == 2)
        #expect(report.sessions[0].missing.last == "a client message of session 2 (chat.tape:4)")
    }

    /// Also a session that was over on the tape when this one began.
    @Test func sessionsThatWereOverAreWaitedFor() throws {
        var alice = TestTape.session(TestTape.handshake + "10 > \(push("Hello"))")
        var bob = TestTape.session(TestTape.handshake + "50 < \(push("Tick"))", number: 2)
        (alice.name, bob.name) = ("alice", "bob")
        let play = try Playbook([alice, bob], speed: .instant) { $0.causality = .tape }
        play.listener = "bob"
        let c = try play.start()
        play.pass(ms: 5_000)
        play.expect(c)
        play.listener = "alice"
        let other = try play.start()
        play.send(other, push("Hello"))
        play.expect(c, push("Tick"))
    }
}
