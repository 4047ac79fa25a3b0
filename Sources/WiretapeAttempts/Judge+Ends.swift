/// Policies about what a client does after an end, and about connections side by side.
extension Judge {
    static func staysAway(
        _ session: JudgedSession, _ ends: [Expectation.FinalEnd], _ tolerance: Expectation.Tolerance
    ) -> Finding {
        var stayed: [String] = []
        var why = "no connection and no attempt ended so"
        for (i, attempt) in session.attempts.enumerated() {
            guard let end = finalEnd(of: attempt, ends) else { continue }
            // A request that is repeated at once is a step of the same attempt, and comes back all the same.
            let again = end.next ?? (i + 1 < session.attempts.count ? session.attempts[i + 1].start : nil)
            if let again {
                let number = end.next == nil ? session.attempts[i + 1].number : attempt.number
                return Finding(
                    problem:
                        "session \(session.session) came back (attempt \(number)) \(milliseconds(again - min(again, end.time))) "
                        + "after \(end.how)", expected: "no attempt after \(end.how)",
                    actual: "attempt \(number) \(milliseconds(again - min(again, end.time))) after it")
            }
            guard session.isGone || session.watched(since: end.time, for: tolerance.latest(0)) else {
                why = "the run ended \(milliseconds(session.elapsed - min(session.elapsed, end.time))) after \(end.how)"
                continue
            }
            stayed.append(end.how)
        }
        guard let how = stayed.first else { return .unjudged(why) }
        return Finding(problem: nil, expected: "no attempt after \(how)", actual: "no attempt")
    }

    /// When an attempt, or its connection, ended as one of those do, and when its next step came.
    private static func finalEnd(
        of attempt: Attempt, _ ends: [Expectation.FinalEnd]
    ) -> (time: UInt64, how: String, next: UInt64?)? {
        for (i, step) in attempt.steps.enumerated() where ends.contains(where: { $0.includes(step) }) {
            let next = i + 1 < attempt.steps.count ? attempt.steps[i + 1].time : nil
            return (step.time, "status \(step.status ?? 0)", next)
        }
        guard let end = attempt.ended, end.by != .client, ends.contains(where: { $0.includes(end) }) else {
            return nil
        }
        return (end.time, end.how.text, nil)
    }

    /// Whether a policy has it that a client stays away for good after what happened last.
    package static func mayStayAway(_ session: JudgedSession, by expectations: [Expectation]) -> Bool {
        guard let last = session.attempts.last, let end = last.ended, end.by != .client,
            let state = session.ends.last?.state
        else { return false }
        return expectations.contains { expectation in
            switch expectation.policy {
            case .staysAway(let ends): finalEnd(of: last, ends).map { $0.next == nil } ?? false
            case .givesUp(let count): last.outcome != .connected && last.retry >= count
            case .delays, .exponential, .polynomial, .constant, .client:
                if case .none = following(state, expectation.policy) { true } else { false }
            case .rate, .honoursRetryAfter, .transports, .detects, .resubscribes, .once, .keeps, .drops, .asks,
                .single, .pings, .refreshes, .finished:
                false
            }
        }
    }

    static func finished(_ session: JudgedSession) -> Finding {
        guard let finished = session.finished else {
            return .unjudged("live traffic has no script that could be played to its end")
        }
        return Finding(
            problem: finished ? nil : "session \(session.session) was not played to its end",
            expected: "played to its end",
            actual: finished ? "played to its end" : "not finished")
    }

    static func single(_ session: JudgedSession) -> Finding {
        guard let second = session.overlaps.first else {
            guard session.attempts.contains(where: { $0.outcome == .connected }) else {
                return .unjudged("no client had a connection")
            }
            return Finding(problem: nil, expected: "one connection at a time", actual: "one connection at a time")
        }
        return Finding(
            problem: "session \(session.session) asked for a second connection (\(second.request)) after "
                + "\(milliseconds(second.time)), while attempt \(second.attempt) had one",
            expected: "one connection at a time", actual: "\(session.overlaps.count + 1) connections")
    }
}
