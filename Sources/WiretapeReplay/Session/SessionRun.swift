internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

/// A recorded session that a client has claimed, and the client's connection when there is one. It outlives its connections. It joins
/// its parts: where it stands on its script (``ScriptCursor``), the attachment of its client (``Link``), and what is told of both.
final class SessionRun: CountsAttempts {
    /// What it plays. A client may turn out to want another one before it has said anything else (``become(_:)``).
    private(set) var recorded: RecordedSession
    /// 1, 2, …: which run of the recorded session this is.
    let run: Int
    let claimedAt: WireInstant
    /// What of the script is done.
    var cursor: ScriptCursor
    /// What it came to so far.
    var tally: SessionTally

    /// The client's connection; nil while there is none.
    var link: Link? { didSet { noteChange() } }
    /// Whether there is one. Asked of every session when a client comes: looking at `link` itself copies it.
    private(set) var isConnected = false
    /// What a client may come back to without a new handshake.
    var parked: ParkedLink? { didSet { noteChange() } }
    /// The connection before, which we ended ourselves, while its kernel has not taken all that was queued before the end.
    var trailing: Link?

    var client = SessionClient()
    var negotiation = SessionNegotiation()
    var standing = SessionStanding()
    var faults: SessionFaults
    var log = AttemptLog() { didSet { noteChange() } }
    /// What the client said, and what of it again.
    var speech = ClientSpeech()
    /// What the recorded server took that its protocol's servers do not.
    private(set) lazy var leniency = RecordedLeniency(script, recorded.writer.rules)
    /// What each new connection hears first; nil: not asked yet.
    var greeting: SessionGreeting?
    /// Server messages that may leave; nil: nobody has said, so it is as `--speed` has it.
    var allowance: Allowance?
    var wakeAt: WireInstant? { didSet { noteChange() } }
    /// What the table that finds the next wake-up knows of it.
    private var note: RunNote

    init(_ recorded: RecordedSession, script: Script, id: SessionID, run: Int, at now: WireInstant) {
        note = RunNote(id)
        self.recorded = recorded
        self.run = run
        claimedAt = now
        cursor = ScriptCursor(script, at: now)
        tally = SessionTally(at: now)
        faults = SessionFaults(steps: script.steps.count)
    }

    /// Goes on as another run of itself, which plays another recorded session (``reassigned(as:_:_:)``).
    func become(_ other: SessionRun) {
        recorded = other.recorded
        cursor = other.cursor
        tally = other.tally
        connect(other.link)
        parked = other.parked
        trailing = other.trailing
        client = other.client
        negotiation = other.negotiation
        standing = other.standing
        faults = other.faults
        log = other.log
        speech = other.speech
        leniency = other.leniency
        greeting = other.greeting
        allowance = other.allowance
        wakeAt = other.wakeAt
    }

    // MARK: Wake-ups

    /// From now on the table hears when it was changed.
    func report(to changes: RunChanges) {
        note.changes = changes
        noteChange()
    }

    /// Tells the table, once until it looks.
    func noteChange() {
        guard !note.isTold, let changes = note.changes else { return }
        note.isTold = true
        changes.note(id)
    }

    /// The table looks: when anything of the session or of its connection is due.
    func takeNextWake() -> WireInstant? {
        note.isTold = false
        let own = isConnected ? wakeAt : nil
        guard let carrier = carrierWake else { return own }
        return own.map { min($0, carrier) } ?? carrier
    }

    // MARK: Where it stands

    /// The client has a connection, or has none any more.
    func connect(_ link: Link?) {
        self.link = link
        isConnected = link != nil
    }

    var id: SessionID { note.id }

    var script: Script { cursor.script }

    /// Connections so far.
    var generation: Int { cursor.generation }

    /// The id that the server gives a connection in its greeting; nil: it gives none there.
    var greetingChain: Chain? {
        guard script.clientHandshake == nil, let greeting = script.serverHandshake,
            let chain = script.message(greeting)?.chain, chain.origin == .toClient
        else { return nil }
        return chain
    }

    /// All is played, and nothing of it may still come back: the kernel has all, and no request is waited for.
    var isComplete: Bool { cursor.isPlayed && trailing == nil && !cursor.awaitsRepeats }

