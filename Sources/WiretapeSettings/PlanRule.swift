internal import WiretapeCore

/// One rule of a plan: a text in the inline form, or a mapping.
enum PlanRule {
    static func read(_ node: YAMLNode) throws(PlanError) -> FaultRule {
        if case .scalar = node.kind {
            let text = try node.ruleText()
            return try FaultRule(parsing: text.text, from: text.source)
        }
        let known = ["name", "fault", "when", "do", "place", "optional"]
        let pairs = try node.pairs("a rule", known: known)
        var fields = RuleFields(source: node.source)
        var fault: RuleFields.Text?
        var structural: YAMLNode?
        for (key, name, value) in pairs {
            switch name {
            case "name":
                guard let text = value.text, !text.isEmpty else {
                    throw value.error("a name is a text, found \(value.description)")
                }
                fields.name = text
            case "fault": fault = try value.ruleText()
            case "optional": fields.optional = try boolean(value)
            case "when":
                structural = key
                fields.when = try when(value)
            case "do":
                structural = key
                fields.actions = try actions(value)
            case "place":
                structural = key
                fields.place = try value.ruleText()
            default: throw key.error("'\(name)' does not belong to a rule")
            }
        }
        guard let fault else { return try FaultRule(fields) }
        if let structural {
            throw structural.error("'fault' says all of it: '\(structural.text ?? "")' cannot stand beside it")
        }
        return try FaultRule(parsing: fault.text, from: fault.source, name: fields.name, optional: fields.optional)
    }

    private static func when(_ node: YAMLNode) throws(PlanError) -> [(key: RuleFields.Text, value: RuleFields.Text)] {
        var when: [(key: RuleFields.Text, value: RuleFields.Text)] = []
        for (key, name, value) in try node.pairs("'when'", known: nil) {
            if !name.hasPrefix("/"), !RuleFields.whenKeys.contains(name), !later.contains(name) {
                throw key.error("'when' has no '\(name)'\(NearestName.hint(name, among: RuleFields.whenKeys))")
            }
            when.append((RuleFields.Text(name, at: key.source), try value.ruleText()))
        }
        return when
    }

    /// Known, and refused with their own words by the model.
    private static let later = [
        "protocol", "invocation", "regex", "size", "header", "headers", "token", "transport", "per", "since",
    ]

    private static func actions(_ node: YAMLNode) throws(PlanError) -> [RuleFields.Text] {
        guard case .list(let items) = node.kind else { return [try node.ruleText()] }
        var actions: [RuleFields.Text] = []
        for item in items { actions.append(try item.ruleText()) }
        return actions
    }

    private static func boolean(_ node: YAMLNode) throws(PlanError) -> Bool {
        switch node.text {
        case "true": return true
        case "false": return false
        default: throw node.error("'optional' is true or false, found \(node.description)")
        }
    }
}
