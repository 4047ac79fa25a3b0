import Testing
import WiretapeCodecs
import WiretapeProtocol
import WiretapeReport
import WiretapeSimulation
import WiretapeWire

/// The simulation's rules are able to fail: an engine that does one thing wrong is caught in every run in which it does, and
/// by the rule that is meant for it.
@Suite struct EngineMutantTests {
    struct Mutant: Sendable, CustomTestStringConvertible {
        var fault: EngineMutant.Fault
        /// What is said of it.
        var words: [String]
        var kind: EngineScenario.Kind

        init(_ fault: EngineMutant.Fault, _ words: [String], _ kind: EngineScenario.Kind = .calm) {
            (self.fault, self.words, self.kind) = (fault, words, kind)
        }

        var testDescription: String { fault.rawValue }
    }

    private static let mutants = [
        Mutant(.early, ["had come"]),
        Mutant(.wrongID, ["nobody asked under that id"]),
        Mutant(.twice, ["was sent twice"]),
        Mutant(.lost, ["was never sent", "passed"]),
        Mutant(.swapped, ["passed", "instead of", "was never sent"]),
        Mutant(.late, [" ns instead of ", "was never sent", "passed"]),
        Mutant(.astray, ["nobody asked under that id", "is not on the tape there", "was sent twice"]),
        Mutant(.neverEnds, ["not over after", "is ready in session"]),
        Mutant(.otherEnd, ["ended with"]),
        Mutant(.endsEarly, ["ended the connection, which", "ended with", "had come", "passed"]),
        Mutant(.silent, ["is negotiating in session"]),
        Mutant(.answersTwice, ["which is not in that state"]),
        Mutant(.greetsTwice, ["a second handshake"]),
        Mutant(.refuses, ["refused: "]),
        Mutant(.spins, ["nothing but wake-ups at one moment"]),
        Mutant(.restless, [" wake-ups for "]),
        Mutant(.madeUp, ["is not on the tape there"]),
        Mutant(.deaf, ["verdict diverged"]),
        Mutant(.resends, ["was sent twice", "is not on the tape there"], .cut),
        Mutant(.forgets, ["was never sent", "passed", "was not greeted"], .cut),
        Mutant(.ungreeted, ["was not greeted"], .cut),
        Mutant(.miscounts, ["Sequence ", "Ack "], .stateful),
        Mutant(.misreads, ["the report says"], .cut),
    ]

    @Test(arguments: mutants) func theRefereeSees(_ mutant: Mutant) {
        let codec = CodecEntry(SignalRCodec.self)
        var acted = 0
        for seed in 1...UInt64(40) {
            let scenario = EngineScenario(seed: seed, codec, kinds: [mutant.kind]).overWebSockets.calm
            let run = EngineRun(scenario, mutant: EngineMutant(mutant.fault))
            guard run.hasMutated else { continue }
            acted += 1
            let isSeen = run.problems.contains { problem in mutant.words.contains { problem.contains($0) } }
            #expect(isSeen, "seed \(seed): \(run.problems)")
        }
        #expect(acted >= 10)
    }

    /// An engine that takes whatever the client says for what is on the tape.
    @Test func anEngineThatComparesNothingIsSeen() {
        let codec = CodecEntry(SignalRCodec.self)
        var acted = 0
        for seed in 1...UInt64(100) {
            let scenario = EngineScenario(seed: seed, codec, kinds: [.mischief])
            guard scenario.habits[0].mischief?.what == .alter else { continue }
            let problems = EngineRun(scenario.uncompared).problems
            acted += 1
            #expect(problems.contains { $0.contains("is not told") }, "seed \(seed): \(problems)")
        }
        #expect(acted >= 5)
    }

    /// An engine in which a message does not wait for what clients do on other connections.
    @Test func anEngineThatDoesNotWaitForOthersIsSeen() {
        let codec = CodecEntry(SignalRCodec.self)
        var seen = 0
        for seed in 1...UInt64(60) {
            let scenario = EngineScenario(seed: seed, codec, kinds: [.causes])
            #expect(EngineRun(scenario).problems == [], "seed \(seed)")
            if EngineRun(scenario.heedless).problems.contains(where: { $0.contains("left before") }) { seen += 1 }
        }
        #expect(seen >= 20)
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
        #expect(Set(Self.mutants.map(\.fault)) == Set(EngineMutant.Fault.allCases))
    }
}
