internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

/// A recorded session that a client has claimed, and the client's connection when there is one. It outlives its connections. It joins
/// its parts: where it stands on its script (``ScriptCursor``), the attachment of its client (``Link``), and what is told of both.
final class SessionRun: CountsAttempts {
    /// What it plays. A client may turn out to want another one before it has said anything else (``become(_:)``).
    private(set) var recorded: RecordedSession
    /// 1, 2, …: which run of the recorded session this is.
    private(set) var run: Int
    let claimedAt: WireInstant
    /// What of the script is done.
    var cursor: ScriptCursor
    /// What it came to so far.
    var tally: SessionTally

    /// The client's connection; nil while there is none.
    var link: Link? { didSet { noteChange() } }
    /// Whether there is one. Asked of every session when a client comes: looking at `link` itself copies it.
    private(set) var isConnected = false
    /// Whether a rule stops all writes on its connection. It is not a property of ``Link``, because reading it there copies the link.
    var isStopped: Bool {
        guard let connection = link?.connection else { return false }
        return link?.faults.stopped == connection
    }
    /// What a client may come back to without a new handshake.
    private(set) var parked: ParkedLink? { didSet { noteChange() } }
    /// The connection before, which we ended ourselves, while its kernel has not taken all that was queued before the end.
    private(set) var trailing: Link?
    /// The last connection, kept after its end while an optional client message may still arrive. Nil for WebSockets.
    private var endedLink: Link?

    private(set) var client = SessionClient()
    private(set) var negotiation = SessionNegotiation()
    private(set) var standing = SessionStanding()
    private(set) var faults: SessionFaults
    var log = AttemptLog() { didSet { noteChange() } }
    /// How long the client's credentials last, and when it renewed them.
    var credentials = CredentialTimes()
    /// What the client said, and what of it again.
    private(set) var speech = ClientSpeech()
    /// Runs of the same recorded session on other streams of the same client. A request that the client makes on one is not due on the others.
    private(set) var companions: [SessionID] = []
    /// The recorded session that the same client lost before it reconnected to this one.
    private(set) var follows: SessionRun?
    /// Whether the client has reconnected to another recorded session.
    private(set) var isFollowed = false
    /// What the recorded server took that its protocol's servers do not.
    private(set) lazy var leniency = RecordedLeniency(script, recorded.writer.rules)
    /// What each new connection hears first; nil: not asked yet.
    private(set) var greeting: SessionGreeting?
    /// Server messages that may leave; nil: nobody has said, so it is as `--speed` has it.
    private(set) var allowance: Allowance?
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
        credentials = other.credentials
        endedLink = nil
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

    /// Whether the token belongs to the session's connection, or to the one that is parked.
    func isNamed(by token: String) -> Bool { link?.token == token || parked?.link.token == token }

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

    // MARK: Who has it

    /// Its client was found by that.
    func assign(by how: ReplayReport.Assigned) { client.assigned = how }

    /// Its client is connected over that transport.
    func uses(_ transport: Transport) { client.uses(transport) }

    /// Its client goes by that name.
    func isKnown(as identity: String) { client.isKnown(as: identity) }

    // MARK: Before a connection

    /// A negotiation was answered so that its client connects now, or it does not.
    func awaitUpgrade(_ isAwaited: Bool) { negotiation.awaitsUpgrade = isAwaited }

    /// The client was sent on to the next recorded place.
    func redirected() { negotiation.redirects += 1 }

    /// A negotiation begins, or has come to where it ends.
    func endRedirects() { negotiation.redirects = 0 }

    func wait(_ send: EarlySend) { negotiation.wait(send) }

    func takeEarly() -> [EarlySend] { negotiation.takeEarly() }

    // MARK: How it goes on

    /// It is given up.
    /// - Parameter reason: in words for the client.
    func fail(_ reason: String) { standing.failure = reason }

    /// Nothing of the script leaves any more.
    func stall() { standing.isStalled = true }

    /// What is left of the script is nobody's.
    func abandon() { standing.isLeft = true }

    /// Its client has said how it ends the connection.
    func departs(_ how: SessionStanding.Departure) { standing.departure = how }

    // MARK: Rules

    /// Rules are asked about each step once.
    /// - Returns: whether it is the first time.
    func judge(_ step: Int) -> Bool { faults.judge(step) }

    /// A rule leaves the protocol's keepalives out until then.
    func mute(until time: WireInstant) { faults.mutedUntil = time }

    /// A rule has taken these transports away.
    func withdraw(_ transports: [Transport]) { faults.block(transports) }

    func setLifetime(_ seconds: Int) { faults.setLifetime(seconds) }

