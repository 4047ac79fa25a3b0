import Testing
import WiretapeReplay
import WiretapeReport
import WiretapeSamples
import WiretapeSimulation

/// Acceptance 9: one tape, one digest, whatever the speed of the replay and of the client.
@Suite struct DigestTests {
    private static let speeds: [ReplayOptions.Speed] = [.instant, .factor(1), .factor(10)]
    private static let thinking: [UInt64] = [2_000_000, 20_000_000, 60_000_000]

    @Test func aHundredReplaysOfAPipeliningClientAreOneDigest() throws {
        let calls = try RecordedSample(.calls(think: 20_000_000))
        var digests: [String: [Int]] = [:]
        for n in 0..<100 {
            let run = try ReplayRun(
                calls.sessions, .calls(think: Self.thinking[n / 3 % 3]), seed: UInt64(n + 1),
                conditions: n % 2 == 0 ? .calm : .rough, speed: Self.speeds[n % 3])
            #expect(run.problems == [], "run \(n)")
            #expect(run.reached == true, "run \(n): \(run.told)")
            #expect(run.report.verdict == .pass, "run \(n): \(run.report.reasons)")
            digests[run.report.digest, default: []].append(n)
        }
        #expect(digests.count == 1, "\(digests)")
    }
}
