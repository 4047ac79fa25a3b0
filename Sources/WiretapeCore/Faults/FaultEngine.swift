/// Decides at every point whether a rule fires. All its draws are a pure function of seed, rule, session, attempt and
/// ordinal, so neither other sessions nor other rules move them.
package struct FaultEngine: Sendable {
    package let plan: FaultPlan
    package let seed: UInt64
    private var counts: [Key: Counts] = [:]

    package init(_ plan: FaultPlan, seed: UInt64) {
        self.plan = plan
        self.seed = seed
    }

    /// Where in its session something happens.
    package struct Moment: Hashable, Sendable {
        package var session: Int
        package var run: Int
        package var attempt: Int
        package var retry: Int

        package init(session: Int, run: Int, attempt: Int, retry: Int) {
            self.session = session
            self.run = run
            self.attempt = attempt
            self.retry = retry
        }
    }

    private struct Key: Hashable, Sendable {
        var rule: Int
        var session: Int
        var run: Int
    }

    private struct Counts: Sendable {
        var requests = 0
        var toServer = 0
        var toClient = 0
        var firings = 0
    }

    /// The first rule of the plan that fires for a message. Every rule counts it.
    /// - Parameter ordinal: of the message among those of its direction in the session, from 1.
    package mutating func message(_ message: Message, ordinal: Int, _ moment: Moment) -> FaultHit? {
        var hit: FaultHit?
        for (i, rule) in plan.rules.enumerated() where rule.selector.matches(message) {
            let key = Key(rule: i, session: moment.session, run: moment.run)
            let side: WritableKeyPath<Counts, Int> = message.direction == .toServer ? \.toServer : \.toClient
            counts[key, default: Counts()][keyPath: side] += 1
            let occurrence = counts[key]?[keyPath: side] ?? 0
            guard hit == nil, fires(rule, key, occurrence: occurrence, ordinal: ordinal, moment) else { continue }
            hit = FaultHit(rule: i, name: rule.name, place: rule.place, action: rule.actions[0], message: ordinal)
        }
        return hit
    }

    /// The first rule of the plan that fires for a request.
    package mutating func request(
        _ request: RequestHead, _ kind: ExchangeKind, opensAttempt: Bool, ordinal: Int, _ moment: Moment
    ) -> FaultHit? {
        var hit: FaultHit?
        for (i, rule) in plan.rules.enumerated()
        where rule.selector.matches(request, kind, opensAttempt: opensAttempt) {
            let key = Key(rule: i, session: moment.session, run: moment.run)
            counts[key, default: Counts()].requests += 1
            let occurrence = counts[key]?.requests ?? 0
            guard hit == nil, fires(rule, key, occurrence: occurrence, ordinal: ordinal, moment) else { continue }
            hit = FaultHit(rule: i, name: rule.name, place: rule.place, action: rule.actions[0])
        }
        return hit
    }

    private mutating func fires(_ rule: FaultRule, _ key: Key, occurrence: Int, ordinal: Int, _ moment: Moment) -> Bool
    {
        let filters = rule.filters
        guard rule.selector.occurrence?.contains(occurrence) ?? true,
            filters.session?.contains(moment.session) ?? true, filters.attempt?.contains(moment.attempt) ?? true,
            filters.retry?.contains(moment.retry) ?? true,
            counts[key]?.firings ?? 0 < filters.max ?? .max,
            filters.probability >= 1 || draw(rule.name, moment, ordinal) < filters.probability
        else { return false }
        counts[key, default: Counts()].firings += 1
        return true
    }

    /// 0 ..< 1.
    private func draw(_ name: String, _ moment: Moment, _ ordinal: Int) -> Double {
        var hash = StableHash()
        hash.combine(seed)
        hash.combine(name)
        for number in [moment.session, moment.run, moment.attempt, ordinal] {
            hash.combine(UInt64(bitPattern: Int64(number)))
        }
        var generator = SplitMix64(seed: hash.value)
        return Double(generator.next() >> 11) / 9_007_199_254_740_992
    }
}