    /// The response with the lifetime that a rule sets. Records the credential that the response issues.
    /// - Parameters:
    ///   - time: of the response, in nanoseconds since the run began.
    ///   - requested: when the client requested a renewal. Nil if the response is to a negotiation.
    func applyLifetime(to answer: HTTPAnswer, at time: UInt64, requested: UInt64? = nil) -> HTTPAnswer {
        let type = recorded.codec.type
        var answer = answer
        if let seconds = faults.lifetime, let body = type.replacingLifetime(in: answer.body, with: seconds) {
            answer.body = body
        }
        guard answer.status == 200, let seconds = type.credentialLifetime(in: answer.body) else { return answer }
        if let requested { credentials.recordRenewal(at: requested) }
        credentials.recordIssued(lifetime: seconds, at: time)
        return answer
    }

    // MARK: What its client says

    func said(
        _ message: Message, identity: UInt64, chain: Chain?, subscribes: Bool?, isWatched: Bool, arrives: Bool
    ) {
        speech.said(
            message, identity: identity, chain: chain, subscribes: subscribes, isWatched: isWatched, arrives: arrives)
    }

    func cancelled(_ chain: Chain) { speech.cancelled(chain) }

    /// The client has made the request of that step on another stream.
    func markRequestedElsewhere(_ request: Int, _ message: Message, identity: UInt64, subscribes: Bool?) {
        guard let group = script.steps[request].group else { return }
        // A client that repeats a request has that chain on both streams.
        if isConnected, cursor.state[request] == .done, !cursor.isInterrupted(request) { return }
        cursor.markRequestedElsewhere(group)
        speech.sentElsewhere(message, identity: identity, subscribes: subscribes)
    }

    /// The client asks for the rest of its stream, instead of sending its request again.
    func resumesStream() { speech.resumedStreams() }

    /// Marks the session as the recorded reconnect of the client that lost `earlier`.
    func follow(_ earlier: SessionRun) {
        follows = earlier
        earlier.isFollowed = true
        log = AttemptLog(following: earlier.log)
        speech = earlier.speech.continued()
    }

    /// Plays the same recorded session as `other` on another stream of the same client, starting at the position of `other`.
    func startAsCompanion(of other: SessionRun) {
        run = other.run
        cursor = other.cursor.onAnotherStream()
        companions = other.companions + [other.id]
    }

    func addCompanion(_ other: SessionID) { companions.append(other) }

    // MARK: Connections that are kept

    /// The connection is kept for a client that may come back to it.
    func park(_ link: ParkedLink) { parked = link }

    /// Attaches the parked connection for one client message. Nothing is sent on it.
    /// - Returns: the parked connection, if one is parked.
    func lendParked() -> ParkedLink? {
        guard let parked, !isConnected else { return nil }
        var lent = parked.link
        lent.endWithPoll(Link.Ending(verdict: nil, hit: nil), complete: true)
        connect(lent)
        return parked
    }

    /// Parks the connection again after the message.
    func takeBack(_ lent: ParkedLink) {
        guard var link else { return }
        link.goesOn()
        connect(nil)
        if parked != nil {
            parked = ParkedLink(link: link, isOver: lent.isOver, until: lent.until, end: lent.end)
        }
        speech.lost()
        wakeAt = nil
    }

    /// Attaches the ended connection again so that one late client message can be processed. Nothing is sent on it.
    /// - Returns: whether that connection had this token and the recorded client sent something after the end.
    func attachEndedLink(_ token: String) -> Bool {
        guard !isConnected, var lent = endedLink, lent.token == token else { return false }
        lent.endWithPoll(Link.Ending(verdict: nil, hit: nil), complete: true)
        connect(lent)
        return true
    }

    /// Detaches the connection again after the message.
    func detachEndedLink() {
        endedLink = link
        connect(nil)
        speech.lost()
        wakeAt = nil
    }

    /// Nothing is kept any more.
    func forgetParked() { parked = nil }

    /// The end of what is kept is told, or another one is to be told.
    func changeParkedEnd(to end: ParkedLink.End?) { parked?.end = end }

    /// The connection has ended that carried the last body of its polls.
    func pollsLost(_ connection: ConnectionID) {
        link?.polls.lost(connection)
        parked?.link.polls.lost(connection)
    }

    /// What waited for a poll of the connection that is kept.
    func takeParkedPolls() -> [LongPolls.Payload] {
        parked?.link.polls.takeQueue() ?? []
    }

    /// The client has all that was queued before our end of the connection.
    func forgetTrailing() { trailing = nil }

    /// The kernel has that of what was queued before our end.
    /// - Returns: whether it has all of it.
    func trailingHandedOver(_ ticket: UInt64) -> Bool {
        trailing?.underWay.handedOver(ticket)
        guard trailing?.underWay.isEmpty == true else { return false }
        trailing = nil
        return true
    }

    // MARK: Connections come, are lost, and come back

