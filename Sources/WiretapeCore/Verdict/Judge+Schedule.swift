extension Judge {
    /// Policies that give every retry its time.
    static func schedule(_ session: JudgedSession, _ expectation: Expectation) -> Finding? {
        var problem: String?
        var expected: [String] = []
        var actual: [String] = []
        for (state, next) in session.ends {
            let due = following(state, expectation.policy)
            if let next {
                guard let delay = next.delay else { continue }
                if due != .free || next.outcome != nil { expected.append(due.text) }
                actual.append(milliseconds(delay))
                if problem == nil {
                    problem = judge(delay, due, state, next, of: session, expectation.tolerance)
                }
            } else if let owed = owed(state, due, session, expectation.tolerance) {
                expected.append(due.text)
                if problem == nil { problem = owed }
            } else if case .none = due, !session.finished, state.last.ended.map({ $0.by != "client" }) ?? false {
                // It gave up where it should.
                expected.append(due.text)
                actual.append(due.text)
            }
        }
        guard problem != nil || !actual.isEmpty else { return nil }
        return Finding(
            problem: problem, expected: expected.joined(separator: ", "),
            actual: actual.isEmpty ? "no retry" : actual.joined(separator: ", "))
    }

    /// What the policy says of the attempt after that end.
    static func following(_ state: RetryState, _ policy: Expectation.Policy) -> NextAttempt {
        switch policy {
        case .delays(let delays):
            state.retry <= delays.count
                ? .after(delays[state.retry - 1]) : .none("the policy has \(delays.count) delays")
        case .exponential(let policy):
            .within(policy.bounds(state.retry).shortest, policy.bounds(state.retry).longest)
        case .constant(let delay): .after(delay)
        case .client(let preset): preset.next(state)
        default: .free
        }
    }

    private static func judge(
        _ delay: UInt64, _ due: NextAttempt, _ state: RetryState, _ next: Attempt, of session: JudgedSession,
        _ tolerance: Expectation.Tolerance
    ) -> String? {
        let what = "retry \(state.retry) (attempt \(next.number)) of session \(session.session)"
        switch due {
        case .free: return nil
        case .none(let why): return "\(what) should not have come: \(why)"
        case .within(let low, let high):
            let earliest = tolerance.earliest(low)
            let latest = tolerance.latest(high)
            guard delay < earliest || delay > latest else { return nil }
            return "\(what) came after \(milliseconds(delay)) instead of \(due.text) "
                + "(\(DurationText.milliseconds(earliest)) to \(DurationText.milliseconds(latest)) ms)"
        }
    }

    /// The retry that should have come by now and did not. A client that ended the connection itself owes none, nor does
    /// one whose session had come to its end.
    private static func owed(
        _ state: RetryState, _ due: NextAttempt, _ session: JudgedSession, _ tolerance: Expectation.Tolerance
    ) -> String? {
        guard !session.finished, let end = state.last.ended, end.by != "client", case .within(_, let high) = due else {
            return nil
        }
        let latest = tolerance.latest(high)
        guard session.elapsed > end.time.addingReportingOverflow(latest).partialValue else { return nil }
        return "retry \(state.retry) of session \(session.session) never came"
    }
}
