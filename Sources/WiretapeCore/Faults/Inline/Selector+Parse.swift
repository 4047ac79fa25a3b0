extension Selector {
    /// A selector by itself, as in `inspect --filter`: `ReceiveMessage[3]`, `message[direction=toClient]`, `StreamItem[/item/id=7]`.
    /// - Throws: ``PlanError`` at the word that is wrong.
    package init(parsing text: String, from source: RuleSource) throws(PlanError) {
        self = try Selector.parse(text, from: source).selector
    }

    /// With the conditions on session, attempt and retry, which stand in its brackets too.
    package static func parse(_ text: String, from source: RuleSource) throws(PlanError) -> (
        selector: Selector, filters: RuleFilters
    ) {
        var text = RuleText(text, from: source)
        var filters = RuleFilters()
        text.skipBlanks()
        let selector = try Selector(parsing: &text, filters: &filters)
        text.skipBlanks()
        guard text.isAtEnd else { throw text.error("'\(text.peekWord())' does not belong to a selector") }
        return (selector, filters)
    }

    /// `( point | label ) [ "[" cond { "," cond } "]" ]`. Conditions on attempt, retry and session go to `filters`.
    init(parsing text: inout RuleText, filters: inout RuleFilters) throws(PlanError) {
        let start = text.at
        let subject: Subject
        if text.next == "\"" {
            subject = .label(try text.quoted())
        } else {
            let label = text.label()
            guard !label.isEmpty else {
                throw text.error("a point or a label is missing, such as connect or ReceiveMessage")
            }
            subject = try Selector.subject(label, text, at: start)
        }
        self.init(subject)
        guard text.next == "[" else { return }
        _ = text.take("[")
        repeat { try parseCondition(&text, &filters) } while text.take(",")
        try text.require("]", after: "the conditions")
    }

    /// A bare word: a point of this version, one of a later version, or a label.
    static func subject(_ word: String, _ text: RuleText, at start: Int) throws(PlanError) -> Subject {
        guard let point = FaultPoint(rawValue: word) else { return .label(word) }
        guard point.isBuilt else {
            let built = FaultPoint.allCases.filter(\.isBuilt).map(\.rawValue).joined(separator: ", ")
            throw text.error(
                "the point '\(word)' is not built yet; this version has \(built) (a label spelled so is quoted)",
                at: start)
        }
        return .point(point)
    }

    private mutating func parseCondition(_ text: inout RuleText, _ filters: inout RuleFilters) throws(PlanError) {
        text.skipBlanks()
        let start = text.at
        if text.next?.isNumber == true || text.peekWord() == "every" {
            guard occurrence == nil else { throw text.error("a second ordinal", at: start) }
            occurrence = try Ordinal(parsing: &text)
            return
        }
        let key = text.run { !"=,]\"".contains($0) }.trimmingBlanks()
        guard !key.isEmpty else { throw text.error("a condition is missing, such as 3 or type=Completion", at: start) }
        guard text.take("=") else {
            throw text.error("'\(key)' needs a value: \(key)=…\(Selector.hint(key))", at: start)
        }
        text.skipBlanks()
        let valueStart = text.at
        let isJSON = key.hasPrefix("/")
        let raw: String
        if text.next == "\"" {
            let inner = try text.quoted()
            raw = isJSON ? JSONValue.string(inner).text : inner
        } else if let ordinal = Selector.ordinalKey(key) {
            let value = try Ordinal(parsing: &text)
            guard filters[keyPath: ordinal] == nil else { throw text.error("a second '\(key)'", at: start) }
            filters[keyPath: ordinal] = value
            return
        } else {
            raw = Selector.bareValue(&text)
        }
        conditions.append(try Selector.condition(key, raw, text, at: start, valueAt: valueStart))
    }

    /// What `attempt=`, `retry=` and `session=` set.
    static func ordinalKey(_ key: String) -> WritableKeyPath<RuleFilters, Ordinal?>? {
        switch key {
        case "attempt": \.attempt
        case "retry": \.retry
        case "session": \.session
        default: nil
        }
    }

    /// Up to the `,` or `]` that ends it; brackets and quotes of JSON within are passed over.
    private static func bareValue(_ text: inout RuleText) -> String {
        var depth = 0
        var inText = false
        var escaped = false
        return text.run { c in
            if inText {
                if !escaped, c == "\"" { inText = false }
                escaped = !escaped && c == "\\"
                return true
            }
            if depth == 0, c == "," || c == "]" { return false }
            if c == "\"" { inText = true }
            if c == "[" || c == "{" { depth += 1 }
            if c == "]" || c == "}" { depth -= 1 }
            return true
        }.trimmingBlanks()
    }

    /// One condition with its value as text; the value of a pointer is JSON.
    static func condition(
        _ key: String, _ value: String, _ text: RuleText, at start: Int, valueAt: Int
    ) throws(PlanError) -> Condition {
        if key.hasPrefix("/") {
            guard let json = try? JSONValue(parsing: value) else {
                throw text.error("'\(value)' is not JSON; texts stand in quotes: \(key)=\"\(value)\"", at: valueAt)
            }
            return .pointer(key, json)
        }
        switch key {
        case "direction":
            switch value {
            case "toClient": return .direction(.toClient)
            case "toServer": return .direction(.toServer)
            default: throw text.error("'\(value)' is not a direction; use toClient or toServer", at: valueAt)
            }
        case "type": return .type(value)
        case "target", "event", "operation", "channel", "label": return .label(value)
        case "method": return .method(value)
        case "path": return .path(value)
        case "protocol", "invocation", "regex", "size", "header", "headers", "token", "transport", "per", "since":
            throw text.error("the condition '\(key)' is not built yet", at: start)
        default: throw text.error("'\(key)' is not a condition\(hint(key))", at: start)
        }
    }

    static func hint(_ key: String) -> String { NearestName.hint(key, among: keys) }

    static let keys = [
        "direction", "type", "target", "event", "operation", "channel", "method", "path", "attempt", "retry", "session",
        "every",
    ]
}
