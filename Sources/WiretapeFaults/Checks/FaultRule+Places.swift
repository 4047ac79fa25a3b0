extension FaultRule {
    /// Why an action cannot stand where it stands; nil when it can.
    func placeProblem(_ action: FaultAction) -> String? {
        let subject = selector.subjectText
        let word = action.text.prefix { $0 != "(" }
        if selector.isPoint(.tls) { return handshaking(action.verdict, word) }
        let problem =
            switch action.verdict.kind {
            case .answer, .upgrade: answering(action, word)
            case .end, .outage: ending(action.verdict)
            case .message(let change): changing(change, word)
            case .session: isAboutAccept ? "'\(subject)' is before any request: there is no session yet" : nil
            case .connection: lasting(action.verdict, word)
            case .handshake: "\(word) is for TLS handshakes; write 'on tls'"
            }
        return problem ?? placing(action.verdict, word)
    }

    /// In a TLS handshake, in which there is no message and no answer.
    private func handshaking(_ verdict: FaultEffect, _ word: Substring) -> String? {
        switch verdict {
        case .tls, .message(.delay), .stall, .reset, .disconnect, .refuse:
            return place == .instead ? nil : "rules about a handshake stand in it; write 'on tls'"
        case .mute, .throttle, .slice, .outage, .close, .respond, .malformed, .redirectLoop, .wrongAccept,
            .wrongSubprotocol, .message, .downgrade, .expire, .lifetime:
            return "\(word) is not for a TLS handshake: alert, certificate, delay, stall, reset and disconnect are"
        }
    }

    /// Instead of an answer, or within it.
    private func answering(_ action: FaultAction, _ word: Substring) -> String? {
        let subject = selector.subjectText
        if selector.isAboutMessages {
            return "\(word) answers a request, and '\(subject)' is a message; use close, disconnect or reset"
        }
        guard selector.isAboutRequests else { return "\(word) answers a request, and there is none at '\(subject)'" }
        guard place == .instead else { return "\(word) stands in the place of the answer; write 'on \(subject)'" }
        let kinds: [FaultPoint] = [.upgrade, .connect, .request]
        guard needsUpgrade, !kinds.contains(where: selector.isPoint) else { return nil }
        return "\(word) is for upgrades; write 'on upgrade'"
    }

    private func ending(_ verdict: FaultEffect) -> String? {
        let subject = selector.subjectText
        switch verdict {
        case .close:
            let isOpen =
                selector.isAboutMessages || selector.isPoint(.time) || selector.isPoint(.close)
                || (selector.isPoint(.upgrade) && place == .after)
            return isOpen
                ? nil
                : "close needs a WebSocket, and there is none at '\(subject)'; use respond, disconnect or reset"
        case .refuse:
            guard isAboutAccept || selector.isAboutRequests else {
                return "refuse is for new connections; write 'on accept' or 'on connect'"
            }
            return place == .after && !isAboutAccept
                ? "refuse stands in the place of the answer; write 'on \(subject)', or 'reset after \(subject)'" : nil
        case .reset, .disconnect, .respond, .malformed, .redirectLoop, .outage, .wrongAccept, .wrongSubprotocol,
            .message, .stall, .mute, .throttle, .slice, .downgrade, .expire, .lifetime, .tls:
            return nil
        }
    }

    private func changing(_ change: MessageChange, _ word: Substring) -> String? {
        let subject = selector.subjectText
        let isMessage = selector.isAboutMessages
        let isRequest = selector.isAboutRequests
        switch change.traits.target {
        case .anything:
            let isThere = isMessage || isRequest || isAboutAccept || selector.isPoint(.close)
            return isThere ? nil : "there is nothing to \(word) at '\(subject)'"
        case .messageOrEnd:
            return isMessage || selector.isPoint(.close)
                ? nil : "\(word) is for messages, and '\(subject)' is none; use stall or disconnect"
        case .messageOrAnswer:
            return isMessage || isRequest
                ? nil : "\(word) is for messages and answers, and '\(subject)' is neither"
        case .messageOrMoment:
            return isMessage || selector.isPoint(.time) ? nil : "\(word) needs a message or a moment beside it"
        case .message:
            return isMessage ? nil : "\(word) is for messages, and '\(subject)' is none"
        }
    }

    /// What changes how the connection goes on.
    private func lasting(_ verdict: FaultEffect, _ word: Substring) -> String? {
        if case .mute = verdict { return muting }
        return selector.isPoint(.close)
            ? "nothing of the connection is left after '\(selector.subjectText)' for \(word)" : nil
    }

    /// Keepalives are those of a connection that carries a session.
    private var muting: String? {
        let carries: [FaultPoint] = [.upgrade, .stream, .poll, .time]
        guard !selector.isAboutMessages, !carries.contains(where: selector.isPoint) else { return nil }
        return "no keepalives begin at '\(selector.subjectText)'; write 'mute after upgrade' or 'mute after handshake'"
    }

    /// What is done to the thing itself has no other place than the thing.
    private func placing(_ verdict: FaultEffect, _ word: Substring) -> String? {
        guard verdict.changesMessage, place != .instead else { return nil }
        if case .message(.delay) = verdict, place == .before || selector.isAboutMessages { return nil }
        return "\(word) is done to the thing itself; write 'on \(selector.subjectText)'"
    }
}
