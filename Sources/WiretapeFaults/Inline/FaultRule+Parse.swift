internal import WiretapeBytes

extension FaultRule {
    /// A rule in its inline form: `reset after ReceiveMessage[3]`, `respond(503, Retry-After=1) on connect[retry=1..2]`.
    /// The grammar is in `docs/faults.md`.
    /// - Parameters:
    ///   - source: where the text stands; errors point into it.
    ///   - name: what the rule is called; its own text, spelled in the one way that each rule has, when nil.
    /// - Throws: ``PlanError`` at the word that is wrong, with the nearest right one, also for combinations that cannot
    ///   apply.
    package init(
        parsing text: String, from source: RuleSource, name: String? = nil, optional: Bool = false
    ) throws(PlanError) {
        guard text.utf8.count <= FaultRule.longest else {
            throw PlanError("a rule has at most \(FaultRule.longest >> 10) KiB", at: source)
        }
        var text = RuleText(text, from: source)
        let actions = try FaultRule.actions(&text)
        var place: Place?
        var pause: UInt64 = 0
        var selector: (selector: Selector, at: Int)?
        var filters = RuleFilters()
        text.skipBlanks()
        if let word = FaultRule.placeWord(text.peekWord()) {
            _ = text.word()
            place = word
            text.skipBlanks()
            let subject = text.at
            selector = (try Selector(parsing: &text, filters: &filters), subject)
            if text.take("+") { pause = try FaultRule.pause(&text) }
        }
        var isOptional = optional
        try filters.parse(&text, optional: &isOptional, mayName: selector == nil)
        if selector == nil, filters.since != nil { selector = (Selector(.point(.time)), 0) }
        try self.init(
            name: name, actions: actions, place: place, pause: pause, selector: selector?.selector, filters: filters,
            optional: isOptional, source: source, text: text, actionsAt: 0, subjectAt: selector?.at ?? 0)
    }

    /// Reads the pause after `+`, such as `200ms`.
    private static func pause(_ text: inout RuleText) throws(PlanError) -> UInt64 {
        text.skipBlanks()
        let start = text.at
        return try pause(text.run { !$0.isWhitespace }, text, at: start)
    }

    /// - Throws: if it is not a duration, or if it is longer than ``Delay/longest``.
    static func pause(_ value: String, _ text: RuleText, at start: Int) throws(PlanError) -> UInt64 {
        guard let pause = DurationText.parse(value) else {
            throw text.error("'\(value)' is not a pause such as 200ms, 2s or 1m", at: start)
        }
        guard pause <= Delay.longest else { throw text.error("no pause is longer than 10m", at: start) }
        return pause
    }

    /// Bytes of a rule's text.
    private static let longest = 64 << 10

    /// Puts a rule together from its parts and refuses what cannot apply: the one way of all forms.
    init(
        name: String?, actions: [FaultAction], place: Place?, pause: UInt64, selector: Selector?, filters: RuleFilters,
        optional: Bool, source: RuleSource, text: RuleText, actionsAt: Int, subjectAt: Int
    ) throws(PlanError) {
        let shown = name.map { "rule '\($0)': " } ?? ""
        guard let selector else {
            throw text.error(
                shown + "'\(actions[0].text)' needs a place, such as 'after ReceiveMessage[3]' or 'on connect'",
                at: actionsAt)
        }
        let place = place ?? FaultRule.defaultPlace(actions, selector)
        self.init(
            name: name ?? "", actions: actions, place: place, pause: pause, selector: selector, filters: filters,
            optional: optional, source: source, subjectSource: text.position(subjectAt))
        if let problem {
            throw text.error(shown + problem.message, at: problem.isAboutSubject ? subjectAt : actionsAt)
        }
        if name == nil { self.name = inline }
    }

    /// What is done to the message itself stands on it; everything else after messages and instead of requests.
    private static func defaultPlace(_ actions: [FaultAction], _ selector: Selector) -> Place {
        guard selector.isAboutMessages else { return .instead }
        return actions.contains(where: \.verdict.changesMessage) ? .instead : .after
    }

    static func placeWord(_ word: String) -> Place? {
        switch word {
        case "before": .before
        case "after": .after
        case "on", "instead": .instead
        default: nil
        }
    }

    private static func actions(_ text: inout RuleText) throws(PlanError) -> [FaultAction] {
        var actions: [FaultAction] = []
        repeat {
            text.skipBlanks()
            actions.append(try FaultAction(parsing: &text))
        } while text.take("+")
        return actions
    }
}

extension FaultRule {
    /// The rule in the one spelling that each meaning has.
    package var inline: String {
        let text = actions.map(\.text).joined(separator: " + ")
        let end = optional ? " optional" : ""
        let isBare = selector == Selector(.point(.time)) && filters.per == .session
        if isBare { return text + filters.inline(hasSelector: false) + end }
        let word = place == .instead ? "on" : place.rawValue
        let later = pause > 0 ? " + \(DurationText.describe(pause))" : ""
        return "\(text) \(word) \(selector.inline(with: filters))\(later)" + filters.inline(hasSelector: true) + end
    }
}
