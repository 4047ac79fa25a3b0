package import WiretapeAttempts
package import WiretapeBytes
package import WiretapeFaults
internal import WiretapeReport

// What somebody may change, or hold clients to, while the run goes on.

extension ReplayEngine {
    /// Other rules from now on, all at once. Their counters begin at 0; what the rules before them have begun goes on to its end.
    /// At the end of the run only the rules that are there then are asked whether they fired.
    package mutating func replaceFaults(_ plan: FaultPlan, at now: WireInstant) {
        clock.reach(now)
        rules.replace(with: plan, seed: seed)
        for session in runs { session.link?.faults.moments = LinkMoments(rules.times) }
    }

    /// Other rules from now on, all at once. Those that stay as they were go on counting; the others begin at 0.
    package mutating func changeFaults(_ plan: FaultPlan, at now: WireInstant) {
        clock.reach(now)
        rules.change(to: plan)
        for session in runs { session.link?.faults.moments.change(to: rules.times) }
    }

    /// How often each rule has fired, by its name, since the rules were replaced last.
    package var firingCounts: [String: Int] {
        Dictionary(rules.ownFirings.map { ($0.rule, 1) }, uniquingKeysWith: +)
    }

    /// Whether the clients' clock is moved by hand from now on.
    package mutating func setClock(isManual: Bool) { options.clock.isManual = isManual }

    /// Holds what clients have done so far to a policy, and the report at the end of the run, too.
    /// - Returns: one verdict for each session; empty when the policy needs to be known before the first client comes.
    package mutating func expect(_ expectation: Expectation, at now: WireInstant) -> [Judgement] {
        if !options.expectations.contains(expectation) {
            guard !expectation.policy.isWatchedFromTheBeginning else { return [] }
            options.expectations.append(expectation)
        }
        return soFar(at: now).expectations.filter { $0.policy == expectation.text }
    }
}

extension Expectation.Policy {
    /// What it speaks of is noted only where the policy was known when it happened.
    fileprivate var isWatchedFromTheBeginning: Bool {
        switch self {
        case .single: true
        case .resubscribes(let names): !names.isEmpty
        case .delays, .exponential, .polynomial, .constant, .givesUp, .rate, .honoursRetryAfter, .transports, .detects,
            .once, .keeps, .drops, .asks, .staysAway, .pings, .refreshes, .finished, .client:
            false
        }
    }
}
