extension FaultPlan {
    /// The keys of a plan.
    package static let keys = ["seed", "rules", "include"]
    /// How many rules a plan may have.
    package static let mostRules = 1_000

    /// A whole plan: `seed`, `rules`, `include`.
    /// - Parameters:
    ///   - root: nil for an empty file.
    ///   - include: the plan of a file that is included, by the node that names it.
    /// - Throws: ``PlanError`` with file, line and column: unknown keys with the nearest known one, and every error of a
    ///   rule.
    package init(
        _ root: PlanNode?, include: (PlanNode) throws(PlanError) -> FaultPlan
    ) throws(PlanError) {
        self.init()
        guard let root else { return }
        for (_, name, value) in try root.pairs("a plan", known: FaultPlan.keys) {
            switch name {
            case "seed":
                guard let seed = value.text.flatMap(UInt64.init) else {
                    throw value.error("a seed is a whole number from 0, found \(value.description)")
                }
                self.seed = seed
            case "rules":
                let items = try value.items("rules")
                guard items.count <= FaultPlan.mostRules else { throw FaultPlan.tooMany(value) }
                for item in items { append(try FaultRule(item)) }
            default:
                for file in try value.items("include") { append(try include(file)) }
            }
            guard rules.count <= FaultPlan.mostRules else { throw FaultPlan.tooMany(value) }
        }
    }

    /// A plan, one rule (an object with `fault` or `do`, or a text in the inline form), or a list of rules, as JSON. Files
    /// cannot be included.
    package init(json: [UInt8], file: String) throws(PlanError) {
        let root = try PlanNode(json: json, file: file)
        switch root.kind {
        case .scalar: self.init(rules: [try FaultRule(root)])
        case .list(let items):
            self.init()
            guard items.count <= FaultPlan.mostRules else { throw FaultPlan.tooMany(root) }
            for item in items { append(try FaultRule(item)) }
        case .map(let pairs):
            if pairs.contains(where: { RuleFields.keys.contains($0.key.text ?? "") }) {
                self.init(rules: [try FaultRule(root)])
            } else {
                try self.init(root) { node throws(PlanError) in throw node.error("files cannot be included here") }
            }
        }
    }

    private static func tooMany(_ node: PlanNode) -> PlanError {
        node.error("a plan has at most \(mostRules) rules")
    }
}
