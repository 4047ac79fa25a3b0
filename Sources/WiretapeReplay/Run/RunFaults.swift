internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

/// The rules of a run: what they decide, what they have done, and what of it still goes on.
struct RunFaults {
    private(set) var plan: FaultPlan
    private var engine: FaultEngine
    private(set) var firings: [ReplayReport.Firing] = []
    /// Firings of rules that were replaced since: they say nothing of rules that are called alike.
    private var firingsBefore = 0
    /// Moments that rules wait for, and those since the run began that have come.
    private(set) var times: [RuleFilters.Since]
    private var runMarks: Set<Int> = []
    /// Connections, and TLS handshakes, by listener.
    private var accepted: [String: Int] = [:]
    private var handshakes: [String: Int] = [:]
    var failedHandshakes = EarlyFailures()
    /// Requests of the whole run, for draws about those of no session.
    private(set) var requestCount = 0
    /// Faults that last for a while.
    private var lasting = LastingChanges<ConnectionID>()
    /// The server's absence.
    private var outage: OutageState?
    /// Ends that follow the answer to a request.
    private var cuts: [RequestCut] = []
    /// Responses to negotiations and openings that a rule holds back, and until when.
    private var heldResponses: [ConnectionID: (session: SessionRun, until: WireInstant)] = [:]

    /// The server is away for a while, for everybody.
    struct OutageState: Sendable {
        var until: WireInstant
        var answer: Int?
        var hit: FaultHit

        var name: String { hit.name }
    }

    /// What follows the answer to a request, or comes later than the request.
    struct RequestCut {
        let connection: ConnectionID
        let ticket: UInt64
        var ending: Link.Ending
        let moment: FaultMoment
        /// Nil: it is about none.
        let session: SessionRun?
        /// The answer is a poll's that is cut short: with it the client loses its session's connection.
        var isPoll = false
        /// Known once the answer is acknowledged.
        var until: WireInstant?
        var complete = false
    }

    init(_ plan: FaultPlan, seed: UInt64) {
        self.plan = plan
        engine = FaultEngine(plan, seed: seed, hasServer: false)
        times = engine.times
    }

    /// Nothing is to be asked of anybody.
    var isEmpty: Bool { plan.rules.isEmpty }

    // MARK: Responses that wait

    mutating func holdsResponse(for session: SessionRun, on connection: ConnectionID, until moment: WireInstant) {
        heldResponses[connection] = (session, moment)
    }

    /// No rule holds back a response on the connection any more.
    mutating func isAnswered(on connection: ConnectionID) { heldResponses[connection] = nil }

    /// Whether a rule holds back the response that opens the session's connection.
    func holdsResponse(for session: SessionRun, at now: WireInstant) -> Bool {
        heldResponses.values.contains { $0.session === session && $0.until > now }
    }

    /// The session's connection is over, with or without its response.
    mutating func forgetResponse(for session: SessionRun) {
        guard !heldResponses.isEmpty else { return }
        heldResponses = heldResponses.filter { $0.value.session !== session }
    }

    /// The client ended the connection.
    /// - Returns: the session whose response was held back until then.
    mutating func giveUpResponse(on connection: ConnectionID, at now: WireInstant) -> SessionRun? {
        guard let held = heldResponses.removeValue(forKey: connection), held.until > now else { return nil }
        return held.session
    }

    // MARK: Other rules

    /// Other rules from now on. Their counters begin at 0; what the rules before them have begun goes on to its end.
    mutating func replace(with plan: FaultPlan, seed: UInt64) {
        self.plan = plan
        firingsBefore = firings.count
        engine = FaultEngine(plan, seed: seed, hasServer: false)
        times = engine.times
        runMarks = []
    }

    /// Other rules from now on. Those that stay as they were go on counting; the others begin at 0.
    mutating func change(to plan: FaultPlan) {
        self.plan = plan
        engine.change(to: plan)
        let before = times
        times = engine.times
        runMarks = Set(times.indices.filter { i in runMarks.contains { before[$0] == times[i] } })
    }

    // MARK: What they decide

    /// About a message, either way.
    /// - Parameter ordinal: its number among the messages of its direction in its session, from 1.
    mutating func judge(_ message: Message, ordinal: Int, _ moment: FaultMoment) -> MessageFate? {
        MessageFate(engine.message(message, ordinal: ordinal, moment))
    }

    /// About the end of a connection.
    /// - Parameter code: that of the close frame, if it is one.
    mutating func judgeClose(by side: Direction, code: UInt16?, _ moment: FaultMoment) -> MessageFate? {
        MessageFate(engine.close(by: side, code: code, moment))
    }

