package import WiretapeAttempts
package import WiretapeBytes
internal import WiretapeFaults
package import WiretapeReport

extension LiveFaults {
    /// What the run has come to so far, as a replay tells it. What goes on is not ended by asking.
    /// - Parameter clientsAreGone: nothing more would have come, however long the run had lasted.
    package func report(
        _ expectations: [Expectation] = [], clientsAreGone: Bool = false, at now: WireInstant
    ) -> ReplayReport {
        var report = ReplayReport.empty(seed: seed)
        report.isLive = true
        var numbers = AttemptNumbers()
        let judged = directory.sessions.map { session in
            JudgedSession(
                session: session.number, run: 1, attempts: session.attempts,
                finished: LiveFaults.wasEnded(session.attempts), speech: session.speech,
                overlaps: session.overlaps, silences: silences(of: session.number),
                signs: session.signs(at: now), credentials: session.credentials, elapsed: elapsed(now),
                isGone: clientsAreGone)
        }
        report.sessions = zip(directory.sessions, judged).map { session, judged in
            numbers.add(session.attempts, of: session.number, run: 1)
            return ReplayReport.Session(
                session: session.number, run: 1, client: session.identity, assigned: .identity,
                protocolID: session.protocolID, transports: session.transports,
                finished: session.attempts.contains { $0.outcome == .connected },
                attempts: Attempt.joined(session.attempts), matched: session.toServer, missing: [], unexpected: [],
                late: [], reordered: 0,
                abandoned: session.speech.owed.count { $0.isSubscription },
                repeated: session.speech.repeated,
                traffic: .init(toServer: session.toServer, toClient: session.toClient),
                notes: judged.openingNote(judgedBy: expectations).map { [$0] } ?? [])
        }
        report.faults = firings.kept.map { $0.renumbered(by: numbers) }
        report.faultsLeftOut = firings.leftOut
        report.unfired = plan.rules.enumerated().filter { !firings.rules.contains($0.offset) }.map { _, rule in
            ReplayReport.Unfired(rule: rule.name, text: unfired(rule), optional: rule.optional)
        }
        report.expectations = Judge.judge(judged, requests: requests, by: expectations)
        return report
    }

    /// Whether the server has ended the session in order: its client owes no retry.
    private static func wasEnded(_ attempts: [Attempt]) -> Bool {
        guard let last = attempts.last, last.outcome == .connected, let end = last.ended else { return false }
        guard end.by == .server, case .close = end.how else { return false }
        return true
    }

    /// When rules made the session's connection go silent.
    private func silences(of session: Int) -> [JudgedSession.Silence] {
        firings.kept.filter { $0.session == session && $0.isSilence }.map {
            JudgedSession.Silence(time: $0.time, attempt: $0.attempt)
        }
    }

    private func unfired(_ rule: FaultRule) -> String {
        var text = "rule '\(rule.name)' (\(rule.source)) never fired"
        if case .label(let label) = rule.selector.subject {
            let count = names.count(label)
            if count > 0 {
                text += ": '\(label)' came \(RuleNames.times(count))"
            } else {
                text += ": '\(label)' never came"
                if let nearest = names.nearest(to: label) {
                    text += "; nearest '\(nearest)' (\(RuleNames.times(names.count(nearest))))"
                }
            }
        } else if directory.sessions.isEmpty {
            text += ": no session came"
        }
        return text + ". Exit 5; 'optional: true' allows it."
    }
}
