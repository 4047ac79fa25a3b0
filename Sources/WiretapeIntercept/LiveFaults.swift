package import WiretapeAttempts
package import WiretapeBytes
package import WiretapeFaults
package import WiretapeProtocol
internal import WiretapeReport
package import WiretapeRuntime
package import WiretapeWire

/// The rules of a run and the sessions that pass, for all connections of one loop: which session and attempt a request
/// belongs to, which message is the how-manieth, what the rules say to it, and what came of it all. It has no sockets and
/// no clock; what the protocols mean, the codecs say.
///
/// A session is found by what its requests name it by, else by its client: a request of the same route and identity
/// (credential, else address and agent) goes on with a session that has no connection, or begins one. Memory: the sessions
/// of a run, without their messages; of their names 8,192 are kept.
package final class LiveFaults {
    package internal(set) var plan: FaultPlan
    package let codecs: [CodecEntry]
    /// When the first client came; until then, when the run began.
    private(set) var origin: WireInstant
    private(set) var hasBegun = false
    var engine: FaultEngine
    var sessions: [LiveSession] = []
    /// The same by who asks for what, and all routes.
    var clients: [LiveClient: [LiveSession]] = [:]
    var routes: Set<String> = []
    /// By what requests name them.
    var carriers: [String: LiveCarrier] = [:]
    /// Whose names negotiations gave and requests brought, the oldest forgotten.
    private var owners: [String: LiveSession] = [:]
    private var ownerOrder: [String] = []
    /// Names that the server has forgotten, and by which rule.
    var forgotten: [String: String] = [:]
    var credentials: [String: Int] = [:]
    /// Hosts that connections come from.
    var peers: [UInt32: String] = [:]
    var firings: [ReplayReport.Firing] = []
    /// Those beyond the first 100,000, which are only counted: a run may last for days.
    private(set) var firingsLeftOut = 0
    private static let mostFirings = 100_000
    var fired: Set<Int> = []
    /// How often, by the name.
    var firedNames: [String: Int] = [:]
    /// For whoever follows the run; nil: nobody does.
    var changes: ChangedSessions?
    var toldFirings = 0
    /// Sessions by the number of the connection that carries them, or did; and those that are gone, the oldest first.
    var carried: [UInt32: Int] = [:]
    var carriedBefore: [UInt32] = []
    /// Names that rules could have used, and how often they came.
    var names: [String: Int] = [:]
    var accepted: [String: Int] = [:]
    /// Requests of no session.
    var others = 0
    /// Moments that rules name, each once; those of the run that have come, and those of connections that have not.
    var times: [RuleFilters.Since]
    var passedRunTimes: Set<RuleFilters.Since> = []
    var moments: [LiveMoment] = []
    var nextMoment: WireInstant?
    /// Until when the server is away, and what new requests get; nil: RST on accept.
    package internal(set) var outage: (until: WireInstant, answer: Int?, rule: String)?
    /// Whether attempts are wanted although no rule asks for them.
    package var observes = false
    /// What policies name as subscriptions.
    package var subscribers = Subscribers()

    package init(_ plan: FaultPlan, seed: UInt64, codecs: [CodecEntry], observes: Bool = false, at now: WireInstant) {
        self.plan = plan
        self.codecs = codecs
        self.observes = observes
        engine = FaultEngine(plan, seed: seed)
        times = LiveFaults.times(of: engine)
        origin = now
        reach = FaultReach(plan, codecs)
    }

    static func times(of engine: FaultEngine) -> [RuleFilters.Since] {
        var times: [RuleFilters.Since] = []
        for time in engine.times where !times.contains(time) { times.append(time) }
        return times
    }

    package internal(set) var reach: FaultReach
    package var seed: UInt64 { engine.seed }

    func elapsed(_ now: WireInstant) -> UInt64 { now.since(origin) }

    // MARK: Connections

    /// A client has connected.
    /// - Returns: what the rules say to that.
    package func accepted(_ c: UInt32, from peer: Address?, listener: String, at now: WireInstant) -> [FaultHit] {
        if !hasBegun { (origin, hasBegun) = (now, true) }
        peers[c] = peer?.host
        guard reach.hasAccept else { return [] }
        accepted[listener, default: 0] += 1
        return engine.accept(.accept, listener: listener, ordinal: accepted[listener] ?? 0, sinceRun: elapsed(now))
    }

    /// The connection and its peer are gone.
    package func gone(_ c: UInt32) {
        peers[c] = nil
        forgetCarried(c)
    }

    /// Whether a rule can touch the request, or what it opens, or the session that it is part of: then its connection is
    /// held and decoded.
    package func touches(_ head: RequestHead) -> Bool {
        if outage != nil || observes { return true }
        if reach.touches(head) { return true }
        guard !sessions.isEmpty else { return false }
        let (kind, entry) = classify(head)
        guard let entry, kind != .other, kind != .preflight else { return false }
        return routes.contains(entry.type.route(head))
    }

    /// What the request is, and to which codec: the first that reads a session in it.
    func classify(_ head: RequestHead) -> (ExchangeKind, CodecEntry?) {
        var upgrade: CodecEntry?
        var operation: CodecEntry?
        let opening = StreamOpening(request: head)
        var best = Confidence.no
        for entry in codecs {
            let kind = entry.type.kind(head)
            switch kind {
            case .other, .preflight: continue
            case .upgrade:
                if let key = entry.type.sessionKey(opening), isKnown(key) { return (kind, entry) }
                let claim = entry.type.claim(opening)
                if upgrade == nil || claim > best { (upgrade, best) = (entry, claim) }
            // Any request with the right body may be one: those that name a session go first.
            case .operation: operation = operation ?? entry
            default: return (kind, entry)
            }
        }
        return upgrade.map { (.upgrade, $0) } ?? operation.map { (.operation, $0) } ?? (.other, nil)
    }

    /// Whether a session goes, or went, by that name.
    private func isKnown(_ key: String) -> Bool {
        carriers[key] != nil || forgotten[key] != nil || owners[key] != nil
    }

    /// The session that goes, or went, by that name.
    func owner(of key: String) -> LiveSession? { owners[key] }

    func own(_ key: String, _ session: LiveSession) {
        if owners.updateValue(session, forKey: key) == nil { ownerOrder.append(key) }
        guard ownerOrder.count > 8_192 else { return }
        for old in ownerOrder.prefix(4_096) { owners[old] = nil }
        ownerOrder.removeFirst(4_096)
    }

    /// The names of a session.
    func keys(of session: LiveSession) -> [String] { ownerOrder.filter { owners[$0] === session } }

    func moment(of session: LiveSession?, _ carrier: LiveCarrier?, at now: WireInstant) -> FaultMoment {
        let numbers = session?.attemptNumbers ?? (attempt: 1, retry: 0)
        var context = SelectorContext(
            protocolID: carrier?.entry?.id ?? session.flatMap { $0.protocolID.isEmpty ? nil : $0.protocolID },
            transport: carrier?.transport)
        context.opensAttempt = false
        return FaultMoment(
            session: session?.number ?? 0, run: 1, attempt: numbers.attempt, retry: numbers.retry,
            connection: max(1, session?.connections ?? 1), context: context, sinceRun: elapsed(now),
            sinceConnect: carrier.map { now.since($0.openedAt) },
            sinceHandshake: carrier?.readyAt.map { now.since($0) })
    }

    // MARK: What came of it

    /// A rule has acted.
    /// - Parameter cut: what it should follow may have been lost.
    package func record(_ hit: FaultHit, on exchange: LiveExchange?, cut: Bool = false, at now: WireInstant) {
        record(hit, exchange?.session, cut: cut, at: now)
    }

    func record(_ hit: FaultHit, _ session: LiveSession?, cut: Bool, at now: WireInstant) {
        if hit.rule >= 0 { fired.insert(hit.rule) }
        firedNames[hit.name, default: 0] += 1
        guard firings.count < LiveFaults.mostFirings else { return firingsLeftOut += 1 }
        firings.append(
            ReplayReport.Firing(
                rule: hit.name, time: elapsed(now), session: session?.number ?? 0, run: 1,
                attempt: session?.attemptNumbers.attempt ?? 0, message: hit.message, counted: hit.counted,
                action: hit.text, cut: cut))
    }
}