    /// The last end of the tape is on its way, and nothing of the script before it.
    var isEnding: Bool {
        guard cursor.isPlayed, let link, let end = link.ending else { return false }
        return end.ending.hit == nil && link.underWay.steps.isEmpty
    }

    /// Nothing more will happen in this session.
    var isOver: Bool { standing.isOver || isComplete }

    /// The session went as its tape has it.
    var isFinished: Bool {
        standing.failure == nil && !standing.isStalled && trailing == nil
            && (cursor.isPlayed || !isConnected && cursor.owesOnlyCancelled)
    }
}

/// Who has a session, and over what.
struct SessionClient: Sendable {
    /// Over which it was connected, in the order of first use.
    private(set) var transports: [Transport] = []
    /// The names of the clients that have had it, in the order of their coming.
    private(set) var identities: [String] = []
    /// How the session was found for it.
    var assigned = ReplayReport.Assigned.order

    mutating func uses(_ transport: Transport) {
        if !transports.contains(transport) { transports.append(transport) }
    }

    mutating func isKnown(as identity: String) {
        if !identities.contains(identity) { identities.append(identity) }
    }
}

/// What goes before a connection of a session.
struct SessionNegotiation: Sendable {
    /// A negotiation was answered and its connection has not come yet.
    var awaitsUpgrade = false
    /// Recorded redirects that the negotiation which goes on has been through.
    var redirects = 0
    /// What the client sent between its negotiation and its connection: some clients do not wait.
    private(set) var early: [EarlySend] = []

    /// Whether so many bytes more may wait for the connection.
    func mayWait(_ count: Int) -> Bool { early.reduce(count) { $0 + $1.body.count } <= EarlySend.limit }

    mutating func wait(_ send: EarlySend) { early.append(send) }

    /// The connection is there.
    mutating func takeEarly() -> [EarlySend] {
        defer { early = [] }
        return early
    }
}

/// Whether a session goes on, and what its client wanted when it left.
struct SessionStanding: Sendable {
    /// Why the session was given up, in words for the client. Its reconnects are refused with them.
    var failure: String?
    /// It diverged under `--on-divergence stall`: nothing of the script leaves any more.
    var isStalled = false
    /// A reconnect that the policy did not give back to it: what is left of the script is nobody's.
    var isLeft = false
    /// How the client ended the last connection, if it did.
    var departure = Departure.lost

    /// What the end of a connection says of the client's intentions.
    enum Departure: Hashable, Sendable {
        /// Nothing: it was lost, or the server ended it.
        case lost
        /// A close frame that tells no reason, or one of its own: clients that give a connection up send such, too.
        case closed
        /// In order: by the protocol's farewell, a `DELETE`, or a close frame that says so.
        case inOrder
    }

    /// Whatever is left of the script, nobody gets it.
    var isOver: Bool { failure != nil || isStalled || isLeft }
}

/// What rules have done to a session, beyond its connection.
struct SessionFaults: Sendable {
    /// Transports that a fault took away.
    private(set) var blocked: [Transport] = []
    /// The protocol's keepalives are left out until then.
    var mutedUntil: WireInstant?
    /// Steps that the rules have seen.
    private var judged: StepColumn<Bool>

    init(steps: Int) { judged = StepColumn(false, count: steps) }

    mutating func block(_ transports: [Transport]) { blocked += transports.filter { !blocked.contains($0) } }

    /// Whether the protocol's keepalives, and its answers to the client's, are left out.
    func isMuted(at now: WireInstant) -> Bool { mutedUntil.map { $0 > now } ?? false }

    /// Rules are asked about each step once.
    /// - Returns: whether it is the first time.
    mutating func judge(_ step: Int) -> Bool {
        defer { judged[step] = true }
        return !judged[step]
    }

    /// The script begins anew, and rules are asked again.
    mutating func restart() { judged = StepColumn(false, count: judged.endIndex) }

    /// What rules have seen on another script, whose steps have the given numbers here.
    mutating func adopt(_ other: SessionFaults, _ places: [(theirs: Int, mine: Int)]) {
        for (theirs, mine) in places { judged[mine] = other.judged[theirs] }
    }
}
