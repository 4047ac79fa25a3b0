import Testing
import WiretapeBytes
import WiretapeProxy
import WiretapeSimulation

/// Acceptance: the recording proxy on the simulated network, whatever the seed.
@Suite struct RecordSimulationTests {
    private static let seeds = 2_000
    private static let parts = 8

    @Test(arguments: 0..<parts) func everySeed(part: Int) throws {
        for seed in Seeds.part(part, of: Self.parts, Self.seeds) {
            Seeds.check(seed, "RecordSimulationTests", try RecordSimulation(seed: seed).problems)
        }
    }

    @Test func theSameSeedIsTheSameRunAndTape() throws {
        for seed in [3, 17, 40] as [UInt64] {
            let runs = try (0..<2).map { _ in try RecordSimulation(seed: seed) }
            #expect(runs[0].loop.digest.value == runs[1].loop.digest.value)
            #expect(runs[0].tape == runs[1].tape)
        }
    }
}
