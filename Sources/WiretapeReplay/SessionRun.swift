internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

/// A recorded session that a client has claimed: the script, what of it is done, and the client's connection when there is
/// one. It outlives its connections. Inputs and outcomes are those of the extensions beside this file:
/// matching, release, timing, patience, reconnects, stepping, attempts.
final class SessionRun: CountsAttempts {
    let script: Script
    let session: RecordedSession
    /// 1, 2, …: which run of the recorded session this is.
    let run: Int
    let claimedAt: WireInstant

    /// The client's connection; nil while there is none.
    var link: Link? { didSet { noteChange() } }
    /// Whether there is one. Asked of every session when a client comes: looking at `link` itself copies it.
    private(set) var isConnected = false
    /// What a client may come back to without a new handshake.
    var parked: ParkedLink? { didSet { noteChange() } }
    /// Connections so far.
    var generation = 0
    /// Over which it was connected, in the order of first use.
    var transports: [Transport] = []
    var identities: [String] = []
    var assigned = ReplayReport.Assigned.order
    var log = AttemptLog() { didSet { noteChange() } }
    /// What the client said, and what of it again.
    var speech = ClientSpeech()
    /// Pushes that stay away until the client has subscribed again; they are `abandoned`.
    var heldBack: Set<Int> = []
    /// The connection before, which we ended ourselves, while its kernel has not taken all that was queued before the end.
    var trailing: Link?
    /// Messages that are `abandoned` while the client may still bring them back: what stands behind them waits for it.
    var mayComeBack = 0
    /// A negotiation was answered and its connection has not come yet.
    var awaitsUpgrade = false
    /// What the client sent between its negotiation and its connection: some clients do not wait.
    var early: [EarlySend] = []
    /// What the recorded server took that its protocol's servers do not.
    private(set) lazy var leniency = RecordedLeniency(script, session.writer.rules)
    /// Transports that a fault took away.
    var blocked: [Transport] = []
    /// What each new connection hears first; nil: not asked yet. How many heard it again.
    var greeting: SessionGreeting?
    var greetings = 0
    /// What people should know of how it was played.
    var notes: [String] = []
    /// Client messages that a fault dropped, by their steps: the client may send them again.
    var dropped: Set<Int> = []
    /// Client messages that stand for recorded ones from which they differ, by those steps.
    var standIns: [Int: StandIn] = [:]
    /// The protocol's keepalives are left out until then.
    var mutedUntil: WireInstant?
    /// Recorded redirects that the negotiation which goes on has been through.
    var redirects = 0
    /// Why the session was given up, in words for the client. Its reconnects are refused with them.
    var failure: String?
    /// It diverged under `--on-divergence stall`: nothing of the script leaves any more.
    var isStalled = false
    /// How the client ended the last connection, if it did.
    var departure = Departure.lost
    /// A reconnect that the policy did not give back to it: what is left of the script is nobody's.
    var isLeft = false
    var wakeAt: WireInstant? { didSet { noteChange() } }
    /// The table that finds the next wake-up, and whether it knows of a change.
    var note: RunNote?
    var isNoted = false

    // MARK: The script's state, indexed by step

    var state: StepColumn<StepState>
    /// When each step was done.
    var doneAt: StepTimes
    /// The connection on which a client message was matched last.
    var matchedIn: StepColumn<UInt16>
    /// Steps that the fault rules have seen.
    var judged: StepColumn<Bool>
    /// Server steps in the order of sending: what the digest is made of.
    var sent: [Int32] = []

    // MARK: Positions, as steps of the script

    /// Every server message before is done or given up.
    var head = 0
    /// Every client message before that holds back pushes has come or was forgiven.
    var firstGate = 0
    /// Every client message before has come, was forgiven or is optional.
    var firstAwaited = 0
    /// The last that the client said of its own accord; −1: nothing yet.
    var lastSaid = -1
    /// The last message that was given up with nothing said behind it.
    var lastStop: Int?
    /// Into the server's steps of a group: everything before is done or given up. Of the groups that have more than one.
    var groupHead: [Int: Int] = [:]
    /// Into the lists of equal client messages, by their first step: everything before is matched.
    var equalHead: [Int: Int] = [:]
    /// Groups with a matched request and an unsent message of the server.
    var openGroups: [Int] = []
    var anchors: ScriptAnchors
    /// Server messages whose state is `dormant`.
    var aside: [Int] = []
    /// The last connection ended as the script has it.
    var endedByScript = false
    /// Under `live`, once the client has been away: what is overdue does not move what comes after it.
    var clockRanOn = false
    /// Server messages that may leave; nil: nobody has said, so it is as `--speed` has it.
    var allowance: Allowance?
    /// Gates of other sessions up to this line hold nothing back (`--causality tape`).
    var forgivenLine: Int32 = 0

