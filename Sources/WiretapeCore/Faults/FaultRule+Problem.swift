extension FaultRule {
    /// Why the parts do not go together, and whether what it is about is to blame; nil when they do.
    var problem: (message: String, isAboutSubject: Bool)? {
        if let message = sequenceProblem { return (message, false) }
        if let message = conditionProblem { return (message, true) }
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
            if case .truncate = action.verdict, next != .reset, next != .disconnect {
                return "only reset or disconnect can follow '\(action.text)', which ends the connection"
            }
        }
        guard actions.contains(where: { $0.verdict == .drop }) else { return nil }
        let other = actions.first { $0.verdict.changesMessage && $0.verdict != .drop }
        return other.map { "a message that is dropped cannot have '\($0.text)' too" }
    }

    private var conditionProblem: String? {
        let subject = selector.subjectText
        let isAccept: Bool
        if case .point(let point) = selector.subject { isAccept = point.isAccept } else { isAccept = false }
        for condition in selector.conditions {
            switch condition.subject {
            case .any: if isAccept { return "'\(subject)' is before any request and has no \(condition.key)" }
            case .message:
                guard !selector.isAboutMessages else { continue }
                return
                    "'\(subject)' is \(selector.isAboutRequests ? "about requests, which have" : "a moment that has") no \(condition.key)"
            case .request:
                guard !selector.isAboutRequests else { continue }
                return
                    "'\(subject)' is \(selector.isAboutMessages ? "about messages, which have" : "a moment that has") no \(condition.key)"
            case .accept: if !isAccept { return "only accept and tls have a listener" }
            case .close: if !selector.isPoint(.close) { return "only close has '\(condition.key)'" }
            }
        }
        if isAccept {
            let isNamed = filters.session != nil || filters.attempt != nil || filters.retry != nil
            if isNamed { return "'\(subject)' is before any request: nobody knows its session or attempt" }
            if let since = filters.since, since.mark != .run {
                return "'\(subject)' is before 'since \(since.mark.rawValue)'"
            }
        }
        guard selector.isPoint(.time) else { return nil }
        if filters.since == nil { return "time needs a moment: since run=5s" }
        return selector.occurrence == nil ? nil : "a moment comes once a connection: it has no ordinal"
    }

    /// Where an action can stand.
    private func placeProblem(_ action: FaultAction) -> String? {
        let subject = selector.subjectText
        let isMessage = selector.isAboutMessages
        let isRequest = selector.isAboutRequests
        let isAccept = selector.isPoint(.accept) || selector.isPoint(.tls)
        let word = Faults.all.map(\.word).first { action.text == $0 || action.text.hasPrefix($0 + "(") } ?? action.text
        switch action.verdict {
        case .respond, .malformed, .redirectLoop, .wrongAccept, .wrongSubprotocol:
            if isMessage {
                return "\(word) answers a request, and '\(subject)' is a message; use close, disconnect or reset"
            }
            guard isRequest else { return "\(word) answers a request, and there is none at '\(subject)'" }
            guard place == .instead else { return "\(word) stands in the place of the answer; write 'on \(subject)'" }
            let isUpgrade = action.verdict == .wrongAccept || word == "wrong-subprotocol"
            let kinds: [FaultPoint] = [.upgrade, .connect, .request]
            if isUpgrade, !kinds.contains(where: selector.isPoint) {
                return "\(word) is for upgrades; write 'on upgrade'"
            }
        case .close:
            let isOpen =
                isMessage || selector.isPoint(.time) || selector.isPoint(.close)
                || (selector.isPoint(.upgrade) && place == .after)
            guard isOpen else {
                return "close needs a WebSocket, and there is none at '\(subject)'; use respond, disconnect or reset"
            }
        case .refuse:
            guard isAccept || isRequest else {
                return "refuse is for new connections; write 'on accept' or 'on connect'"
            }
        case .delay:
            guard isMessage || isRequest || isAccept || selector.isPoint(.close) else {
                return "there is nothing to delay at '\(subject)'"
            }
        case .drop:
            guard isMessage || selector.isPoint(.close) else {
                return "drop is for messages, and '\(subject)' is none; use stall or disconnect"
            }
        case .duplicate, .reorder, .replace, .corrupt:
            guard isMessage else { return "\(word) is for messages, and '\(subject)' is none" }
        case .truncate:
            guard isMessage || isRequest else {
                return "truncate is for messages and answers, and '\(subject)' is neither"
            }
        case .inject:
            guard isMessage || selector.isPoint(.time) else { return "inject needs a message or a moment beside it" }
        case .downgrade, .expire:
            if isAccept { return "'\(subject)' is before any request: there is no session yet" }
        case .stall, .mute, .throttle, .slice:
            if selector.isPoint(.close) { return "nothing of the connection is left after '\(subject)' for \(word)" }
        case .reset, .disconnect, .outage: break
        }
        if action.verdict.changesMessage, place == .after {
            if case .delay = action.verdict, isMessage { return nil }
            return "\(word) is done to the thing itself; write 'on \(subject)'"
        }
        return nil
    }
}
