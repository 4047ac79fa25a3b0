internal import WiretapeBytes
internal import WiretapeWire

extension FaultRule {
    /// A rule written as a mapping.
    /// - Throws: ``PlanError`` at the value that is wrong.
    package init(_ fields: RuleFields) throws(PlanError) {
        var actions: [FaultAction] = []
        for action in fields.actions {
            var text = RuleText(action.text, from: action.source)
            repeat {
                text.skipBlanks()
                actions.append(try FaultAction(parsing: &text))
            } while text.take("+")
            text.skipBlanks()
            guard text.isAtEnd else { throw text.error("'\(text.rest)' does not belong to an action") }
        }
        guard !actions.isEmpty else { throw PlanError("'do' is missing: what the rule does", at: fields.source) }
        var place: Place?
        if let text = fields.place {
            place = FaultRule.placeWord(text.text)
            guard place != nil else {
                let hint = NearestName.hint(text.text, among: ["before", "after", "on", "instead"])
                throw PlanError("'\(text.text)' is not a place\(hint)", at: text.source)
            }
        }
        let pause = try fields.pause.map { text throws(PlanError) in
            try FaultRule.pause(text.text, RuleText(text.text, from: text.source), at: 0)
        }
        var filters = RuleFilters()
        var (selector, source) = try FaultRule.selector(fields.when, &filters, fields.source)
        if let (mark, value) = fields.since {
            filters.since = RuleFilters.Since(
                try RuleFilters.mark(mark.text, RuleText(mark.text, from: mark.source), at: 0),
                try RuleFilters.gap(value.text, RuleText(value.text, from: value.source), at: 0))
            selector = selector ?? Selector(.point(.time))
        }
        try self.init(
            name: fields.name, actions: actions, place: place, pause: pause ?? 0, selector: selector,
            filters: filters, optional: fields.optional, source: fields.source, text: RuleText("", from: source),
            actionsAt: 0,
            subjectAt: 0)
    }

    /// The subject is `at`, else the type, else the label that is named, else any request or message, as the conditions
    /// want; everything else is a condition or a filter.
    private static func selector(
        _ when: [(key: RuleFields.Text, value: RuleFields.Text)], _ filters: inout RuleFilters, _ rule: RuleSource
    ) throws(PlanError) -> (Selector?, RuleSource) {
        let labels = ["target", "event", "operation", "channel"]
        let subjectIndex =
            when.firstIndex { $0.key.text == "at" } ?? when.firstIndex { $0.key.text == "type" }
            ?? when.firstIndex { labels.contains($0.key.text) }
        var selector: Selector?
        if let subjectIndex {
            let value = when[subjectIndex].value
            let isPoint = when[subjectIndex].key.text == "at" && !value.isQuoted
            selector = Selector(isPoint ? Selector.subject(value.text) : .label(value.text))
        } else if when.contains(where: { isRequestKey($0.key.text) }) {
            selector = Selector(.point(.request))
        } else if when.contains(where: { !isFilterKey($0.key.text) }) {
            selector = Selector(.point(.message))
        }
        for (i, (key, value)) in when.enumerated() where i != subjectIndex {
            let text = RuleText(value.text, from: value.source)
            if let path = Selector.ordinalKey(key.text) {
                filters[keyPath: path] = try Ordinal(value.text, text, at: 0)
                continue
            }
            switch key.text {
            case "occurrence": selector?.occurrence = try Ordinal(value.text, text, at: 0)
            case "probability": filters.probability = try RuleFilters.probability(value.text, text, at: 0)
            case "max": filters.max = try RuleFilters.firings(value.text, text, at: 0)
            case "per": filters.per = try RuleFilters.scope(value.text, text, at: 0)
            default:
                let json = value.isQuoted || (try? JSONValue(parsing: value.text)) == nil
                let raw = key.text.hasPrefix("/") && json ? JSONValue.string(value.text).text : value.text
                do throws(PlanError) {
                    selector?.conditions.append(try Condition(key.text, raw, text, at: 0, valueAt: 0))
                } catch {
                    // An unknown key is shown where the key stands.
                    let isKnown =
                        key.text.hasPrefix("/") || key.text.hasPrefix("header.") || Condition.keys.contains(key.text)
                    throw isKnown ? error : PlanError(error.message, at: key.source)
                }
            }
        }
        return (selector, subjectIndex.map { when[$0].value.source } ?? rule)
    }

    private static func isRequestKey(_ key: String) -> Bool {
        ["method", "path", "token"].contains(key) || key.hasPrefix("header.")
    }

    private static func isFilterKey(_ key: String) -> Bool {
        ["attempt", "retry", "session", "probability", "max", "per"].contains(key)
    }
}
