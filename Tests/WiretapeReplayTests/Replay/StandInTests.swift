import Testing
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// Under `warn` and `ignore` a message that differs counts as the recorded one that it is like, until that one comes itself:
/// whatever the order, each equal message gets its own answer, and every request an answer or the protocol's error.
@Suite struct StandInTests {
    static let ways = [OnDivergence.warn, .ignore]

    private func play(
        _ script: String, _ way: OnDivergence, speed: ReplayOptions.Speed = .instant
    ) throws -> Playbook {
        try Playbook([TestTape.session(TestTape.handshake + script)], speed: speed) {
            $0.onDivergence = way
            $0.keepalive = .off
        }
    }

    private static let twoCalls = """
        3 > \(call("0", "Add", "1,2"))
        4 > \(call("1", "Add", "3,4"))
        10 < \(done("0", "3"))
        11 < \(done("1", "7"))
        12 < \(push("Tick"))
        """

    @Test(arguments: ways, [true, false])
    func oneArgumentIsAnother(_ way: OnDivergence, _ otherFirst: Bool) throws {
        let play = try play(Self.twoCalls, way)
        let c = try play.start()
        // It differs from the second call in one place, from the first in two.
        let other = call("x", "Add", "3,5")
        if otherFirst { play.send(c, other) }
        play.send(c, call("a", "Add", "1,2"))
        if !otherFirst { play.send(c, other) }
        let answers = play.take(c)
        #expect(Set(answers.dropLast()) == [done("a", "3"), done("x", "7")] && answers.last == push("Tick"))
        let report = play.finish()
        #expect(report.sessions[0].unexpected == ["Invocation Add(3, 5)"] && report.sessions[0].missing == [])
        #expect(report.sessions[0].finished && report.sessions[0].matched == 3 && report.divergences.count == 1)
        #expect(report.divergences[0].contains("recorded  Invocation Add(3, 4)\n"))
    }

    @Test(arguments: ways) func anEqualMessageTakesItsPlaceBack(_ way: OnDivergence) throws {
        let play = try play(Self.twoCalls, way, speed: .factor(1))
        let c = try play.start()
        // Like both of them; stands for the first, then for the second, then for nothing.
        play.send(c, call("x", "Add", "8,9"))
        play.send(c, call("a", "Add", "1,2"))
        play.send(c, call("b", "Add", "3,4"))
        play.expect(c, refused("x", "Invocation Add(8, 9)"))
        play.pass(ms: 20)
        play.expect(c, done("a", "3"), done("b", "7"), push("Tick"))
        let report = play.finish()
        #expect(report.sessions[0].unexpected == ["Invocation Add(8, 9)"] && report.sessions[0].missing == [])
        #expect(report.sessions[0].finished && report.sessions[0].matched == 3 && report.divergences.count == 1)
    }

    /// What it was told by then it keeps. The others get all of their own.
    @Test(arguments: ways) func afterTheAnswer(_ way: OnDivergence) throws {
        let script = """
            3 > \(call("0", "Add", "1,2"))
            4 < \(done("0", "3"))
            5 > \(call("1", "Add", "3,4"))
            6 < \(done("1", "7"))
            7 < \(push("Tick"))
            """
        for hasBoth in [true, false] {
            let play = try play(script, way)
            let c = try play.start()
            play.send(c, call("x", "Add", "8,9"))
            play.expect(c, done("x", "3"))
            play.send(c, call("a", "Add", "1,2"))
            play.expect(c, done("a", "3"), push("Tick"))
            if hasBoth {
                play.send(c, call("b", "Add", "3,4"))
                play.expect(c, done("b", "7"))
            }
            let report = play.finish()
            #expect(report.sessions[0].unexpected == ["Invocation Add(8, 9)"] && report.sessions[0].missing == [])
            #expect(report.sessions[0].finished && report.sessions[0].matched == 3)
        }
    }

    @Test(arguments: ways) func inTheMiddleOfAStream(_ way: OnDivergence) throws {
        let play = try play(
            """
            3 > \(stream("0", "Count", "2"))
            4 < \(item("0", "1"))
            50 < \(item("0", "2"))
            51 < \(end("0"))
            """, way, speed: .factor(1))
        let c = try play.start()
        play.send(c, stream("x", "Count", "3"))
        play.pass(ms: 10)
        play.expect(c, item("x", "1"))
        play.send(c, stream("a", "Count", "2"))
        play.expect(c, refused("x", "StreamInvocation Count(3)"))
        play.pass(ms: 100)
        play.expect(c, item("a", "1"), item("a", "2"), end("a"))
        #expect(play.finish().sessions[0].finished)
    }

    @Test(arguments: ways) func messagesWithoutAnswers(_ way: OnDivergence) throws {
        let play = try play(
            """
            3 > \(push("Say", "1"))
            4 > \(push("Say", "2"))
            5 < \(push("Tick"))
            """, way)
        let c = try play.start()
        play.send(c, push("Say", "3"))
        play.send(c, push("Say", "1"))
        play.expect(c, push("Tick"))
        let report = play.finish()
        #expect(report.sessions[0].unexpected == ["Invocation Say(3)"] && report.sessions[0].missing == [])
        #expect(report.sessions[0].finished && report.sessions[0].matched == 3)
    }

    /// A client that says the same on its next connection asks for the same again.
    @Test(arguments: ways) func overALostConnection(_ way: OnDivergence) throws {
        let play = try play(Self.twoCalls, way, speed: .factor(1))
        let c = try play.start()
        play.send(c, call("x", "Add", "8,9"))
        play.close(c, .rst("reset"))
        let d = try play.start()
        play.send(d, call("y", "Add", "8,9"))
        play.send(d, call("b", "Add", "3,4"))
        play.pass(ms: 20)
        play.expect(d, done("y", "3"), done("b", "7"), push("Tick"))
        let report = play.finish()
        #expect(report.sessions[0].finished && report.sessions[0].unexpected == ["Invocation Add(8, 9)"])
    }

    /// Some clients do not wait for the answer to their handshake.
    @Test(arguments: ways) func whatIsSaidBeforeTheHandshakeIsAnswered(_ way: OnDivergence) throws {
        let play = try play(Self.twoCalls, way, speed: .factor(1))
        let c = play.upgrade(play.negotiate())
        play.send(c, #"{"protocol":"json","version":1} | \#(call("x", "Erase")) | \#(call("a", "Add", "1,2"))"#)
        play.expect(c, "101")
        play.pass(ms: 1)
        play.expect(c, "{}", refused("x", "Invocation Erase()"))
        play.pass(ms: 20)
        play.expect(c, done("a", "3"))
    }
}
