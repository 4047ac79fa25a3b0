internal import WiretapeBytes
internal import WiretapeWire

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
        guard text.isAtEnd else { throw text.error("'\(text.rest)' does not belong to a selector") }
        return (selector, filters)
    }

    /// `( point | label ) [ "[" cond { "," cond } "]" ]`. Conditions on attempt, retry and session go to `filters`.
    init(parsing text: inout RuleText, filters: inout RuleFilters) throws(PlanError) {
        let subject: Subject
        if text.next == "\"" {
            subject = .label(try text.quoted())
        } else {
            let label = text.label()
            guard !label.isEmpty else {
                throw text.error("a point or a label is missing, such as connect or ReceiveMessage")
            }
            subject = Selector.subject(label)
        }
        self.init(subject)
        guard text.next == "[" else { return }
        _ = text.take("[")
        repeat { try parseCondition(&text, &filters) } while text.take(",")
        try text.require("]", after: "the conditions")
    }

    /// A bare word: a point or a label.
    package static func subject(_ word: String) -> Subject {
        FaultPoint(rawValue: word).map(Subject.point) ?? .label(word)
    }

    private mutating func parseCondition(_ text: inout RuleText, _ filters: inout RuleFilters) throws(PlanError) {
        text.skipBlanks()
        let start = text.at
        if text.next?.isNumber == true || text.peekWord() == "every" {
            guard occurrence == nil else { throw text.error("a second ordinal", at: start) }
            occurrence = try Ordinal(parsing: &text)
            return
        }
        if text.next == "-" { throw text.error("expected a number from 1, found '\(text.peekWord())'") }
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
            raw = text.json(until: ",]")
        }
        if key == "per" {
            filters.per = try RuleFilters.scope(raw, text, at: valueStart)
            return
        }
        let condition = try Condition(key, raw, text, at: start, valueAt: valueStart)
        guard !conditions.contains(where: { $0.key == key }) else { throw text.error("a second '\(key)'", at: start) }
        conditions.append(condition)
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

    package static func hint(_ key: String) -> String {
        NearestName.hint(key, among: Condition.keys + ["attempt", "retry", "session", "per", "every"])
    }
}
