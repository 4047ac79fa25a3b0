extension FaultRule {
    /// A rule in its inline form: `reset after ReceiveMessage[3]`, `respond(503, Retry-After=1) on connect[retry=1..2]`.
    /// The grammar is in `docs/faults.md`.
    /// - Parameters:
    ///   - source: where the text stands; errors point into it.
    ///   - name: what the rule is called; its own text, spelled in the one way that each rule has, when nil.
    /// - Throws: ``PlanError`` at the word that is wrong, with the nearest right one, also for combinations that cannot
    ///   apply and for what is not built yet.
    package init(
        parsing text: String, from source: RuleSource, name: String? = nil, optional: Bool = false
    ) throws(PlanError) {
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
        try self.init(
            name: name, actions: actions, place: place?.place, selector: selector?.selector, filters: filters,
            optional: optional, source: source, text: text, actionsAt: 0, subjectAt: selector?.at ?? 0)
    }

    /// Puts a rule together from its parts and refuses what cannot apply: the one way of the inline form and of YAML.
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
        let place = place ?? selector.defaultPlace
        if let problem = FaultRule.problem(actions, place, selector) {
            throw text.error(shown + problem.message, at: problem.isAboutSubject ? subjectAt : actionsAt)
        }
        self.init(
            name: name ?? "", actions: actions, place: place, selector: selector, filters: filters, optional: optional,
            source: source, subjectSource: text.position(subjectAt))
        if name == nil { self.name = inline }
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

    /// Why the parts do not go together; nil when they do.
    private static func problem(
        _ actions: [FaultAction], _ place: Place, _ selector: Selector
    ) -> (message: String, isAboutSubject: Bool)? {
        if actions.count > 1 {
            return ("nothing can follow '\(actions[0].text)': it ends the connection", false)
        }
        let isRequest = selector.isAboutRequests
        let subject = selector.subjectText
        for condition in selector.conditions where condition.isAboutRequests != isRequest {
            let kind = isRequest ? "requests" : "messages"
            return ("'\(subject)' is about \(kind), which have no \(condition.key)", true)
        }
        switch actions[0].verdict {
        case .respond:
            guard isRequest else {
                return (
                    "respond answers a request, and '\(subject)' is a message; use close, disconnect or reset", false
                )
            }
            guard place == .instead else {
                return ("respond stands in the place of the answer; write 'on \(subject)'", false)
            }
        case .close:
            let isOpen = !isRequest || (selector.subject == .point(.upgrade) && place == .after)
            guard isOpen else {
                return (
                    "close needs a WebSocket, and there is none at '\(subject)'; use respond, disconnect or reset",
                    false
                )
            }
        case .reset, .disconnect: break
        }
        return nil
    }
}

extension FaultRule {
    /// The rule in the one spelling that each meaning has.
    package var inline: String {
        var text = actions.map(\.text).joined(separator: " + ")
        text += " \(place == .instead ? "on" : place.rawValue) \(selector.inline(with: filters))"
        return text + filters.inline
    }
}
