import Testing
import WiretapeAttempts
import WiretapeBytes
import WiretapeReplay
import WiretapeReport
import WiretapeSamples
import WiretapeSimulation

/// Acceptance: the replay server and a real application on the simulated network.
@Suite struct ReplaySimulationTests {
    private static let seeds = 1_000
    private static let parts = 4
    private static let lines = ["hello", "is anybody there?", "never mind"]

    @Test(arguments: 0..<parts) func everySeedWithoutFaultsIsOneDigest(part: Int) throws {
        let calls = try RecordedSample(.calls(think: 20_000_000))
        var digests: Set<String> = []
        for seed in Seeds.part(part, of: Self.parts, Self.seeds) {
            let run = try ReplayRun(calls.sessions, .calls(think: 20_000_000), seed: seed, conditions: .rough)
            var problems = run.problems
            if run.reached != true { problems.append("the client ended as \(run.told.suffix(3))") }
            if run.report.verdict != .pass { problems.append("\(run.report.reasons)") }
            if run.told.sorted() != calls.told.sorted() { problems.append("the client saw \(run.told)") }
            digests.insert(run.report.digest)
            if digests.count > 1 { problems.append("another digest") }
            Seeds.check(seed, "ReplaySimulationTests", problems)
        }
        #expect(digests.count <= 1)
    }

    /// Resets of the network at drawn places: the client comes back and the session goes on.
    @Test(arguments: 0..<parts) func everySeedWithResets(part: Int) throws {
        let chat = try RecordedSample(.chat(Self.lines))
        var resumed = 0
        for seed in Seeds.part(part, of: Self.parts, Self.seeds) {
            var random = SplitMix64(seed: seed)
            var conditions = NetworkConditions.rough
            conditions.resetOneIn = 15 + random.below(80)
            let run = try ReplayRun(chat.sessions, .chat(Self.lines), seed: seed, conditions: conditions)
            var problems = run.problems
            if run.reached == true, run.report.verdict != .pass { problems.append("\(run.report.reasons) \(run.told)") }
            if run.reached == nil { problems.append("the client has no end: \(run.told)") }
            if run.told.contains("reconnected") { resumed += 1 }
            // Whatever is cut, what was said is heard in order; only what was not acknowledged is said again.
            let heard = run.told.compactMap { line in Self.lines.firstIndex { line.contains("\"\($0)\"") } }
            if heard != heard.sorted() { problems.append("heard in the order \(heard)") }
            if seed % 10 == 0 {
                let again = try ReplayRun(chat.sessions, .chat(Self.lines), seed: seed, conditions: conditions)
                if again.report != run.report || again.loop.digest.value != run.loop.digest.value
                    || again.actual.value != run.actual.value
                {
                    problems.append("the same seed is another run")
                }
            }
            Seeds.check(seed, "ReplaySimulationTests", problems)
        }
        #expect(resumed > 0 || Seeds.all(2).count == 1)
    }

    /// What `tools/demo` shows: cut after the third message, refused once, back after two seconds.
    @Test func theDemo() throws {
        let chat = try RecordedSample(.chat(Self.lines))
        let expected = try Expectation.parse("delays(0s, 2s)")
        let run = try ReplayRun(
            chat.sessions, .chat(Self.lines), seed: 1,
            faults: ["reset after ReceiveMessage[3]", "respond(503) on connect[retry=1]"]
        ) { options in
            options.expectations = [expected]
        }
        #expect(run.problems == [])
        #expect(run.reached == true, "\(run.told)")
        #expect(run.report.verdict == .pass, "\(run.report.reasons)")
        #expect(run.report.expectations.map(\.met) == [true])
        #expect(run.report.faults.count == 2)
        #expect(run.told.contains { $0.hasPrefix("lost") })
        #expect(run.told.contains { $0.hasPrefix("retryFailed(attempt: 1") })
        #expect(run.told.last == "closed(reason: nil)")
    }
}
