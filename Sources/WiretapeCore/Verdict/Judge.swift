/// Holds what clients did to policies.
package enum Judge {
    /// One verdict for each policy and session that it could be held to. A policy that nothing could be held to is not met.
    package static func judge(_ sessions: [JudgedSession], by expectations: [Expectation]) -> [Judgement] {
        expectations.flatMap { expectation -> [Judgement] in
            let judged = sessions.compactMap { verdict(on: $0, by: expectation) }
            guard judged.isEmpty else { return judged }
            let why = missing(expectation.policy)
            return [
                Judgement(
                    policy: expectation.text, session: 0, run: 0, met: false, expected: expectation.text, actual: why,
                    reason: "wiretape: \(expectation.text) could not be judged: \(why)")
            ]
        }
    }

    /// What a policy found in a session.
    struct Finding {
        /// Nil: the policy is met.
        var problem: String?
        var expected: String
        var actual: String
    }

    private static func verdict(on session: JudgedSession, by expectation: Expectation) -> Judgement? {
        guard let finding = finding(session, expectation) else { return nil }
        return Judgement(
            policy: expectation.text, session: session.session, run: session.run, met: finding.problem == nil,
            expected: finding.expected, actual: finding.actual,
            reason: finding.problem.map { "wiretape: \(expectation.text) is not met: \($0)" } ?? "")
    }

    private static func finding(_ session: JudgedSession, _ expectation: Expectation) -> Finding? {
        switch expectation.policy {
        case .delays, .exponential, .constant, .client: schedule(session, expectation)
        case .givesUp(let count): givesUp(session, after: count)
        case .rate(let max, let per): rate(session, max, per)
        case .honoursRetryAfter: honours(session, expectation.tolerance)
        case .transports(let order): transports(session, order)
        case .detects(let within): detects(session, within, expectation.tolerance)
        case .resubscribes: resubscribes(session)
        case .pings(let every): pings(session, every, expectation.tolerance)
        }
    }

    /// Why a policy could not be judged.
    private static func missing(_ policy: Expectation.Policy) -> String {
        switch policy {
        case .delays, .exponential, .constant, .client: "no session lost its connection"
        case .givesUp: "no session failed to connect"
        case .rate, .transports: "no client came"
        case .honoursRetryAfter: "no answer had a Retry-After"
        case .detects: "no connection went silent by a stall or mute"
        case .resubscribes: "no session came back"
        case .pings: "no client had nothing else to say for so long on a connection (polls do not count)"
        }
    }

    static func milliseconds(_ time: UInt64) -> String { DurationText.milliseconds(time) + " ms" }
}