    var tally: SessionTally

    init(_ session: RecordedSession, script: Script, run: Int = 1, at now: WireInstant) {
        self.session = session
        self.script = script
        self.run = run
        claimedAt = now
        tally = SessionTally(at: now)
        let count = script.steps.count
        state = StepColumn(.waiting, count: count)
        doneAt = StepTimes(count: count)
        matchedIn = StepColumn(0, count: count)
        judged = StepColumn(false, count: count)
        anchors = ScriptAnchors(Anchor(at: now, recorded: script.opened))
        skipSettled()
    }

    /// The client has a connection, or has none any more.
    func connect(_ link: Link?) {
        self.link = link
        isConnected = link != nil
    }

    enum StepState: UInt8, Sendable {
        case waiting, done
        /// Of a chain that a lost connection interrupted, until its request comes again; then what the client had said in
        /// it, until it says that again.
        case abandoned
        /// A client message that no longer holds anything back, because it seems to come after a push that waited for it.
        case deferred
        /// A client message that did not come in time.
        case forgiven
        /// As before, but the client did not come to it: it had stopped at an earlier one, or its chain was never opened.
        case unreached
        /// A server message whose chain was never opened: its request is deferred or given up.
        case dormant
        /// Left out by `--on-reconnect lose:N` or `live`, and what the client would have answered to it.
        case lost
    }

    /// What the end of a connection says of the client's intentions.
    enum Departure: Hashable, Sendable {
        /// Nothing: it was lost, or the server ended it.
        case lost
        /// A close frame that tells no reason, or one of its own: clients that give a connection up send such, too.
        case closed
        /// In order: by the protocol's farewell, a `DELETE`, or a close frame that says so.
        case inOrder
    }

    /// The id that the server gives a connection in its greeting; nil: it gives none there.
    var greetingChain: Chain? {
        guard script.clientHandshake == nil, let greeting = script.serverHandshake,
            let chain = script.message(greeting)?.chain, chain.origin == .toClient
        else { return nil }
        return chain
    }

    /// Everything is out and matched that is not optional or given up.
    var isPlayed: Bool { head == script.steps.count && firstAwaited == script.steps.count }

    var awaitsRepeats: Bool { mayComeBack > 0 }

    /// All is played, and nothing of it may still come back: the kernel has all, and no request is waited for.
    var isComplete: Bool { isPlayed && trailing == nil && !awaitsRepeats }

    /// The last end of the tape is on its way, and nothing of the script before it.
    var isEnding: Bool {
        guard isPlayed, let link, let end = link.ending else { return false }
        return end.ending.hit == nil && link.stepsUnderWay.isEmpty
    }

    /// Nothing more will happen in this session.
    var isOver: Bool { failure != nil || isStalled || isLeft || isComplete }

    /// Moves the positions over what is settled.
    func skipSettled() {
        let count = script.steps.count
        while head < count {
            let step = script.steps[head]
            guard step.direction == .toServer || state[head] != .waiting || step.optional else { break }
            head += 1
        }
        while firstGate < count, !holdsPushes(firstGate) { firstGate += 1 }
        while firstAwaited < count, !isAwaited(firstAwaited) { firstAwaited += 1 }
    }

    /// Whether pushes behind that step wait for it. Of an interrupted chain, as long as its request may be repeated.
    private func holdsPushes(_ index: Int) -> Bool {
        guard script.steps[index].isGate else { return false }
        return state[index] == .waiting || (state[index] == .abandoned && awaitsRepeats)
    }

    /// Whether the session still wants that client message to come.
    func isAwaited(_ index: Int) -> Bool {
        let step = script.steps[index]
        return step.direction == .toServer && !step.optional && (state[index] == .waiting || state[index] == .deferred)
    }

    /// After steps from `first` on went back to waiting.
    func rewindPositions(to first: Int = 0) {
        head = min(head, first)
        firstGate = min(firstGate, first)
        firstAwaited = min(firstAwaited, first)
        skipSettled()
    }
}
