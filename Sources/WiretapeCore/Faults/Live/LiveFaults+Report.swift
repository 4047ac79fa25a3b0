extension LiveFaults {
    /// What the run has come to so far, as a replay tells it. What goes on is not ended by asking.
    package func report(_ expectations: [Expectation] = [], at now: WireInstant) -> ReplayReport {
        var report = ReplayReport.empty(seed: seed)
        report.isLive = true
        report.sessions = sessions.map { session in
            ReplayReport.Session(
                session: session.number, run: 1, client: session.identity, assigned: .identity,
                protocolID: session.protocolID, transports: session.transports,
                finished: session.attempts.contains { $0.outcome == .connected }, attempts: session.attempts,
                matched: session.toServer, missing: [], unexpected: [], late: [], reordered: 0,
                abandoned: session.subscriptions.forgotten,
                traffic: .init(toServer: session.toServer, toClient: session.toClient))
        }
        report.faults = firings
        report.faultsLeftOut = firingsLeftOut
        report.unfired = plan.rules.enumerated().filter { !fired.contains($0.offset) }.map { _, rule in
            ReplayReport.Unfired(rule: rule.name, text: unfired(rule), optional: rule.optional)
        }
        report.expectations = Judge.judge(
            zip(report.sessions, sessions).map { session, live in
                JudgedSession(
                    session: session.session, run: 1, attempts: session.attempts,
                    finished: LiveFaults.wasEnded(session.attempts), abandoned: session.abandoned,
                    subscribed: true, silences: silences(of: session.session), signs: live.signs(at: now),
                    elapsed: elapsed(now))
            }, by: expectations)
        return report
    }

    /// Whether the server has ended the session in order: its client owes no retry.
    private static func wasEnded(_ attempts: [Attempt]) -> Bool {
        guard let last = attempts.last, last.outcome == .connected, let end = last.ended else { return false }
        return end.by == "server" && end.how.hasPrefix("close")
    }

    /// When rules made the session's connection go silent.
    private func silences(of session: Int) -> [JudgedSession.Silence] {
        firings.filter {
            $0.session == session && ($0.action.hasPrefix("stall") || $0.action.hasPrefix("mute"))
        }.map { JudgedSession.Silence(time: $0.time, attempt: $0.attempt) }
    }

    private func unfired(_ rule: FaultRule) -> String {
        var text = "rule '\(rule.name)' (\(rule.source)) never fired"
        if case .label(let label) = rule.selector.subject {
            let count = names[label] ?? 0
            if count > 0 {
                text += ": '\(label)' came \(RuleNames.times(count))"
            } else {
                text += ": '\(label)' never came"
                if let nearest = NearestName.find(label, among: names.keys.sorted()) {
                    text += "; nearest '\(nearest)' (\(RuleNames.times(names[nearest] ?? 0)))"
                }
            }
        } else if sessions.isEmpty {
            text += ": no session came"
        }
        return text + ". Exit 5; 'optional: true' allows it."
    }
}
