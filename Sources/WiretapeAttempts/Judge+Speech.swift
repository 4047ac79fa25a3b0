internal import WiretapeBytes

/// Policies about what a client says again once it is back.
extension Judge {
    /// - Parameter name: what subscribes; nil: what the protocol knows as a subscription or a stream.
    static func resubscribes(
        _ session: JudgedSession, _ name: Expectation.Subscriber?, _ tolerance: Expectation.Tolerance
    ) -> Finding {
        let isMeant = { (ask: ClientSpeech.Ask) in name.map { ask.saying.isNamed($0.name) } ?? ask.isSubscription }
        let again = session.speech.paid.filter(isMeant)
        let owed = session.speech.owed.filter(isMeant)
        if let first = owed.first, session.hadTime(tolerance) {
            return Finding(
                problem: "session \(session.session) came back without asking again for \(listed(owed, first.saying))",
                expected: "everything asked for again", actual: "\(listed(owed, first.saying)) not asked for")
        }
        if name == nil, let unclear = session.speech.owed.first(where: { $0.isUnclear }) {
            return .unjudged("\(unclear.saying.title) does not tell whether it is a subscription")
        }
        guard !again.isEmpty, owed.isEmpty else {
            return .unjudged(whyNothing(session, name?.name, isOwed: !owed.isEmpty, "subscribed to"))
        }
        if session.speech.isCutShort { return .unjudged(tooMany(session)) }
        return Finding(
            problem: nil, expected: "everything asked for again", actual: "everything asked for again (\(again.count))")
    }

    static func once(_ session: JudgedSession, _ label: String) -> Finding {
        let speech = session.speech
        let all = speech.repeats.filter { $0.saying.isNamed(label) }
        if let first = all.first {
            let more = all.count > 1 ? " (and \(all.count - 1) more)" : ""
            return Finding(
                problem: "session \(session.session) said \(first.saying.title) again on connection \(first.again), "
                    + "though it was acknowledged on connection \(first.first)\(more)",
                expected: "no acknowledged \(label) again", actual: "\(all.count) said again")
        }
        guard speech.wasAcknowledged(before: label) else {
            return .unjudged(whyNothing(session, label, isOwed: false, "acknowledged"))
        }
        if speech.isCutShort || speech.repeated > speech.repeats.count { return .unjudged(tooMany(session)) }
        return Finding(problem: nil, expected: "no acknowledged \(label) again", actual: "none")
    }

    static func keeps(_ session: JudgedSession, _ label: String, _ tolerance: Expectation.Tolerance) -> Finding {
        let isMeant = { (ask: ClientSpeech.Ask) in !ask.isAcknowledged && ask.saying.isNamed(label) }
        let again = session.speech.paid.filter(isMeant)
        let owed = session.speech.owed.filter(isMeant)
        if let first = owed.first, session.hadTime(tolerance) {
            return Finding(
                problem: "session \(session.session) came back without saying again \(listed(owed, first.saying)), "
                    + "which was not acknowledged",
                expected: "every \(label) until it is acknowledged",
                actual: "\(listed(owed, first.saying)) not said again")
        }
        guard !again.isEmpty, owed.isEmpty else {
            return .unjudged(whyNothing(session, label, isOwed: !owed.isEmpty, "waiting for its acknowledgement"))
        }
        if session.speech.isCutShort { return .unjudged(tooMany(session)) }
        return Finding(
            problem: nil, expected: "every \(label) until it is acknowledged", actual: "\(again.count) said again")
    }

    static func drops(_ session: JudgedSession, _ label: String, _ tolerance: Expectation.Tolerance) -> Finding {
        let isMeant = { (ask: ClientSpeech.Ask) in !ask.isAcknowledged && ask.saying.isNamed(label) }
        let again = session.speech.paid.filter(isMeant)
        let owed = session.speech.owed.filter(isMeant)
        let expected = "no unacknowledged \(label) again"
        if let first = again.first {
            return Finding(
                problem: "session \(session.session) came back and said again \(listed(again, first.saying)), "
                    + "which was not acknowledged",
                expected: expected, actual: "\(again.count) said again")
        }
        guard !owed.isEmpty, session.hadTime(tolerance) else {
            return .unjudged(whyNothing(session, label, isOwed: !owed.isEmpty, "waiting for its acknowledgement"))
        }
        if session.speech.isCutShort { return .unjudged(tooMany(session)) }
        return Finding(problem: nil, expected: expected, actual: "none")
    }

    /// `1 subscription: subscribe ticks`, `2 messages, first Invocation Send("hi")`.
    private static func listed(_ asks: [ClientSpeech.Ask], _ first: ClientSpeech.Saying) -> String {
        let what = asks.allSatisfy(\.isSubscription) ? "subscription" : "message"
        return asks.count == 1 ? "1 \(what): \(first.title)" : "\(asks.count) \(what)s, first \(first.title)"
    }

    private static func tooMany(_ session: JudgedSession) -> String {
        "session \(session.session) had more open at a time than is kept"
    }

    /// Why a policy about what is said again found nothing.
    private static func whyNothing(
        _ session: JudgedSession, _ name: String?, isOwed: Bool, _ state: String
    ) -> String {
        let speech = session.speech
        if let name, !speech.wasSaid(name) {
            let hint = NearestName.find(name, among: speech.names.keys.sorted()).map { "; did you mean '\($0)'?" } ?? ""
            return "the client never said '\(name)'\(hint)"
        }
        guard session.attempts.count(where: { $0.outcome == .connected }) > 1 else { return "no session came back" }
        if isOwed { return "the run ended as soon as session \(session.session) was back" }
        let names = speech.names.keys.sorted().prefix(4).joined(separator: ", ")
        let said = names.isEmpty || name != nil ? "" : " (it said \(names))"
        return
            "\(name.map { "no '\($0)'" } ?? "nothing") was \(state) when session \(session.session) lost a connection\(said)"
    }
}
