package import WiretapeAttempts
package import WiretapeBytes
package import WiretapeFaults
internal import WiretapeMessages
package import WiretapeProtocol
internal import WiretapeReport
package import WiretapeRuntime
package import WiretapeWire

/// The rules of a run and the sessions that pass, for all connections of one loop: which session and attempt a request
/// belongs to, which number a message has, what the rules say to it, and what came of it all. It has no sockets and
/// no clock; what the protocols mean, the codecs say.
///
/// A session is found by what its requests name it by, else by its client: a request of the same route and identity
/// (credential, else address and agent) goes on with a session that has no connection, or begins one. Memory: the sessions
/// of a run, without their messages; of their names 8,192 are kept.
package final class LiveFaults {
    package private(set) var plan: FaultPlan
    package let codecs: [CodecEntry]
    /// What rules can touch at all.
    package private(set) var reach: FaultReach
    var engine: FaultEngine
    /// When the first client came; nil: none has.
    private var firstClient: WireInstant?
    private let made: WireInstant
    /// The sessions that pass.
    var directory = LiveDirectory()
    /// Connections by listener.
    private var accepted: [String: Int] = [:]
    var handshakes = LiveHandshakes()
    /// Requests of no session.
    private var others = 0
    var firings = LiveFirings()
    var moments: LiveMoments
    /// Names that rules could have used, and how often they came.
    var names = MessageNameCounts()
    /// Until when the server is away, and what new requests get; nil: RST on accept.
    package internal(set) var outage: (until: WireInstant, answer: Int?, rule: String)?
    /// For whoever follows the run; nil: nobody does.
    var changes: ChangedSessions?
    var carried = CarriedSessions()
    /// Whether attempts are wanted although no rule asks for them.
    package var observes = false
    /// What policies name as subscriptions.
    package var subscribers = Subscribers()

    /// All requests of the clients.
    var requests = RequestCounts()

    package init(_ plan: FaultPlan, seed: UInt64, codecs: [CodecEntry], observes: Bool = false, at now: WireInstant) {
        self.plan = plan
        self.codecs = codecs
        self.observes = observes
        engine = FaultEngine(plan, seed: seed)
        moments = LiveMoments(engine)
        made = now
        reach = FaultReach(plan, codecs)
    }

    package var seed: UInt64 { engine.seed }

    /// A request of no session.
    /// - Returns: how many there are.
    func countOther() -> Int {
        others += 1
        return others
    }

    /// When the first client came; until then, when the run began.
    var origin: WireInstant { firstClient ?? made }

    /// Whether any client has come.
    var hasBegun: Bool { firstClient != nil }

    func elapsed(_ now: WireInstant) -> UInt64 { now.since(origin) }

    // MARK: Connections

    /// A client has come.
    func begins(at now: WireInstant) { firstClient = firstClient ?? now }

    /// A client has connected.
    /// - Returns: what the rules say to that.
    package func accepted(_ c: UInt32, from peer: Address?, listener: String, at now: WireInstant) -> [FaultHit] {
        begins(at: now)
        directory.came(c, from: peer?.host)
        guard reach.hasAccept else { return [] }
        accepted[listener, default: 0] += 1
        return engine.accept(.accept, listener: listener, ordinal: accepted[listener] ?? 0, sinceRun: elapsed(now))
    }

    /// The connection and its peer are gone.
    package func gone(_ c: UInt32) {
        directory.gone(c)
        if changes != nil { carried.gone(c) }
    }

    /// Whether a rule can touch the request, or what it opens, or the session that it is part of: then its connection is
    /// held and decoded.
    package func touches(_ head: RequestHead) -> Bool {
        if outage != nil || observes { return true }
        if reach.touches(head) { return true }
        guard !directory.sessions.isEmpty else { return false }
        let (kind, entry) = classify(head)
        guard let entry, kind != .other, kind != .preflight else { return false }
        return directory.hasRoute(entry.type.route(head))
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
                if let key = entry.type.sessionKey(opening), directory.isKnown(key) { return (kind, entry) }
                let claim = entry.type.claim(opening)
                if upgrade == nil || claim > best { (upgrade, best) = (entry, claim) }
            // Any request with the right body may be one: those that name a session go first.
            case .operation: operation = operation ?? entry
            case .negotiate, .poll, .send, .stream, .end, .refresh: return (kind, entry)
            }
        }
        return upgrade.map { (.upgrade, $0) } ?? operation.map { (.operation, $0) } ?? (.other, nil)
    }

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
        let time = elapsed(now)
        firings.record(hit) {
            ReplayReport.Firing(
                rule: hit.name, time: time, session: session?.number ?? 0, run: 1,
                attempt: session?.attemptNumbers.attempt ?? 0, message: hit.message, counted: hit.counted,
                action: hit.text, cut: cut, isSilence: hit.isSilence)
        }
    }

    // MARK: Rules

    /// The names of the current rules.
    package var ruleNames: [String] { plan.rules.map(\.name) }

    /// Other rules from now on, all at once.
    /// - Parameter restarting: all counters begin at 0; else those of rules that stay as they were go on.
    package func changeRules(_ plan: FaultPlan, restarting: Bool) {
        if restarting {
            engine = FaultEngine(plan, seed: engine.seed)
            firings.restart()
        } else {
            engine.change(to: plan)
            firings.change(from: self.plan, to: plan)
        }
        self.plan = plan
        reach = FaultReach(plan, codecs)
        moments.change(to: engine)
    }
}
