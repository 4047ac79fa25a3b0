import Testing
import WiretapeTape

struct LevelPolicyTests {
    /// A second of members of `bytes` each, `gap` nanoseconds apart.
    private func run(
        _ policy: inout LevelPolicy, bytes: Int, gap: UInt64, from start: UInt64 = 0, fill: Double = 0,
        ratio: Double = 0.2, costs: (best: Double, fast: Double) = (10, 4)
    ) -> [Int] {
        (1...max(1, 2_000_000_000 / gap)).map { n in
            let level = policy.level(bytes: bytes, fill: fill, now: start + n * gap)
            let cost = level == 0 ? 0 : Double(bytes) * (level == 1 ? costs.fast : costs.best)
            policy.made(
                level: level, bytes: bytes, compressed: Int(Double(bytes) * (level == 0 ? 1 : ratio)),
                nanoseconds: UInt64(cost))
            return level
        }
    }

    @Test func calmTrafficIsCompressedWell() {
        var policy = LevelPolicy()
        #expect(Set(run(&policy, bytes: 100_000, gap: 250_000_000)) == [6])
        #expect(policy.forced == nil)
    }

    @Test func heavyTrafficStepsDownAndUpAgain() {
        var policy = LevelPolicy()
        // 70 MB/s: 0.7 of the time at level 6, 0.28 at level 1.
        #expect(run(&policy, bytes: 1 << 20, gap: 15_000_000).suffix(50).allSatisfy { $0 == 1 })
        // 500 MB/s is too much for both.
        #expect(run(&policy, bytes: 1 << 20, gap: 2_000_000, from: 3_000_000_000).suffix(50).allSatisfy { $0 == 0 })
        #expect(policy.forced == 0)
        #expect(run(&policy, bytes: 10_000, gap: 250_000_000, from: 9_000_000_000).last == 6)
        #expect(policy.forced == 0)
    }

    @Test func aFillingQueueStepsDown() {
        var policy = LevelPolicy()
        #expect(policy.level(bytes: 1000, fill: 0.2, now: 1) == 6)
        #expect(policy.level(bytes: 1000, fill: 0.3, now: 2) <= 1)
        #expect(policy.level(bytes: 1000, fill: 0.6, now: 3) == 0)
        #expect(policy.forced == 0)
    }

    @Test func whatDoesNotCompressIsStoredAndTriedAgain() {
        var policy = LevelPolicy()
        let levels = run(&policy, bytes: 500_000, gap: 50_000_000, ratio: 1.0)
        #expect(levels.first == 6)
        #expect(levels.dropFirst().filter { $0 == 1 }.count == 2 && !levels.dropFirst().contains(6))
        #expect(policy.forced == nil, "not the load's doing")
        let after = run(&policy, bytes: 500_000, gap: 50_000_000, from: 3_000_000_000, ratio: 0.3)
        #expect(after.last == 6)
    }

    @Test func whatHardlyCompressesIsCompressedFast() {
        var policy = LevelPolicy()
        let levels = run(&policy, bytes: 500_000, gap: 100_000_000, ratio: 0.77)
        #expect(levels.dropFirst().allSatisfy { $0 == 1 })
    }
}
