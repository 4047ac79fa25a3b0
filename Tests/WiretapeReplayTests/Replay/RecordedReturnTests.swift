import Testing
import WiretapeAttempts
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// Tapes on which the client lost its connection and came back. The return takes the next recorded session, and policies about coming
/// back judge both sessions as one client.
@Suite struct RecordedReturnTests {
    private static let join = call("1", "Join", #""room""#)
    private static let joined = #"{"type":3,"invocationId":"1","result":null}"#

    /// The recorded client joins, is cut off by `end`, and joins again half a second later.
    private static func tape(end: String = "reset") -> [RecordedSession] {
        [
            TestTape.session(
                TestTape.handshake + """
                    10 > \(join)
                    20 < \(joined)
                    30 < \(push("Tick", "1"))
                    \(end.isEmpty ? "" : "40 < " + end)

                    """),
            TestTape.session(
                """
                540 > {"protocol":"json","version":1}
                541 < {}
                550 > \(join)
                560 < \(joined)
                570 < \(push("Tick", "2"))

                """, number: 2),
        ]
    }

    /// Plays a client that reconnects after `ms` milliseconds, and judges it by `policy`.
    private func judged(
        _ policy: String, after ms: UInt64, end: String = "reset", joinsAgain: Bool = true, agent: String = "test",
        leaves: Bool = false
    ) throws -> (words: [String], report: ReplayReport) {
        let policies = [try Expectation.parse(policy)]
        let play = try Playbook(Self.tape(end: end)) { $0.expectations = policies }
        let first = try play.start()
        play.pass(ms: 10)
        play.send(first, Self.join)
        play.pass(ms: 40)
        if leaves { play.close(first, .closeFrame(code: 1000, reason: "")) }
        if end.hasPrefix("close") { play.close(first) }
        play.pass(ms: ms)
        play.agent = agent
        let second = try play.start()
        if joinsAgain { play.send(second, Self.join) }
        play.pass(ms: 3_000)
        play.close(second)
        let report = play.finish()
        return (report.expectations.map(\.word), report)
    }

    @Test(
        arguments: [
            ("delays(500ms)", 500, "met"), ("delays(500ms)", 100, "not met"), ("constant(500ms)", 500, "met"),
            ("constant(2s)", 500, "not met"), ("rate(max=1/5s)", 500, "not met"), ("rate(max=2/5s)", 500, "met"),
            ("resubscribes(Join)", 500, "met"),
        ] as [(String, UInt64, String)])
    func theReturnIsJudged(_ policy: String, _ ms: UInt64, _ word: String) throws {
        let (words, report) = try judged(policy, after: ms)
        #expect(words == [word], "\(report.expectations)")
        #expect(report.sessions.count == 2 && report.sessions.allSatisfy(\.finished))
    }

    @Test func aFinalCloseIsFinal() throws {
        let (words, report) = try judged("stays-away(after=close(4401))", after: 100, end: "close 4401 Unauthorized")
        #expect(words == ["not met"])
        #expect(
            report.expectations[0].reason.contains("(the client went on in session 2 with attempt 2)"),
            "\(report.expectations[0].reason)")
    }

    @Test func theReportShowsTheWait() throws {
        let (_, report) = try judged("rate(max=2/5s)", after: 300)
        let delay = try #require(report.sessions[1].attempts.first?.delay)
        #expect((290_000_000...320_000_000).contains(delay), "\(delay)")
        #expect(report.sessions[0].attempts.first?.delay == nil)
    }

    @Test func whoJoinsNoMoreIsFound() throws {
        let (words, report) = try judged("resubscribes(Join)", after: 500, joinsAgain: false)
        #expect(words == ["not met"], "\(report.expectations)")
    }

    /// Who leaves by itself has lost nothing, and another client is no return.
    @Test func anotherClientIsNoReturn() throws {
        #expect(try judged("delays(500ms)", after: 100, agent: "other").words == ["not judged"])
        #expect(try judged("delays(500ms)", after: 100, end: "", leaves: true).words == ["not judged"])
    }

    /// Two connections side by side on the tape are two clients that look alike.
    @Test func sessionsSideBySideAreTwo() throws {
        let policies = [try Expectation.parse("delays(500ms)")]
        let ticks = TestTape.handshake + "40 < reset\n"
        let play = try Playbook([TestTape.session(ticks), TestTape.session(ticks, number: 2)]) {
            $0.expectations = policies
        }
        let first = try play.start()
        play.pass(ms: 50)
        play.close(first)
        play.pass(ms: 100)
        _ = try play.start()
        play.pass(ms: 3_000)
        #expect(play.finish().expectations.map(\.word) == ["not judged"])
    }
}
