import Testing
import WiretapeCodecs
import WiretapeCore
import WiretapeSimulation

/// The simulation's rules are able to fail: an engine that does one thing wrong is caught in every run in which it does, and
/// by the rule that is meant for it.
@Suite struct EngineMutantTests {
    /// What is wrong, and what is said of it.
    private static let mutants: [(EngineMutant.Fault, [String])] = [
        (.early, ["had come"]),
        (.wrongID, ["nobody asked under that id"]),
        (.twice, ["was sent twice"]),
        (.lost, ["was never sent", "passed"]),
        (.swapped, ["passed", "instead of", "was never sent"]),
        (.late, [" ns instead of ", "was never sent"]),
        (.neverEnds, ["not over after", "is ready in session"]),
        (.otherEnd, ["ended with"]),
        (.answersTwice, ["which is not in that state"]),
        (.spins, ["nothing but wake-ups at one moment"]),
        (.madeUp, ["is not on the tape there"]),
        (.deaf, ["verdict diverged"]),
    ]

    @Test(arguments: mutants) func theRefereeSees(_ fault: EngineMutant.Fault, _ words: [String]) {
        let codec = CodecEntry(SignalRCodec.self)
        var acted = 0
        for seed in 1...UInt64(40) {
            let scenario = EngineScenario(seed: seed, codec, kinds: [.calm]).overWebSockets
            let run = EngineRun(scenario, mutant: EngineMutant(fault))
            guard run.hasMutated else { continue }
            acted += 1
            let isSeen = run.problems.contains { problem in words.contains { problem.contains($0) } }
            #expect(isSeen, "seed \(seed): \(run.problems)")
        }
        #expect(acted >= 10)
    }

    /// Two runs of one seed are compared byte for byte, with their times.
    @Test func anotherRunIsAnother() {
        let codec = CodecEntry(SignalRCodec.self)
        for seed in 1...UInt64(20) {
            let scenario = EngineScenario(seed: seed, codec, kinds: [.calm]).overWebSockets
            let other = EngineRun(scenario, mutant: EngineMutant(.late))
            guard other.hasMutated else { continue }
            #expect(EngineRun(scenario).bytes != other.bytes)
        }
    }

    /// A client that leaves a call out gets another digest than one that says everything; in whatever order and at whatever
    /// pace, that is one digest.
    @Test func anotherConversationHasAnotherDigest() {
        let codec = CodecEntry(SignalRCodec.self)
        var compared = 0
        for seed in 1...UInt64(200) {
            let scenario = EngineScenario(seed: seed, codec, kinds: [.mischief])
            guard let mischief = scenario.habits[0].mischief, mischief.what == .drop else { continue }
            // A call that has an answer.
            guard !Conversation(scenario.parts[0][0]).chain(of: mischief.line, .toClient).isEmpty else { continue }
            let run = EngineRun(scenario)
            compared += 1
            #expect(run.report.digest != EngineRun(scenario.plain).report.digest, "seed \(seed)")
        }
        #expect(compared > 3)
    }

    @Test func everyMutantIsTried() {
        #expect(Set(Self.mutants.map(\.0)) == Set(EngineMutant.Fault.allCases))
    }
}
