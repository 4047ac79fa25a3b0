internal import WiretapeBytes

extension Judge {
    /// Policies that give every retry its time.
    static func schedule(
        _ session: JudgedSession, _ policy: Expectation.Policy, _ tolerance: Expectation.Tolerance
    ) -> Finding {
        var problem: String?
        var short: String?
        var advice: String?
        var expected: [String] = []
        var actual: [String] = []
        for (state, next) in session.ends {
            let due = following(state, policy)
            if let next {
                if state.last.ended?.isDated == false, due != .free {
                    short =
                        "it is not known when the client gave up attempt \(state.last.number) of session \(session.session)"
                }
                guard let delay = next.delay, due != .free else { continue }
                expected.append(due.text)
                actual.append(milliseconds(delay))
                if problem == nil {
                    problem = judge(delay, due, state, next, of: session, tolerance)
                }
                continue
            }
            guard let end = state.last.ended, end.by != .client, session.finished != true, !state.last.isOwnRefusal
            else {
                continue
            }
            switch due {
            case .free: break
            case .within(let low, let high):
                // A client whose process has ended cannot come later.
                let isTooLate = session.isGone && session.watched(since: end.time, for: low)
                guard isTooLate || session.watched(since: end.time, for: tolerance.latest(high)) else {
                    short =
                        "the run ended before retry \(state.retry) of session \(session.session) was due (\(due.text))"
                    advice = "let the run last until then"
                    continue
                }
                expected.append(due.text)
                actual.append("no retry")
                problem = problem ?? "retry \(state.retry) of session \(session.session) never came"
            case .none:
                guard session.isGone || session.watched(since: end.time, for: tolerance.latest(0)) else {
                    short =
                        "the run ended \(milliseconds(session.elapsed - min(session.elapsed, end.time))) after session "
                        + "\(session.session) should have given up"
                    continue
                }
                // It gave up where it should.
                expected.append(due.text)
                actual.append(due.text)
            }
        }
        guard !actual.isEmpty else { return .unjudged(short ?? "no session lost its connection", advice: advice) }
        return Finding(
            problem: problem, expected: expected.joined(separator: ", "), actual: actual.joined(separator: ", "))
    }

    /// What the policy says of the attempt after that end.
    package static func following(_ state: RetryState, _ policy: Expectation.Policy) -> NextAttempt {
        switch policy {
        case .delays(let delays):
            state.retry <= delays.count
                ? .after(delays[state.retry - 1]) : .none("the policy has \(delays.count) delays")
        case .exponential(let policy):
            .within(policy.bounds(state.retry).shortest, policy.bounds(state.retry).longest)
        case .polynomial(let policy):
            .within(policy.bounds(state.retry).shortest, policy.bounds(state.retry).longest)
        case .constant(let delay): .after(delay)
        case .client(let preset): preset.next(state)
        case .givesUp, .rate, .honoursRetryAfter, .transports, .detects, .resubscribes, .once, .keeps, .drops, .asks,
            .single, .staysAway, .pings, .refreshes, .finished:
            .free
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
}
