internal import WiretapeBytes
package import WiretapeFaults
package import WiretapeProtocol
package import WiretapeReport
internal import WiretapeWire

extension FaultPlan {
    /// Rules that cannot fire in a replay of those sessions, whatever its clients do, each with the reason. What is only
    /// unlikely is none of them: such a rule is told of when it has not fired.
    package func hopeless(
        in sessions: [RecordedSession], tapeName: String, options: ReplayOptions
    ) -> [ReplayReport.Unfired] {
        guard !rules.isEmpty else { return [] }
        let names = TapeNames(sessions)
        let isCounted = FaultPlan.isCounted(options)
        return rules.compactMap { rule in
            let reason =
                rule.pointNever(in: sessions) ?? rule.sessionNever(in: sessions, tapeName)
                ?? rule.nameNever(names, tapeName)
                ?? (isCounted && !isRecounted(beside: rule) ? rule.countNever(names, tapeName) : nil)
            guard let reason else { return nil }
            return ReplayReport.Unfired(
                rule: rule.name,
                text: "wiretape: rule '\(rule.name)' (\(rule.source)) cannot fire: \(reason). Exit 5; "
                    + "'optional: true' allows it.",
                optional: rule.optional)
        }
    }

    /// Whether sessions say nothing more often than their tape has it.
    private static func isCounted(_ options: ReplayOptions) -> Bool {
        switch options.onReconnect {
        case .restart, .rewind: return false
        case .resume, .lose, .live, .next, .refuse: break
        }
        if case .named = options.greeting { return false }
        return options.clients == 1 && options.whenExhausted == .refuse
    }

    /// Whether another rule makes more or fewer messages.
    private func isRecounted(beside rule: FaultRule) -> Bool {
        rules.contains { other in other.name != rule.name && other.actions.contains { $0.verdict.changesCounts } }
    }
}

extension FaultRule {
    /// Its point is none of any protocol of those sessions.
    fileprivate func pointNever(in sessions: [RecordedSession]) -> String? {
        guard !sessions.isEmpty, case .point(let point) = selector.subject else { return nil }
        let types = sessions.lazy.map(\.codec.type)
        let names = Set(sessions.map(\.codec.id)).sorted().joined(separator: ", ")
        if point == .subscribe, !types.contains(where: { $0.hasSubscriptions }) {
            return "'subscribe' never comes: \(names) has no subscriptions"
        }
        // Replay makes the handshakes that scripts do not have.
        if point == .handshake, !types.contains(where: { !$0.preamble.isEmpty || !$0.scriptsHandshake }) {
            return "'handshake' never comes: \(names) has none"
        }
        return nil
    }

    /// It is about sessions or a protocol that the tape does not have.
    fileprivate func sessionNever(in sessions: [RecordedSession], _ tape: String) -> String? {
        // Requests of no session are counted as those of session 0.
        if let asked = filters.session, !asked.contains(0), !sessions.contains(where: { asked.contains($0.number) }) {
            let last = sessions.map(\.number).max()
            let there = last.map { $0 == 1 ? "one session" : "sessions 1 to \($0)" } ?? "no session"
            return "\(tape) has \(there), and session \(asked) was asked for"
        }
        for case .protocol(let id) in selector.conditions {
            let ids = Set(sessions.map(\.codec.id)).sorted()
            guard !ids.contains(id) else { continue }
            let hint = NearestName.find(id, among: ids).map { "; nearest is '\($0)'" }
            let there = ids.isEmpty ? "" : "; it has \(ids.joined(separator: ", "))"
            return "no session of \(tape) speaks '\(id)'\(hint ?? there)"
        }
        return nil
    }

    /// It names what no message of the tape is called. What only a client may say is written `[direction=toServer]`.
    fileprivate func nameNever(_ names: TapeNames, _ tape: String) -> String? {
        guard selector.direction != .toServer else { return nil }
        if case .label(let label) = selector.subject, names.isUnknown(label) {
            return "'\(label)' is not on \(tape)\(names.hint(label))"
        }
        for condition in selector.conditions {
            switch condition {
            case .type(let name), .named(_, let name):
                guard names.isUnknown(name), names.lacks(condition) == true else { continue }
                return "no message of \(tape) has \(condition.key)=\(name)\(names.hint(name))"
            case .direction, .protocol, .transport, .invocation, .pointer, .regex, .size, .method, .path, .header,
                .staleToken, .listener, .endedBy, .code:
                continue
            }
        }
        return nil
    }

    /// It asks for more messages than a session has.
    fileprivate func countNever(_ names: TapeNames, _ tape: String) -> String? {
        guard case .label(let label) = selector.subject, let number = selector.occurrence?.first, filters.per != .run,
            let most = names.most(label, selector.direction), number > most
        else { return nil }
        return "'\(label)' comes \(RuleNames.times(most)) in a session of \(tape), and number \(number) was asked for"
    }
}

extension FaultPlan {
    /// Rules that a replay cannot carry out, each as an error at its word: what they would do reaches a server, and there is
    /// none.
    package var problemsInReplay: [PlanError] {
        rules.compactMap { rule in
            guard rule.selector.direction == .toServer else { return nil }
            guard let action = rule.actions.first(where: \.verdict.needsServer) else { return nil }
            return PlanError(
                "'\(action.text)' on messages to the server needs a server, and a replay has none",
                at: rule.subjectSource)
        }
    }
}