    // An ending that is on the tape is part of the script, and the script goes on behind it whatever `--on-reconnect` says.

    /// Whether the client had a connection that was interrupted, and the session is not over.
    var wasInterrupted: Bool { generation > 0 && !isConnected && !isOver && !cursor.endedByScript }

    /// The client has a connection. What an earlier one left open is given up until its request comes again; a request of
    /// the server that was not answered is asked again.
    func attach(_ link: Link, at now: WireInstant, _ options: ReplayOptions) {
        connect(link)
        self.link?.serves(link.opening, by: recorded.writer.serving(link.opening))
        let isScripted = cursor.connected()
        standing.departure = .lost
        negotiation.awaitsUpgrade = false
        tally.extendTime(to: now)
        let hasHandshake = recorded.codec.type.hasHandshake(on: link.transport)
        if !hasHandshake {
            self.link?.becomesReady(at: now)
        } else if script.clientHandshake == nil {
            greet(at: now, options)
        }
        defer { if !hasHandshake { cursor.skipHandshake(at: now) } }
        if generation == 1 { return cursor.begin(at: now) }
        speech.returned()
        loseTrailing()
        if options.onReconnect == .restart, !isScripted { return restart(at: now) }
        if recorded.isOperation { cursor.endAgain() }
        cursor.interrupt()
        if !isScripted || cursor.isPlayed { greetAgain(at: now) }
        if !isScripted { applyPolicy(options, remembered: false, at: now) }
        holdBack(what: options.subscribers.hanging)
    }

    /// The client is back, on a connection of its own or one that goes on: what the policy takes away or gives again.
    /// - Parameter remembered: the protocol itself resends what was under way.
    private func applyPolicy(_ options: ReplayOptions, remembered: Bool, at now: WireInstant) {
        cursor.apply(
            options, remembered: remembered, greeting: greeting?.steps ?? [], ready: link?.readyAt, at: now)
    }

    /// From the first message.
    private func restart(at now: WireInstant) {
        cursor.restart(at: now, &tally)
        faults.restart()
        speech.forget()
    }

    /// Where the client says nothing first, the protocol's opening is the server's alone: each connection begins with it.
    private func greet(at now: WireInstant, _ options: ReplayOptions) {
        guard let greeting = script.serverHandshake else {
            link?.becomesReady(at: now)
            return
        }
        let gap = options.scaled(from: script.opened, to: script.steps[greeting].time)
        link?.repeats.add(greeting, due: now.advanced(by: gap))
    }

    /// The connection is gone, or is being ended by us. Messages that the kernel has not wholly taken were never sent.
    func detach(at now: WireInstant) {
        guard let link else { return }
        // What a rule let others pass was never sent; a protocol that remembers sends it again itself.
        let passed = link.memory == nil ? link.faults.parked.steps : []
        cursor.restore(link.underWay.steps + passed)
        endedLink = link.transport != .ws && cursor.awaitsOptionalMessage ? link : nil
        connect(nil)
        speech.lost()
        faults.mutedUntil = nil
        lastEnd = now
        wakeAt = nil
    }

    /// Our own end of the connection is behind what is still queued: until the kernel has that, it may yet be lost.
    func trail() {
        if let link, link.transport != .lp, !link.underWay.isEmpty { trailing = link }
        link?.underWay.handedOverAll()
    }

    /// The connection is gone, or the client has turned away from it: what the kernel did not take was never sent. Where
    /// the protocol resends such messages itself, that is known once the client is back.
    func loseTrailing() {
        guard let lost = trailing, parked?.link.memory == nil else { return }
        trailing = nil
        // What the protocol had sent again is nobody's step, and the end behind it is lost all the same.
        if !lost.underWay.isEmpty { cursor.restoreEnding() }
        cursor.restore(lost.underWay.steps)
    }

    /// The client goes on over a new connection as if there had been no end of the old one. The time without a connection
    /// stood still.
    /// - Parameter hasLost: a connection; not so a client of long polling that gave one poll up and makes another.
    /// - Parameter mayRepeat: whether the client may send earlier messages again. True for protocols that resend nothing themselves.
    func goOn(
        _ link: Link, hasLost: Bool = true, mayRepeat: Bool = false, at now: WireInstant, _ options: ReplayOptions
    ) {
        // The protocol resends what it remembers by itself.
        if link.memory == nil { loseTrailing() } else { trailing = nil }
        let isScripted = cursor.wentOn(mayRepeat: mayRepeat, at: now)
        standing.departure = .lost
        connect(link)
        if mayRepeat { speech.wentOn() } else { speech.resumed() }
        if link.readyAt != nil { self.link?.becomesReady(at: now) }
        negotiation.awaitsUpgrade = false
        tally.extendTime(to: now)
        if hasLost, !isScripted { applyPolicy(options, remembered: true, at: now) }
    }

