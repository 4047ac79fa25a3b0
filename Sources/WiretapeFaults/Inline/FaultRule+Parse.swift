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
        var place: (place: Place, at: Int)?
        var selector: (selector: Selector, at: Int)?
        var filters = RuleFilters()
        text.skipBlanks()
        let start = text.at
        if let word = FaultRule.placeWord(text.peekWord()) {
            _ = text.word()
            place = (word, start)
            text.skipBlanks()
            let subject = text.at
            selector = (try Selector(parsing: &text, filters: &filters), subject)
        }
        try filters.parse(&text, mayName: selector == nil)
        if selector == nil, filters.since != nil { selector = (Selector(.point(.time)), 0) }
        try self.init(
            name: name, actions: actions, place: place?.place, selector: selector?.selector, filters: filters,
            optional: optional, source: source, text: text, actionsAt: 0, subjectAt: selector?.at ?? 0)
    }

    /// Bytes of a rule's text.
    private static let longest = 64 << 10

    /// Puts a rule together from its parts and refuses what cannot apply: the one way of all forms.
    init(
        name: String?, actions: [FaultAction], place: Place?, selector: Selector?, filters: RuleFilters, optional: Bool,
        source: RuleSource, text: RuleText, actionsAt: Int, subjectAt: Int
    ) throws(PlanError) {
        let shown = name.map { "rule '\($0)': " } ?? ""
        guard let selector else {
            throw text.error(
                shown + "'\(actions[0].text)' needs a place, such as 'after ReceiveMessage[3]' or 'on connect'",
                at: actionsAt)
        }
        let place = place ?? FaultRule.defaultPlace(actions, selector)
        self.init(
            name: name ?? "", actions: actions, place: place, selector: selector, filters: filters, optional: optional,
            source: source, subjectSource: text.position(subjectAt))
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

    /// Whether its last action ends the connection.
    var isTerminal: Bool {
        actions.contains { action in
            if case .message(.truncate) = action.verdict { true } else { action.verdict.isTerminal }
        }
    }
}

extension FaultRule {
    /// The rule in the one spelling that each meaning has.
    package var inline: String {
        let text = actions.map(\.text).joined(separator: " + ")
        let isBare = selector == Selector(.point(.time)) && filters.per == .session
        if isBare { return text + filters.inline(hasSelector: false) }
        let word = place == .instead ? "on" : place.rawValue
        return "\(text) \(word) \(selector.inline(with: filters))" + filters.inline(hasSelector: true)
    }
}
