internal import WiretapeProtocol
internal import WiretapeSimulation

/// A range of seeds, side by side on all cores.
enum Slice {
    private static let parts: UInt64 = 8

    /// - Returns: how many seeds failed. Each of the first is printed with the command that repeats it.
    @concurrent static func run(_ seeds: Range<UInt64>, _ codec: CodecEntry, _ kinds: [EngineScenario.Kind]) async
        -> Int
    {
        await withTaskGroup(of: Int.self) { group in
            for part in 0..<parts {
                group.addTask {
                    var failed = 0
                    for seed in seeds where seed % parts == part {
                        let problems = EngineSimulation.problems(seed: seed, codec, kinds: kinds)
                        guard let first = problems.first else { continue }
                        failed += 1
                        if failed <= 4 { print("seed \(seed): \(first)\n  again: \(again(seed, kinds))") }
                    }
                    return failed
                }
            }
            return await group.reduce(0, +)
        }
    }

    private static func again(_ seed: UInt64, _ kinds: [EngineScenario.Kind]) -> String {
        let list =
            kinds == EngineSimulation.kept ? "" : " --kinds \(kinds.map(\.rawValue).joined(separator: ","))"
        return "tools/simulate --seed \(seed)\(list)"
    }
}
