internal import WiretapeAttempts
package import WiretapeBytes
package import WiretapeFaults
package import WiretapeProtocol
internal import WiretapeReport
package import WiretapeRuntime

/// Plays the server's part of a tape to real clients: sessions, scripts and cursors, without sockets and clocks. The
/// server around it parses HTTP and WebSocket framing, feeds what arrives, and does the ``ReplayAction``s.
///
/// A connection is *free* (HTTP requests, any sequence of them), or *held* by a session: as a WebSocket until its end, as an
/// event stream or a poll until that is answered; then *over* (ended by us or by the client; whatever still comes from it
/// is dropped). Input of unknown connections is dropped, too: a legal drop, since
/// ends cross on the wire.
package struct ReplayEngine {
    package let tapeName: String
    package internal(set) var options: ReplayOptions
    /// What its policies name as subscriptions.
    let subscribers: Subscribers
    package internal(set) var faults: FaultPlan
    /// Firings of rules that were replaced since: they say nothing of rules that are called alike.
    var firingsBefore = 0
    package let seed: UInt64
    let sessions: [RecordedSession]
    /// Those of the tape that have listeners of their own.
    let upstreams: Upstreams
    /// The codecs of the tape in the order of its sessions, and what its sessions' requests look like.
    let codecs: [CodecEntry]
    var table: RouteTable
    /// Sessions made of recorded ones, behind those of the tape: single operations of a session, or operations as one
    /// session. Made when a client asks in such a way.
    var views: [SessionView] = []
    /// Made with the first request for one.
    var operations: OperationBook?
    /// Compiled when first claimed, by index of the session.
    var scripts: [Int: Script] = [:]
    /// How sessions begin, and the sessions of a route by that: worked out when a choice is to be made.
    var openingFingerprints: [Int: OpeningFingerprint] = [:]
    var sessionsByFirst: [Int: [UInt64: [Int]]] = [:]
    /// Claimed sessions in the order of claiming.
    var runs = RunTable()
    /// Who has which session; its claims are those of `runs`.
    var claims = Claims()
    /// Numbers for the credentials of clients, and the address and agent that each came from last.
    var credentials: [String: Int] = [:]
    var places: [String: String] = [:]
    /// Ordinary requests of the tape with their answers, and the answers that are under way.
    var exchanges: ExchangeBook
    /// Tokens that were handed out, and whose they are.
    var tokens: [String: SessionToken] = [:]
    /// Recorded ids that were handed out, and how often.
    var handedOut: [String: Int] = [:]
    /// The recorded ids of varied ones that greetings gave.
    var recordedIDs: [String: String] = [:]
    /// What the pseudonyms of the tape stand for.
    var secrets = LiveSecrets()
    var peers: [ConnectionID: Peer] = [:]
    var faultEngine: FaultEngine
    var firings: [ReplayReport.Firing] = []
    /// Ends that follow the answer to a request.
    var requestCuts: [RequestCut] = []
    /// Faults that last for a while, and the server's absence.
    var lasting: [Lasting] = []
    var outage: OutageState?
    /// Moments that rules wait for, and those since the run began that have come.
    var times: [RuleFilters.Since]
    var runMarks: Set<Int> = []
    /// Clients that a rule answered 401, or whose session it expired, by address and agent: the next unknown credential from there is theirs.
    var expired: [String: Int] = [:]
    /// Connections by listener.
    var accepted: [String: Int] = [:]
    /// Known at the run's end: its clients have ended before.
    var clientsAreGone = false
    /// The run has a tape of its own, which tells what rules did and which connection carries which session.
    package var tellsTape = false
    /// What somebody who follows the run was told; nil: nobody does.
    var told: ToldNews?
    /// The request that is being answered, and what rules want before its answer.
    var asking: ConnectionID?
    var prepared: [ReplayAction] = []
    var divergences = KeptTexts()
    /// Those of the divergences that are no client's: the replay had nothing to answer an attempt with.
    var ownRefusals: [String] = []
    var visitors = Visitors()
    /// Sessions whose transport is not served: said once.
    var refusedSessions: [Int] = []
    /// Requests of the whole run, for draws about those of no session.
    var requestCount = 0
    var lastTicket: UInt64 = 0
    /// The first thing that happened.
    var origin: WireInstant?
    /// The latest time that was told, and the latest thing that a client did or got.
    var now = WireInstant.zero
    var lastActivity = WireInstant.zero

    /// A client connection.
    struct Peer: Sendable {
        var address: Address?
        /// That of the listener.
        var name: String?
        /// Who asked on it last, as ``ReplayEngine/identity(_:_:)`` tells.
        var client: String?
        /// The upstream that the listener stands for.
        var upstream: String?
        /// Index into `runs` while it is a WebSocket or an event stream of it, or holds a poll of it.
        var run: Int?
        /// Whose body it carried last, of those that were polled for.
        var carried: Int?
        /// Into `runs` as long as what was queued before our end of it may be lost.
        var trails: Int?
        /// Which of the sessions that it carried the tape of the run has told of last.
        var told: Int?
        var isOver = false
        /// It went silent by a rule, and its client has gone on elsewhere: its end is answered, and is nobody's.
        var isAbandoned = false
    }

    package init(
        sessions: [RecordedSession], exchanges: [RecordedExchange] = [], upstreams: Upstreams = Upstreams(),
        tapeName: String, options: ReplayOptions, faults: FaultPlan, seed: UInt64
    ) {
        self.sessions = sessions
        self.upstreams = upstreams
        self.tapeName = tapeName
        self.options = options
        subscribers = options.subscribers
        self.faults = faults
        self.seed = seed
        var codecs: [CodecEntry] = []
        for session in sessions where !codecs.contains(where: { $0.id == session.codec.id }) {
            codecs.append(session.codec)
        }
        self.codecs = codecs
        table = RouteTable(sessions, upstreams, ignoring: options.ignore)
        self.exchanges = ExchangeBook(exchanges, codecs, upstreams)
        for session in sessions {
            for opening in session.redirects + [session.negotiate, session.opening].compactMap(\.self) {
                secrets.learn(opening.request)
            }
        }
        for exchange in exchanges { secrets.learn(exchange) }
        faultEngine = FaultEngine(faults, seed: seed, hasServer: false)
        times = ReplayEngine.times(of: faultEngine)
    }

    static func times(of engine: FaultEngine) -> [RuleFilters.Since] {
        var times: [RuleFilters.Since] = []
        for time in engine.times where !times.contains(time) { times.append(time) }
        return times
    }

    /// A client connection was accepted.
    /// - Parameters:
    ///   - name: that of the listener, by which its clients go.
    ///   - upstream: the one that the listener stands for, of a tape with several.
    package mutating func opened(
        _ c: ConnectionID, from: Address?, name: String? = nil, upstream: String? = nil, at now: WireInstant,
        into out: inout [ReplayAction]
    ) {
        happened(at: now)
        peers[c] = Peer(address: from, name: name, upstream: upstream)
        if runs.isEmpty { visitors.opened(c) }
        if !refuseInOutage(c, into: &out) { judgeAccept(c, into: &out) }
    }

    /// A ping or pong of the client, which the server answers by itself.
    package mutating func controlFrame(_ c: ConnectionID, isPing: Bool, at now: WireInstant) {
        self.now = max(self.now, now)
        guard let r = peers[c]?.run else { return }
        runs[r].link?.watch.heard(at: now)
        runs[r].heard(isKeepalive: true, at: now)
        guard isPing else { return }
        runs[r].tally.ping()
    }

    /// Time has passed: ``nextWake`` has come, or nothing in particular.
    package mutating func wake(at now: WireInstant, into out: inout [ReplayAction]) {
        self.now = max(self.now, now)
        finishLasting(into: &out)
        fireTimed(into: &out)
        finishRequestCuts(into: &out)
        finishExchanges(into: &out)
        // What one session did may be what others wait for.
        let due = options.causality == .tape ? Array(runs.indices) : runs.due(at: self.now)
        for r in due where runs[r].isConnected || runs[r].parked != nil {
            timeOutPoll(r, into: &out)
            acknowledgeMemory(r, into: &out)
            tendFaults(r, into: &out)
            if let parked = runs[r].parked, parked.until <= self.now { forgetParked(of: r) }
            advance(r, into: &out)
        }
    }

    /// When ``wake(at:into:)`` is wanted next. Ask again after every input.
    package var nextWake: WireInstant? {
        mutating get {
            var next = runs.nextWake
            for cut in requestCuts { if let until = cut.until { next = min(next ?? until, until) } }
            for answer in exchanges.underWay { next = min(next ?? answer.due, answer.due) }
            for one in lasting { next = min(next ?? one.until, one.until) }
            if let moment = nextTimedFault { next = min(next ?? moment, moment) }
            guard options.until != .signal, lastActivity > .zero else { return next }
            let quiet = lastActivity.advanced(by: quietTime)
            return quiet > now ? min(next ?? quiet, quiet) : next
        }
    }

    /// Every server message of every claimed session is out, every client message that is not optional is matched, and
    /// the last connection has been closed or idle for 250 ms.
    package var isFinished: Bool {
        now.since(lastActivity) >= ReplayEngine.idleTime && isPlayed
    }

    /// The same, however short ago the last of it was.
    package var isPlayed: Bool {
        guard exchanges.underWay.isEmpty,
            !runs.isEmpty || (sessions.isEmpty && !exchanges.isEmpty && unplayed.isEmpty)
        else { return false }
        return runs.allSatisfy { $0.isOver && !($0.link?.isCut ?? false) && $0.link?.faults.nextWake == nil }
    }

    /// Whether the run is over by `--until`.
    package var shouldEnd: Bool {
        switch options.until {
        case .signal: false
        case .finished: isFinished
        case .idle(let quiet): lastActivity > .zero && now.since(lastActivity) >= quiet
        }
    }

    static let idleTime: UInt64 = 250_000_000

    private var quietTime: UInt64 {
        if case .idle(let quiet) = options.until { quiet } else { ReplayEngine.idleTime }
    }

    /// Something that a client did.
    mutating func happened(at now: WireInstant) {
        self.now = max(self.now, now)
        lastActivity = self.now
        if origin == nil { origin = now }
    }

    /// Nanoseconds since the first thing that happened.
    var elapsed: UInt64 { now.since(origin ?? now) }

    mutating func ticket() -> UInt64 {
        lastTicket += 1
        return lastTicket
    }
}
