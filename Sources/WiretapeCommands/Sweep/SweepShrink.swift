internal import WiretapeBytes
internal import WiretapeFaults

/// Makes the plan of a failure smaller, as long as the client breaks in the same way.
struct SweepShrink {
    /// Runs a plan.
    let run: ([String]) throws -> SweepOutcome?
    /// Most runs for one failure.
    static let limit = 24
    /// Most cases that are tried without the other rules.
    static let mostAlike = 8

    /// - Parameters:
    ///   - alike: cases that break the client in the same way; the first that needs the fewest rules is made smaller.
    ///   - base: rules that were in force beside the failing one.
    ///   - kind: that of the failure.
    /// - Returns: the smallest plan that was found.
    func shrink(_ alike: [SweepCase], base: [String], kind: String) throws -> [String] {
        guard var failing = alike.first else { return base }
        var base = base
        var runs = 0
        func breaks(_ rules: [String]) throws -> Bool {
            runs += 1
            guard runs <= Self.limit, let outcome = try run(rules) else { return false }
            return outcome.kind == kind
        }
        if !base.isEmpty, let alone = try alike.prefix(Self.mostAlike).first(where: { try breaks([$0.rule]) }) {
            base = []
            failing = alone
        }
        var rule = failing.rule
        var i = 0
        while i < base.count {
            var fewer = base
            fewer.remove(at: i)
            if try breaks(fewer + [rule]) { base = fewer } else { i += 1 }
        }
        for alone in Self.alone(failing) where try breaks(base + [alone.rule]) {
            failing = alone
            rule = alone.rule
            break
        }
        for simpler in Self.simpler(failing) where try breaks(base + [simpler]) {
            rule = simpler
            break
        }
        return base + [rule]
    }

    /// Of a fault that is several joined by `+`, each by itself.
    static func alone(_ failing: SweepCase) -> [SweepCase] {
        let source = RuleSource(file: "--fault")
        guard let actions = try? FaultRule(parsing: failing.rule, from: source).actions, actions.count > 1 else {
            return []
        }
        return actions.compactMap { action in
            var one = failing
            one.fault = action.text
            return SweepFaults.isRule(one.rule) ? one : nil
        }
    }

    /// Rules that say less, the least first.
    static func simpler(_ failing: SweepCase) -> [String] {
        let place = failing.place
        var found: [String] = []
        if let open = place.lastIndex(of: "["), place.hasSuffix("]") {
            let name = place[..<open]
            let inner = place[place.index(after: open)...].dropLast()
            let parts = inner.split(separator: ",", maxSplits: 1)
            let rest = parts.count > 1 ? ",\(parts[1])" : ""
            if rest.isEmpty { found.append("\(failing.fault) \(name)[1]") }
            found.append("\(failing.fault) \(name)[1\(rest)]")
            // `before`, `on` and `after` are a word in front of the name.
            let words = place.split(separator: " ", maxSplits: 1)
            if words.count == 2 { found.insert("\(failing.fault) \(words[0]) message[1]", at: 0) }
        }
        found.append("\(failing.fault) \(place)")
        var seen: Set<String> = [failing.rule]
        return found.filter { seen.insert($0).inserted && SweepFaults.isRule($0) }
    }
}
