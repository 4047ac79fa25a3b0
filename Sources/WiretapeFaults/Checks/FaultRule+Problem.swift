internal import WiretapeBytes

/// What cannot apply is refused when it is loaded: what the actions are to each other here, where they stand and what is
/// asked there beside this file.
extension FaultRule {
    /// Why the parts do not go together, and whether what it is about is to blame; nil when they do.
    package var problem: (message: String, isAboutSubject: Bool)? {
        if let message = sequenceProblem { return (message, false) }
        if let message = conditionProblem ?? filterProblem { return (message, true) }
        for action in actions {
            if let message = placeProblem(action) { return (message, false) }
        }
        return nil
    }

    /// What the actions are to each other.
    private var sequenceProblem: String? {
        for (i, action) in actions.enumerated().dropLast() {
            let next = actions[i + 1].verdict
            if action.verdict.isTerminal { return "nothing can follow '\(action.text)': it ends the connection" }
            if case .message(.truncate) = action.verdict, next != .reset, next != .disconnect {
                return "only reset or disconnect can follow '\(action.text)', which ends the connection"
            }
        }
        return pauseProblem ?? lossProblem ?? answerProblem ?? handshakeProblem
    }

    /// Why the rule cannot have its pause.
    private var pauseProblem: String? {
        guard pause > 0 else { return nil }
        let shown = "the pause of \(DurationText.describe(pause))"
        guard place == .after else { return "\(shown) needs 'after'; write 'after \(selector.subjectText)'" }
        guard selector.isAboutMessages || selector.isAboutRequests else {
            return "\(shown) needs a message or a request before it, and '\(selector.subjectText)' is neither"
        }
        let other = actions.first(where: \.verdict.isOfConnection) ?? (isTerminal ? nil : actions[0])
        return other.map { "\(shown) works with reset, disconnect, close and outage only, not with '\($0.text)'" }
    }

    /// What is done to a message of which nothing, or not enough, is left.
    private var lossProblem: String? {
        let texts = { (isMeant: (FaultEffect) -> Bool) in actions.first { isMeant($0.verdict) }?.text }
        if actions.contains(where: { $0.verdict == .message(.drop) }),
            let other = texts({ $0.changesMessage && $0 != .message(.drop) })
        {
            return "a message that is dropped cannot have '\(other)' too"
        }
        let repeated = texts { if case .message(.duplicate) = $0 { true } else { false } }
        let reordered = texts { if case .message(.reorder) = $0 { true } else { false } }
        if texts({ if case .message(.truncate) = $0 { true } else { false } }) != nil, let other = repeated ?? reordered
        {
            return "a message that is cut short cannot have '\(other)' too"
        }
        if let reordered, let end = texts(\.isTerminal) {
            return "nothing comes before '\(end)' that a message with '\(reordered)' could let pass"
        }
        return nil
    }

    /// A certificate that nobody is shown.
    private var handshakeProblem: String? {
        let shown = actions.filter { if case .tls(.certificate) = $0.verdict { true } else { false } }
        guard let first = shown.first else { return nil }
        if shown.count > 1 { return "a client is shown one certificate: '\(first.text)' or '\(shown[1].text)'" }
        return actions.first(where: \.verdict.isTerminal).map {
            "'\($0.text)' ends the handshake before '\(first.text)' is shown"
        }
    }

    /// A wrong word in an answer that does not come.
    private var answerProblem: String? {
        let wrong = actions.first { $0.verdict.kind == .upgrade }
        guard let wrong, let end = actions.first(where: \.verdict.isTerminal) else { return nil }
        return "'\(end.text)' takes the place of the answer that '\(wrong.text)' is about"
    }
}
