internal import WiretapeFaults
internal import WiretapeReport

/// What the rules of a run have done to live traffic.
struct LiveFirings {
    private(set) var kept: [ReplayReport.Firing] = []
    /// Those beyond the first 100,000, which are only counted: a run may last for days.
    private(set) var leftOut = 0
    /// The rules that have fired, by their places in the plan.
    private(set) var rules: Set<Int> = []
    /// How often each did, by its name.
    private(set) var counts: [String: Int] = [:]
    /// How many of those that are kept somebody who follows the run was told.
    private var told = 0

    private static let most = 100_000

    /// - Parameter firing: asked for only when it is kept.
    mutating func record(_ hit: FaultHit, _ firing: () -> ReplayReport.Firing) {
        if hit.rule >= 0 { rules.insert(hit.rule) }
        counts[hit.name, default: 0] += 1
        guard kept.count < LiveFirings.most else { return leftOut += 1 }
        kept.append(firing())
    }

    mutating func takeUntold() -> ArraySlice<ReplayReport.Firing> {
        defer { told = kept.count }
        return kept[min(told, kept.count)...]
    }

    /// There are other rules, whose counters begin at 0.
    mutating func restart() {
        rules = []
        counts = [:]
    }

    /// There are other rules. Those that stay as they were go on counting.
    mutating func change(from old: FaultPlan, to plan: FaultPlan) {
        rules = Set(rules.compactMap { plan.rules.firstIndex(of: old.rules[$0]) })
        counts = counts.filter { name, _ in plan.rules.contains { $0.name == name } }
    }
}
