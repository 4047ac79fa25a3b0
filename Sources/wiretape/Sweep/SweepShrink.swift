/// Makes the plan of a failure smaller, as long as the client breaks in the same way.
struct SweepShrink {
    /// Runs a plan.
    let run: ([String]) throws -> SweepOutcome?
    /// Most runs for one failure.
    static let limit = 24

    /// - Parameters:
    ///   - base: rules that were in force beside the failing one.
    ///   - kind: that of the failure.
    /// - Returns: the smallest plan that was found.
    func shrink(_ failing: SweepCase, base: [String], kind: String) throws -> [String] {
        var base = base
        var rule = failing.rule
        var runs = 0
        func breaks(_ rules: [String]) throws -> Bool {
            runs += 1
            guard runs <= Self.limit, let outcome = try run(rules) else { return false }
            return outcome.kind == kind
        }
        var i = 0
        while i < base.count {
            var fewer = base
            fewer.remove(at: i)
            if try breaks(fewer + [rule]) { base = fewer } else { i += 1 }
        }
        for simpler in Self.simpler(failing) where try breaks(base + [simpler]) {
            rule = simpler
            break
        }
        return base + [rule]
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
        return found.filter { seen.insert($0).inserted }
    }
}
