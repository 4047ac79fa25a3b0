import Foundation
import Testing

/// Which seeds a simulation runs, and how a failing one is told.
enum Seeds {
    /// The one of `WIRETAPE_SEED`, or `count` from 1 on.
    static func all(_ count: Int) -> [UInt64] {
        if let one = ProcessInfo.processInfo.environment["WIRETAPE_SEED"].flatMap({ UInt64($0) }) { return [one] }
        return Array(1...UInt64(count))
    }

    /// Every `parts`-th seed, so that the parts of one test run side by side.
    static func part(_ part: Int, of parts: Int, _ count: Int) -> [UInt64] {
        let all = all(count)
        return all.count == 1 ? (part == 0 ? all : []) : all.filter { Int($0) % parts == part }
    }

    /// Records what is wrong with a seed and how to see it again.
    static func check(_ seed: UInt64, _ filter: String, _ problems: [String]) {
        guard !problems.isEmpty else { return }
        let list = problems.prefix(5).joined(separator: "\n  ")
        Issue.record("seed \(seed): \(list)\n  again: WIRETAPE_SEED=\(seed) tools/test --filter \(filter)")
    }
}