    /// About a request and its answer.
    /// - Parameter ordinal: its number among the requests of its session, from 1; nil: it is counted in the run.
    mutating func judge(
        _ head: RequestHead, _ kind: ExchangeKind, ordinal: Int?, _ moment: FaultMoment
    ) -> RequestFate? {
        RequestFate(engine.request(head, kind, ordinal: ordinal ?? requestCount, moment))
    }

    /// A request of the run; to be told of each.
    mutating func countRequest() { requestCount += 1 }

    /// About a new connection.
    mutating func judgeAccept(listener: String, sinceRun: UInt64?) -> RequestFate? {
        accepted[listener, default: 0] += 1
        return RequestFate(
            engine.accept(.accept, listener: listener, ordinal: accepted[listener] ?? 1, sinceRun: sinceRun))
    }

    /// Whether a rule is about TLS handshakes.
    var hasTLS: Bool { plan.rules.contains { $0.selector.subject == .point(.tls) } }

    /// About a TLS handshake that begins.
    mutating func judgeHandshake(listener: String, sinceRun: UInt64?) -> [FaultHit] {
        handshakes[listener, default: 0] += 1
        return engine.accept(.tls, listener: listener, ordinal: handshakes[listener] ?? 1, sinceRun: sinceRun)
    }

    /// At a moment that has come.
    mutating func judge(_ time: RuleFilters.Since, _ moment: FaultMoment) -> [FaultHit] { engine.time(time, moment) }

    // MARK: What they have done

    mutating func record(_ firing: ReplayReport.Firing) { firings.append(firing) }

    /// Firings of the rules that are there now.
    var ownFirings: ArraySlice<ReplayReport.Firing> { firings[firingsBefore...] }

    // MARK: Moments

    /// When the next moment of the run comes that a rule waits for.
    /// - Parameter origin: when the run began.
    func nextMark(since origin: WireInstant?) -> WireInstant? {
        guard let origin else { return nil }
        var next: WireInstant?
        for (i, since) in times.enumerated() where since.mark == .run && !runMarks.contains(i) {
            let at = origin.advanced(by: since.gap)
            next = min(next ?? at, at)
        }
        return next
    }

    /// Whether that moment of the run has come by now; true once.
    mutating func comes(_ i: Int, since origin: WireInstant?, by now: WireInstant) -> Bool {
        guard !runMarks.contains(i), let at = origin?.advanced(by: times[i].gap), at <= now else { return false }
        runMarks.insert(i)
        return true
    }

    // MARK: What lasts

    /// When something that lasts, or an end that follows an answer, is due next.
    var nextWake: WireInstant? {
        var next: WireInstant?
        for cut in cuts { if let until = cut.until { next = min(next ?? until, until) } }
        if let over = lasting.next { next = min(next ?? over, over) }
        return next
    }

    /// - Parameter time: nanoseconds; nil: until the connection ends.
    mutating func last(_ change: LastingChange, for time: UInt64?, on connection: ConnectionID, at now: WireInstant) {
        if let time { lasting.add(change, at: connection, until: now.advanced(by: time)) }
    }

    /// What has lasted long enough by now.
    mutating func takeOver(by now: WireInstant) -> [LastingChanges<ConnectionID>.One] { lasting.takeOver(by: now) }

    /// Somebody has ended the silence of a connection.
    mutating func forgetStalls(of connection: ConnectionID) {
        lasting.forget { one in if case .stall = one.change { one.place == connection } else { false } }
    }

    mutating func begin(_ outage: Outage, by hit: FaultHit, at now: WireInstant) {
        self.outage = OutageState(until: now.advanced(by: outage.duration), answer: outage.answer, hit: hit)
    }

    /// The outage that goes on.
    func outage(at now: WireInstant) -> OutageState? {
        guard let outage, now < outage.until else { return nil }
        return outage
    }

    // MARK: Ends behind answers

    mutating func add(_ cut: RequestCut) { cuts.append(cut) }

    /// Whether a rule is still to end that connection.
    func endsLater(_ connection: ConnectionID) -> Bool { cuts.contains { $0.connection == connection } }

    /// The client has the answer that goes before the ends of that ticket, or it never will.
    mutating func acknowledged(_ ticket: UInt64, complete: Bool, until: WireInstant) {
        for i in cuts.indices where cuts[i].ticket == ticket {
            cuts[i].until = until.advanced(by: cuts[i].ending.pause)
            cuts[i].complete = complete
        }
    }

    /// The ends that are due by now.
    mutating func takeCuts(by now: WireInstant) -> [RequestCut] {
        let due = cuts.filter { $0.until.map { $0 <= now } ?? false }
        if !due.isEmpty { cuts.removeAll { $0.until.map { $0 <= now } ?? false } }
        return due
    }
}
