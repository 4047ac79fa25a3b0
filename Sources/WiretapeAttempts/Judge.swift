internal import WiretapeBytes
internal import WiretapeWire

/// Holds what clients did to policies.
package enum Judge {
    /// One verdict for each policy and session that it could be held to. A policy, or a name in one, that nothing could be
    /// held to is not judged, which is not met: the reason says what was missing and what to write or to do.
    /// - Parameter requests: all requests of the run's clients.
    package static func judge(
        _ sessions: [JudgedSession], requests: RequestCounts = RequestCounts(), by expectations: [Expectation]
    ) -> [Judgement] {
        let clients = JudgedSession.byClient(sessions)
        return expectations.flatMap { expectation -> [Judgement] in
            if case .asks(let asked, let times) = expectation.policy {
                let finding = asks(asked, times, requests)
                if case .unjudged(let why, let advice) = finding.verdict {
                    return [unjudged(expectation, why, advice ?? self.advice(expectation.policy))]
                }
                return [judgement(finding, of: nil, expectation)]
            }
            var judged: [Judgement] = []
            var vacuous: [Judgement] = []
            let parts = parts(of: expectation.policy)
            var held = Array(repeating: false, count: parts.count)
            var why = Array(repeating: (why: String, advice: String?)?.none, count: parts.count)
            for session in isAboutReturning(expectation.policy) ? clients : sessions {
                var findings: [Finding] = []
                for (i, part) in parts.enumerated() {
                    let finding = finding(session, part, expectation.tolerance)
                    switch finding.verdict {
                    case .unjudged(let reason, let advice): why[i] = why[i] ?? (reason, advice)
                    case .met, .unmet:
                        held[i] = true
                        findings.append(finding)
                    }
                }
                if let one = Finding.joined(findings) {
                    judged.append(judgement(one, of: session, expectation))
                }
            }
            for (i, part) in parts.enumerated() where !held[i] {
                vacuous.append(
                    unjudged(expectation, why[i]?.why ?? "no client came", why[i]?.advice ?? advice(part)))
            }
            return judged + vacuous
        }
    }

    /// What a policy found in a session.
    struct Finding {
        package enum Verdict {
            case met
            case unmet(String)
            /// The policy could not be judged. `advice` says what the user can do about it. If it is nil, the policy's own advice is printed.
            case unjudged(String, advice: String?)
        }

        package var verdict: Verdict
        package var expected: String
        package var actual: String

        init(_ verdict: Verdict, expected: String = "", actual: String = "") {
            self.verdict = verdict
            self.expected = expected
            self.actual = actual
        }

        /// - Parameter problem: nil: the policy is met.
        init(problem: String?, expected: String, actual: String) {
            self.init(problem.map(Verdict.unmet) ?? .met, expected: expected, actual: actual)
        }

        static func unjudged(_ why: String, advice: String? = nil) -> Finding {
            Finding(.unjudged(why, advice: advice))
        }

        var isUnjudged: Bool {
            switch verdict {
            case .unjudged: true
            case .met, .unmet: false
            }
        }

        /// Several as one: the first problem counts.
        package static func joined(_ findings: [Finding]) -> Finding? {
            guard let first = findings.first else { return nil }
            var joined = first
            for finding in findings.dropFirst() {
                if case .met = joined.verdict { joined.verdict = finding.verdict }
                joined.expected += "; " + finding.expected
                joined.actual += "; " + finding.actual
            }
            return joined
        }
    }

    /// A policy about several names, one by one: each has to be held to something.
    private static func parts(of policy: Expectation.Policy) -> [Expectation.Policy] {
        switch policy {
        case .resubscribes(let names) where names.count > 1: names.map { .resubscribes([$0]) }
        case .once(let labels): labels.map { .once([$0]) }
        case .keeps(let labels): labels.map { .keeps([$0]) }
        case .drops(let labels): labels.map { .drops([$0]) }
        case .delays, .exponential, .polynomial, .constant, .givesUp, .rate, .honoursRetryAfter, .transports, .detects,
            .resubscribes, .asks, .single, .staysAway, .pings, .refreshes, .finished, .client:
            [policy]
        }
    }

    /// Whether the policy is about reconnects. Such a policy judges a recorded reconnect and the session before it as one.
    private static func isAboutReturning(_ policy: Expectation.Policy) -> Bool {
        switch policy {
        case .delays, .exponential, .polynomial, .constant, .givesUp, .rate, .honoursRetryAfter, .transports, .detects,
            .resubscribes, .once, .keeps, .drops, .staysAway, .client:
            true
        case .asks, .single, .pings, .refreshes, .finished: false
        }
    }

    /// - Parameter session: nil judges the run as a whole.
    private static func judgement(_ finding: Finding, of session: JudgedSession?, _ expectation: Expectation)
        -> Judgement
    {
        var reason = ""
        if case .unmet(let problem) = finding.verdict {
            reason = "wiretape: \(expectation.text) is not met: \(problem)\(session?.whereItWentOn ?? "")"
        }
        return Judgement(
            policy: expectation.text, session: session?.session ?? 0, run: session?.run ?? 0, met: reason.isEmpty,
            expected: finding.expected, actual: finding.actual, reason: reason)
    }

    private static func unjudged(_ expectation: Expectation, _ why: String, _ advice: String) -> Judgement {
        Judgement(
            policy: expectation.text, session: 0, run: 0, met: false, isJudged: false, expected: expectation.text,
            actual: why,
            reason: "wiretape: \(expectation.text) could not be judged: \(why)\(advice.isEmpty ? "" : "; ")\(advice)")
    }

    private static func finding(
        _ session: JudgedSession, _ policy: Expectation.Policy, _ tolerance: Expectation.Tolerance
    ) -> Finding {
        let finding = unlimited(session, policy, tolerance)
        // What came behind a refusal of our own says nothing of the client that is good.
        guard case .met = finding.verdict, let refused = session.ownRefusal else { return finding }
        return .unjudged("\(refused) of session \(session.session) was refused by the replay itself")
    }

    private static func unlimited(
        _ session: JudgedSession, _ policy: Expectation.Policy, _ tolerance: Expectation.Tolerance
    ) -> Finding {
        switch policy {
        case .delays, .exponential, .polynomial, .constant, .client: schedule(session, policy, tolerance)
        case .givesUp(let count): givesUp(session, after: count, tolerance)
        case .rate(let max, let per): rate(session, max, per)
        case .honoursRetryAfter: honours(session, tolerance)
        case .transports(let order): transports(session, order)
        case .detects(let within): detects(session, within, tolerance)
        case .resubscribes(let names): resubscribes(session, names.first, tolerance)
        case .once(let labels): once(session, labels.first ?? "")
        case .keeps(let labels): keeps(session, labels.first ?? "", tolerance)
        case .drops(let labels): drops(session, labels.first ?? "", tolerance)
        case .asks: .unjudged("the requests of the run are judged, and not those of a session")
        case .single: single(session)
        case .staysAway(let ends): staysAway(session, ends, tolerance)
        case .pings(let every): pings(session, every, tolerance)
        case .refreshes: refreshes(session)
        case .finished: finished(session)
        }
    }

    /// What to write or to do so that the policy is held to something.
    private static func advice(_ policy: Expectation.Policy) -> String {
        switch policy {
        case .delays, .exponential, .polynomial, .constant, .client, .rate:
            "a rule ends one: --fault 'reset after message[3]'"
        case .givesUp: "rules keep it from coming back: --fault 'outage(60s) after message[3]'"
        case .honoursRetryAfter:
            "a rule asks for it, and the client has to come back: --fault 'respond(503, Retry-After=1) on connect[retry=1]'"
        case .transports(let order):
            order.count > 1
                ? "rules take the first ones away: --fault 'downgrade(\(order[0].rawValue)) on connect'" : ""
        case .detects: "a rule makes one go silent, and the run has to last: --fault 'stall(both) after message[3]'"
        case .resubscribes(let names):
            names.isEmpty
                ? "what subscribes by an invocation has to be named, as in resubscribes(JoinGroup)"
                : "a rule ends a connection behind it: --fault 'reset after \(names[0].name)'"
        case .once(let labels):
            "a rule ends a connection behind its answer: --fault 'reset after message[6]' (not 'reset after \(labels.first ?? "")')"
        case .keeps(let labels):
            "a rule ends a connection in place of its answer: --fault 'reset on \(labels.first ?? "")'"
        case .drops(let labels):
            "a rule ends a connection in place of its answer, and the client has to come back: "
                + "--fault 'reset on \(labels.first ?? "")'"
        case .asks: "a client has to send a request that Wiretape sees"
        case .single, .finished: ""
        case .refreshes:
            "shorten the credential's lifetime, and let the run last longer than that: --fault 'lifetime(4s) on negotiate'"
        case .pings: "the client has to be connected for longer with nothing else to say (polls do not count)"
        case .staysAway(let ends):
            "a rule ends a connection so, and the run has to last: --fault '\(ends.first?.example ?? "")'"
        }
    }

    package static func milliseconds(_ time: UInt64) -> String { DurationText.milliseconds(time) + " ms" }
}
