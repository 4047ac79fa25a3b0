internal import WiretapeAttempts
package import WiretapeBytes
package import WiretapeFaults
package import WiretapeProtocol
package import WiretapeRedaction
package import WiretapeReport
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
    package let seed: UInt64
    /// The sessions of the tape.
    var library: SessionLibrary
    /// The names of all recorded hosts if clients name the hosts (a forward proxy). Else empty.
    let recordedHosts: Set<String>
    /// Ordinary requests of the tape with their answers, and the answers that are under way.
    var exchanges: ExchangeBook
    /// The requests and messages on other connections that a server message may wait for.
    var causes: CauseTable
    /// Claimed sessions in the order of claiming.
    var runs = RunTable()
    /// Who has which session; its claims are those of `runs`.
    var claims = Claims()
    var names = ClientNames()
    /// What was handed out, and whose it is.
    var ids = IssuedIDs()
    /// What the pseudonyms of the tape stand for.
    var secrets: LiveSecrets
    var peers = Peers()
    var rules: RunFaults
    var record = RunRecord()
    var clock = RunClock()
    /// The request that is being answered.
    var asking: Asking?
    /// The run has a tape of its own, which tells what rules did and which connection carries which session.
    package var tellsTape = false
    /// What somebody who follows the run was told; nil: nobody does.
    private var told: ToldNews?
    private var lastTicket: UInt64 = 0

    /// A request that is being answered.
    struct Asking {
        let connection: ConnectionID
        /// What rules want before its answer.
        var prepared: [ReplayAction] = []
    }

    package init(
        sessions: [RecordedSession], exchanges: [RecordedExchange] = [], upstreams: Upstreams = Upstreams(),
        tapeName: String, options: ReplayOptions, faults: FaultPlan, seed: UInt64,
        redaction: RedactionRules = RedactionRules()
    ) {
        secrets = LiveSecrets(redaction)
        self.tapeName = tapeName
        self.options = options
        subscribers = options.subscribers
        self.seed = seed
        library = SessionLibrary(sessions, upstreams, ignoring: options.ignore)
        self.exchanges = ExchangeBook(exchanges, library.codecs, upstreams)
        causes = CauseTable(sessions, exchanges, options)
        rules = RunFaults(faults, seed: seed)
        let recorded = sessions.map(\.upstream) + exchanges.map(\.upstream)
        recordedHosts = upstreams.isForward ? Set(recorded.compactMap { upstreams.home(of: $0) }) : []
        for session in sessions {
            for opening in session.redirects + [session.negotiate, session.opening].compactMap(\.self) {
                secrets.learn(opening.request)
            }
        }
        for exchange in exchanges { secrets.learn(exchange) }
    }

    /// The rules that are there now.
    package var faults: FaultPlan { rules.plan }

    /// The latest time that was told.
    var now: WireInstant { clock.now }

    /// When the run began; before that, now.
    var start: WireInstant { clock.origin ?? clock.now }

    /// Nanoseconds since the first thing that happened.
    var elapsed: UInt64 { clock.elapsed }

    /// A client connection was accepted.
    /// - Parameters:
    ///   - name: that of the listener, by which its clients go.
    ///   - upstream: the one that the listener stands for, of a tape with several.
    package mutating func opened(
        _ connection: ConnectionID, from: Address?, name: String? = nil, upstream: String? = nil, at now: WireInstant,
        into out: inout [ReplayAction]
    ) {
        clock.happened(at: now)
        let host = upstream.map { recordedHost(for: $0) }
        peers.opened(connection, Peers.Peer(address: from, name: name, upstream: host))
        if runs.isEmpty { record.visitors.opened(connection) }
        if !refuseInOutage(connection, into: &out) { judgeAccept(connection, into: &out) }
    }

    /// A ping or pong of the client, which the server answers by itself.
    package mutating func controlFrame(_ connection: ConnectionID, isPing: Bool, at now: WireInstant) {
        clock.reach(now)
        guard let session = peers[connection]?.session else { return }
        session.link?.watch.heard(at: now)
        session.heard(isKeepalive: true, at: now)
        guard isPing else { return }
        session.tally.ping()
    }

    /// Time has passed: ``nextWake`` has come, or nothing in particular.
    package mutating func wake(at now: WireInstant, into out: inout [ReplayAction]) {
        clock.reach(now)
        finishLasting(into: &out)
        fireTimed(into: &out)
        finishRequestCuts(into: &out)
        finishExchanges(into: &out)
        for session in runs.due(at: self.now) where session.isConnected || session.parked != nil {
            timeOutPoll(session, into: &out)
            acknowledgeMemory(session, into: &out)
            tendFaults(session, into: &out)
            if let parked = session.parked, parked.until <= self.now { forgetParked(of: session) }
            advance(session, into: &out)
        }
        advanceWaiting(into: &out)
    }

    /// From now on ``takeNews()`` has something to tell.
    package mutating func follow() {
        told = ToldNews()
        runs.follow()
    }

    /// What has happened since the last call.
    package mutating func takeNews() -> [RunNews] {
        guard told != nil else { return [] }
        let changed = runs.takeUntold()
        let (firings, divergences, elapsed) = (rules.firings, record.divergences.texts, elapsed)
        return told?.take(changed, firings: firings, divergences: divergences, elapsed: elapsed) ?? []
    }

    /// When ``wake(at:into:)`` is wanted next. Ask again after every input.
    package var nextWake: WireInstant? {
        mutating get {
            var next = runs.nextWake
            if let due = rules.nextWake { next = min(next ?? due, due) }
            if let due = exchanges.nextAnswer { next = min(next ?? due, due) }
            if let moment = rules.nextMark(since: clock.origin) { next = min(next ?? moment, moment) }
            guard options.ending.until != .signal, clock.lastActivity > .zero else { return next }
            let quiet = clock.lastActivity.advanced(by: quietTime)
            return quiet > now ? min(next ?? quiet, quiet) : next
        }
    }

    /// Every server message of every claimed session is out, every client message that is not optional is matched, and
    /// the last connection has been closed or idle for 250 ms.
    package var isFinished: Bool {
        now.since(clock.lastActivity) >= ReplayEngine.idleTime && isPlayed
    }

    /// Whether all of that is true, however short ago the last connection was closed.
    package var isPlayed: Bool {
        guard !exchanges.isAnswering,
            !runs.isEmpty || (library.sessions.isEmpty && !exchanges.isEmpty && unplayed.isEmpty)
        else { return false }
        return runs.allSatisfy { $0.isOver && !($0.link?.isCut ?? false) && $0.link?.faults.nextWake == nil }
    }

    /// Whether the run is over by `--until`.
    package var shouldEnd: Bool {
        switch options.ending.until {
        case .signal: false
        case .finished: isFinished
        case .idle(let quiet): clock.lastActivity > .zero && now.since(clock.lastActivity) >= quiet
        }
    }

    static let idleTime: UInt64 = 250_000_000

    private var quietTime: UInt64 {
        if case .idle(let quiet) = options.ending.until { quiet } else { ReplayEngine.idleTime }
    }

    mutating func ticket() -> UInt64 {
        lastTicket += 1
        return lastTicket
    }
}