    // MARK: What leaves

    /// Each new connection hears that first.
    func greets(with greeting: SessionGreeting) { self.greeting = greeting }

    /// Somebody lets so much leave.
    func allow(_ allowance: Allowance) { self.allowance = allowance }

    /// The step left.
    func spend(_ step: Int) {
        guard script.steps[step].role != .handshake else { return }
        switch allowance {
        case .steps(let left): allowance = .steps(max(0, left - 1))
        case .until(let selector):
            // An ending is the end of what can be waited for.
            if script.message(step).map({ selector.matches($0) }) ?? true { allowance = .steps(0) }
        case .all, nil: break
        }
    }

    /// The server's message of that step goes out.
    func answered(_ step: Int) {
        if let role = script.steps[step].role { speech.heard(role) }
        guard let group = script.steps[step].group, script.groups[group].origin == .toServer else { return }
        switch script.steps[step].role {
        case .push: speech.pushed(in: Self.speechChain(group))
        case .reply: speech.answered(Self.speechChain(group))
        case .handshake, .request, .send, .part, .cancel, .keepalive, .ack, .close, .opaque, nil: break
        }
    }

    // MARK: Another recorded session

    /// The same client and connection in another recorded session, which nobody has begun: nil when something was said
    /// that is not the same there. Allowed are the handshake, and pushes that the other session begins with as well.
    func reassigned(as recorded: RecordedSession, _ script: Script, _ options: ReplayOptions) -> SessionRun? {
        let hasHandshake = self.script.clientHandshake.map { cursor.state[$0] == .done } ?? false
        guard !standing.isOver, generation <= 1, parked == nil,
            tally.matched == (hasHandshake ? 1 : 0), recorded.refusal == nil, !(link?.isCut ?? false),
            link.map({ recorded.writer.transports.contains($0.transport) }) ?? true, let places = places(in: script)
        else { return nil }
        var recorded = recorded
        recorded.writer.configure(options.codecSettings)
        let other = SessionRun(recorded, script: script, id: id, run: run, at: claimedAt)
        other.client = client
        other.log = log
        other.credentials = credentials
        other.speech = speech
        other.negotiation = negotiation
        other.negotiation.redirects = 0
        if var link {
            let ready = link.readyAt
            link.reassign(places)
            other.attach(link, at: link.openedAt, options)
            other.link?.becomesReady(at: ready)
            other.link?.repeats = link.repeats
            other.keepServerID(of: self)
        }
        other.negotiation.awaitsUpgrade = negotiation.awaitsUpgrade
        other.allowance = allowance
        other.tally = SessionTally(reassign: tally)
        other.cursor.adopt(cursor, places)
        other.faults.adopt(
            faults, places.filter { cursor.state[$0.key] == .done }.map { (theirs: $0.key, mine: $0.value) })
        return other
    }

    /// The id that the client was greeted with stands for that of this session from here on.
    private func keepServerID(of earlier: SessionRun) {
        guard let mine = greetingChain, let theirs = earlier.greetingChain, let live = earlier.link?.chains.live(theirs)
        else { return }
        link?.chains.bind(mine, to: live, at: nil)
    }

    /// What has happened here, step by step, in the other script; nil when that does not begin with it.
    private func places(in other: Script) -> [Int: Int]? {
        var places: [Int: Int] = [:]
        if let mine = script.clientHandshake, cursor.state[mine] == .done {
            guard let theirs = other.clientHandshake else { return nil }
            places[mine] = theirs
        }
        if let mine = script.serverHandshake, let theirs = other.serverHandshake { places[mine] = theirs }
        var next = other.steps.indices.lazy
            .filter { other.steps[$0].direction == .toClient && $0 != other.serverHandshake }.makeIterator()
        for step in cursor.sent.map(Int.init) where step != script.serverHandshake {
            guard let theirs = next.next(), script.steps[step].role == .push, script.steps[step].group == nil,
                let here = script.message(step), let there = other.message(theirs), here.matchKey == there.matchKey
            else { return nil }
            places[step] = theirs
        }
        return places
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
    /// The lifetime of the credential that a rule sets, in seconds. Nil: as recorded.
    private(set) var lifetime: Int?
    /// The protocol's keepalives are left out until then.
    var mutedUntil: WireInstant?
    /// Steps that the rules have seen.
    private var judged: StepColumn<Bool>

    init(steps: Int) { judged = StepColumn(false, count: steps) }

    mutating func setLifetime(_ seconds: Int) { lifetime = seconds }

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
        lifetime = other.lifetime
    }
}

extension Link {
    /// Its steps are those of another script.
    fileprivate mutating func reassign(_ places: [Int: Int]) {
        repeats.renumber { places[$0] }
        underWay.renumber { places[$0] }
    }
}
