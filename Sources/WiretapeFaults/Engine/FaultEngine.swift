internal import WiretapeBytes
package import WiretapeMessages
package import WiretapeWire

/// Decides at every point which rules fire. All its draws are a pure function of seed, rule name, session, attempt and
/// ordinal, so neither other sessions nor other rules move them. It knows no sockets and no clock: whoever asks carries out
/// what it answers (``MessageFate`` and ``RequestFate`` fold that into one plan).
///
/// Every rule counts what it selects, whether or not it fires. Rules are asked in their order; the first whose last action
/// ends the connection is the last one that fires.
package struct FaultEngine: Sendable {
    package private(set) var plan: FaultPlan
    package let seed: UInt64
    /// Whether messages of the client reach a server.
    private let hasServer: Bool
    private var counts: [Key: Counts] = [:]
    private var credentials: [Session: Credential] = [:]

    /// - Parameter hasServer: without one, rules whose actions only a server would see are not about the client's messages.
    package init(_ plan: FaultPlan, seed: UInt64, hasServer: Bool = true) {
        self.plan = plan
        self.hasServer = hasServer
        self.seed = seed
    }

    /// Other rules from now on. Those that stay as they were go on counting from where they are; the others begin at 0.
    package mutating func change(to plan: FaultPlan) {
        var places: [Int: Int] = [:]
        for (i, rule) in self.plan.rules.enumerated() {
            if let place = plan.rules.firstIndex(of: rule) { places[i] = place }
        }
        var kept: [Key: Counts] = [:]
        for (key, count) in counts {
            guard let place = places[key.rule] else { continue }
            kept[Key(rule: place, session: key.session, connection: key.connection)] = count
        }
        counts = kept
        self.plan = plan
    }

    private struct Session: Hashable, Sendable {
        var session: Int
        var run: Int
    }

    private struct Key: Hashable, Sendable {
        var rule: Int
        var session: Session
        var connection: Int
    }

    private struct Counts: Sendable {
        var toServer = 0
        var toClient = 0
        /// Requests, connections, ends.
        var others = 0
        var firings = 0
    }

    /// The credential of an attempt and of the one before it.
    private struct Credential: Sendable {
        var attempt: Int
        var value: UInt64?
        var last: UInt64?
    }

    /// The rules that fire for a message, in their order.
    /// - Parameter ordinal: of the message among those of its direction in the session, from 1.
    package mutating func message(_ message: Message, ordinal: Int, _ moment: FaultMoment) -> [FaultHit] {
        let side: WritableKeyPath<Counts, Int> = message.direction == .toServer ? \.toServer : \.toClient
        let isHeard = hasServer || message.direction == .toClient
        return fire(side, ordinal: ordinal, message: (message.direction, ordinal), moment) { rule in
            rule.selector.matches(message, moment.context) && (isHeard || !rule.needsServer)
        }
    }

    /// The rules that fire for a request.
    /// - Parameter ordinal: of the request in the session, from 1. `moment.context.opensAttempt` says whether an attempt
    ///   begins with it.
    package mutating func request(
        _ request: RequestHead, _ kind: ExchangeKind, ordinal: Int, _ moment: FaultMoment
    ) -> [FaultHit] {
        var moment = moment
        moment.context.hasStaleToken = isStale(request, moment)
        return fire(\.others, ordinal: ordinal, message: nil, moment) { rule in
            rule.selector.matches(request, kind, moment.context) && (kind == .upgrade || !rule.needsUpgrade)
        }
    }

    /// The rules that fire where a client connects, or speaks TLS. Counted by listener.
    /// - Parameter ordinal: of the connection at its listener, from 1.
    package mutating func accept(
        _ point: FaultPoint, listener: String, ordinal: Int, sinceRun: UInt64?
    ) -> [FaultHit] {
        var hash = StableHash()
        hash.combine(listener)
        // Listeners stand for sessions here: no session has a number below 0.
        let number = -1 - Int(truncatingIfNeeded: hash.value >> 2)
        var moment = FaultMoment(session: number, attempt: 0, sinceRun: sinceRun)
        moment.context.listener = listener
        return fire(\.others, ordinal: ordinal, message: nil, moment) { $0.selector.matches(point, moment.context) }
    }

    /// The rules that fire when one side ends a connection of the session.
    /// - Parameters:
    ///   - by: whose bytes end: `toClient` when the server does.
    ///   - code: of its close frame; nil when there is none.
    package mutating func close(by: Direction, code: UInt16?, _ moment: FaultMoment) -> [FaultHit] {
        var moment = moment
        moment.context.endedBy = by
        moment.context.code = code
        return fire(\.others, ordinal: moment.connection, message: nil, moment) {
            $0.selector.matches(.close, moment.context)
        }
    }

    /// The moments at which rules of the point `time` want to be asked, each once, as nanoseconds since its mark.
    package var times: [RuleFilters.Since] {
        var times: [RuleFilters.Since] = []
        for rule in plan.rules where rule.selector.subject == .point(.time) {
            if let since = rule.filters.since, !times.contains(since) { times.append(since) }
        }
        return times
    }

    /// The rules of the point `time` whose moment is exactly `since`.
    package mutating func time(_ since: RuleFilters.Since, _ moment: FaultMoment) -> [FaultHit] {
        fire(\.others, ordinal: moment.connection, message: nil, moment, at: since) {
            $0.selector.matches(.time, moment.context)
        }
    }

    /// The session is over for good: nothing more of it is counted.
    package mutating func forget(session: Int, run: Int) {
        let session = Session(session: session, run: run)
        counts = counts.filter { $0.key.session != session }
        credentials[session] = nil
    }

    // MARK: Firing

    private mutating func fire(
        _ counter: WritableKeyPath<Counts, Int>, ordinal: Int, message: (direction: Direction, ordinal: Int)?,
        _ moment: FaultMoment,
        at since: RuleFilters.Since? = nil, _ selects: (FaultRule) -> Bool
    ) -> [FaultHit] {
        var hits: [FaultHit] = []
        var isOver = false
        for (i, rule) in plan.rules.enumerated() where selects(rule) {
            if let since, rule.filters.since != since { continue }
            let key = key(i, rule.filters.per, moment)
            counts[key, default: Counts()][keyPath: counter] += 1
            let occurrence = counts[key]?[keyPath: counter] ?? 0
            guard !isOver, holds(rule, key, occurrence: occurrence, moment) else { continue }
            let draw = draw(rule.name, moment, ordinal)
            var random = SplitMix64(seed: draw)
            let chance = Double(random.next() >> 11) / 9_007_199_254_740_992
            guard rule.filters.probability >= 1 || chance < rule.filters.probability else { continue }
            counts[key, default: Counts()].firings += 1
            hits.append(
                FaultHit(
                    rule: i, name: rule.name, place: rule.place, pause: rule.pause, actions: rule.actions,
                    message: message?.ordinal,
                    counted: message.map { side, ordinal in
                        "\(rule.selector.subject.text)[\(occurrence)] (\(side == .toServer ? "client" : "server") message \(ordinal))"
                    },
                    random: random.next()))
            isOver = rule.isTerminal
        }
        return hits
    }

    private func key(_ rule: Int, _ scope: RuleFilters.Scope, _ moment: FaultMoment) -> Key {
        switch scope {
        case .run: Key(rule: rule, session: Session(session: 0, run: 0), connection: 0)
        case .session:
            Key(rule: rule, session: Session(session: moment.session, run: moment.run), connection: 0)
        case .connection:
            Key(
                rule: rule, session: Session(session: moment.session, run: moment.run),
                connection: moment.connection)
        }
    }

    private func holds(_ rule: FaultRule, _ key: Key, occurrence: Int, _ moment: FaultMoment) -> Bool {
        let filters = rule.filters
        guard rule.selector.occurrence?.contains(occurrence) ?? true,
            filters.session?.contains(moment.session) ?? true, filters.attempt?.contains(moment.attempt) ?? true,
            filters.retry?.contains(moment.retry) ?? true, !rule.needsFrames || moment.context.transport == .ws,
            counts[key]?.firings ?? 0 < filters.max ?? .max
        else { return false }
        guard let since = filters.since else { return true }
        return moment.since(since.mark).map { $0 >= since.gap } ?? false
    }

    private func draw(_ name: String, _ moment: FaultMoment, _ ordinal: Int) -> UInt64 {
        var hash = StableHash()
        hash.combine(seed)
        hash.combine(name)
        for number in [moment.session, moment.run, moment.attempt, ordinal] {
            hash.combine(UInt64(bitPattern: Int64(number)))
        }
        return hash.value
    }

    // MARK: Credentials

    /// Whether the request brings what the attempt before brought.
    private mutating func isStale(_ request: RequestHead, _ moment: FaultMoment) -> Bool {
        let session = Session(session: moment.session, run: moment.run)
        let value = FaultEngine.credential(of: request)
        var known = credentials[session] ?? Credential(attempt: moment.attempt, value: value, last: nil)
        if known.attempt != moment.attempt {
            known = Credential(attempt: moment.attempt, value: value, last: known.value ?? known.last)
        } else if value != nil {
            known.value = value
        }
        credentials[session] = known
        return value != nil && value == known.last
    }

    private static func credential(of request: RequestHead) -> UInt64? {
        var text = request.headers.first("Authorization")
        if text == nil, let query = request.target.firstIndex(of: "?") {
            let items = request.target[query...].dropFirst().split(separator: "&")
            text = items.first { item in
                ["access_token=", "token=", "auth="].contains { item.hasPrefix($0) }
            }.map(String.init)
        }
        guard let text = text ?? request.headers.first("Cookie") else { return nil }
        var hash = StableHash()
        hash.combine(text)
        return hash.value
    }
}
