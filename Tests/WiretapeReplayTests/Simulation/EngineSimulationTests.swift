import Foundation
import Testing
import WiretapeCodecs
import WiretapeProtocol
import WiretapeSimulation

/// Drawn tapes, drawn options and drawn clients against the replay engine in virtual time: a few seeds here, tens of thousands
/// in an optimised build by `tools/test`. One seed again, with everything that happens: `tools/simulate --seed N`.
@Suite struct EngineSimulationTests {
    private static let seeds: UInt64 = 240
    private static let parts: UInt64 = 4

    /// A client repeats an interrupted request during a stall, when Wiretape does not read it. The grace period begins when the stall ends.
    @Test func aStallTakesNoneOfTheGrace() {
        let codec = CodecEntry(SignalRCodec.self)
        let kinds: [EngineScenario.Kind] = [.calm, .slow, .cut, .faults, .silence, .mischief, .stateful]
        #expect(EngineSimulation.problems(seed: 31_423, codec, kinds: kinds) == [])
    }

    @Test(arguments: 0..<parts) func everySeedKeepsTheRules(part: UInt64) {
        let codec = CodecEntry(SignalRCodec.self)
        var failed = 0
        for seed in 1...Self.seeds where seed % Self.parts == part {
            let problems = EngineSimulation.problems(seed: seed, codec, kinds: EngineSimulation.kept)
            guard !problems.isEmpty else { continue }
            failed += 1
            if failed <= 5 {
                let list = problems.prefix(5).joined(separator: "\n  ")
                Issue.record("seed \(seed): \(list)\n  again: tools/simulate --seed \(seed)")
            }
        }
        #expect(failed == 0)
    }
}
