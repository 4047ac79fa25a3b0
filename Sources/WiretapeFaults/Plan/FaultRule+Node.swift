internal import WiretapeBytes

extension FaultRule {
    /// One rule of a plan: a text in the inline form, or a mapping with `fault`, or with `when` and `do`.
    /// - Throws: ``PlanError`` at the value that is wrong.
    package init(_ node: PlanNode) throws(PlanError) {
        if case .scalar = node.kind {
            let text = try node.ruleText()
            self = try FaultRule(parsing: text.text, from: text.source)
            return
        }
        var fields = RuleFields(source: node.source)
        var fault: RuleFields.Text?
        var structural: PlanNode?
        for (key, name, value) in try node.pairs("a rule", known: RuleFields.keys) {
            switch name {
            case "name":
                guard let text = value.text, !text.isEmpty, !value.isNothing else {
                    throw value.error("a name is a text, found \(value.isNothing ? "nothing" : value.description)")
                }
                fields.name = text
            case "fault": fault = try value.ruleText()
            case "optional": fields.optional = try FaultRule.boolean(value)
            case "when":
                structural = key
                try FaultRule.readWhen(value, into: &fields)
            case "do":
                structural = key
                fields.actions = try FaultRule.actionTexts(value)
            case "place":
                structural = key
                fields.place = try value.ruleText()
            case "pause":
                structural = key
                fields.pause = try value.ruleText()
            default: throw key.error("'\(name)' does not belong to a rule")
            }
        }
        guard let fault else {
            self = try FaultRule(fields)
            return
        }
        if let structural {
            throw structural.error("'fault' says all of it: '\(structural.text ?? "")' cannot stand beside it")
        }
        self = try FaultRule(parsing: fault.text, from: fault.source, name: fields.name, optional: fields.optional)
    }

    private static func readWhen(_ node: PlanNode, into fields: inout RuleFields) throws(PlanError) {
        if let text = node.text {
            throw node.error(
                "'when' is a mapping, found \(node.description)\(text.isEmpty ? "" : "; write { at: \(text) }")")
        }
        for (key, name, value) in try node.pairs("'when'", known: nil) {
            switch name {
            case "since":
                let pairs = value.text == nil ? try value.pairs("'since'", known: nil) : []
                guard pairs.count == 1, let pair = pairs.first else {
                    throw value.error("'since' has one mark: { run: 5s }, { connect: 5s } or { handshake: 5s }")
                }
                fields.since = (RuleFields.Text(pair.name, at: pair.key.source), try pair.value.ruleText())
            case "headers":
                for (place, header, value) in try value.pairs("'headers'", known: nil) {
                    let key = RuleFields.Text("header.\(header)", at: place.source)
                    fields.when.append((key, try value.ruleText()))
                }
            default:
                let isKnown = name.hasPrefix("/") || name.hasPrefix("header.") || RuleFields.whenKeys.contains(name)
                guard isKnown else {
                    throw key.error("'when' has no '\(name)'\(NearestName.hint(name, among: RuleFields.whenKeys))")
                }
                let isNull = name.hasPrefix("/") && value.isNothing
                let text = isNull ? RuleFields.Text("null", at: value.source) : try value.ruleText()
                fields.when.append((RuleFields.Text(name, at: key.source), text))
            }
        }
    }

    private static func actionTexts(_ node: PlanNode) throws(PlanError) -> [RuleFields.Text] {
        guard case .list(let items) = node.kind else {
            guard node.text != nil else {
                throw node.error("'do' is an action such as reset, or a list of them, found \(node.description)")
            }
            return [try node.ruleText()]
        }
        var actions: [RuleFields.Text] = []
        for item in items { actions.append(try item.ruleText()) }
        return actions
    }

    private static func boolean(_ node: PlanNode) throws(PlanError) -> Bool {
        switch node.text {
        case "true": return true
        case "false": return false
        default: throw node.error("'optional' is true or false, found \(node.description)")
        }
    }
}
