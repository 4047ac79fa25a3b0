/// The rules of a run in their order, and the seed that a plan file may give.
package struct FaultPlan: Hashable, Sendable {
    package var seed: UInt64?
    package var rules: [FaultRule]

    package init(seed: UInt64? = nil, rules: [FaultRule] = []) {
        self.seed = seed
        self.rules = rules
    }

    /// Adds the rules of another plan behind those of this one. Rules of equal name get `#2`, `#3` … behind it, so that
    /// their draws differ.
    package mutating func append(_ other: FaultPlan) {
        seed = seed ?? other.seed
        for rule in other.rules { append(rule) }
    }

    package mutating func append(_ rule: FaultRule) {
        var rule = rule
        let name = rule.name
        let taken = Set(rules.lazy.map(\.name).filter { $0.hasPrefix(name) })
        var n = 1
        while taken.contains(rule.name) {
            n += 1
            rule.name = "\(name)#\(n)"
        }
        rules.append(rule)
    }
}
