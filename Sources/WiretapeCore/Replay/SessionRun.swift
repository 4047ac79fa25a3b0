/// A recorded session that a client has claimed: the script, what of it is done, and the client's connection when there is
/// one. It outlives its connections. Inputs and outcomes are those of the extensions beside this file:
/// matching, release, timing, reconnects, attempts.
struct SessionRun: Sendable {
    let script: Script
    let session: RecordedSession
    /// From 1; more than one run of a session comes with later options.
    let run = 1
    let claimedAt: WireInstant

    /// The client's connection; nil while there is none.
    var link: Link?
    /// What a client may come back to without a new handshake.
    var parked: ParkedLink?
    /// Connections so far.
    var generation = 0
    /// Over which it was connected, in the order of first use.
    var transports: [Transport] = []
    var identities: [String] = []
    var assigned = ReplayReport.Assigned.order
    var attempts: [Attempt] = []
    /// Attempts since the last success.
    var retries = 0
    var everConnected = false
    /// When the last connection or failed attempt ended.
    var lastEnd: WireInstant?
    /// A negotiation was answered and its connection has not come yet.
    var awaitsUpgrade = false
    /// What the client sent between its negotiation and its connection: some clients do not wait.
    var early: [EarlySend] = []
    /// Recorded redirects that the negotiation which goes on has been through.
    var redirects = 0
    /// Why the session was given up, in words for the client. Its reconnects are refused with them.
    var failure: String?
    var wakeAt: WireInstant?

    // MARK: The script's state, indexed by step

    var state: [StepState]
    /// When each step was done.
    var doneAt: [WireInstant]
    /// The connection on which a client message was matched last.
    var matchedIn: [Int]
    /// Steps that the fault rules have seen.
    var judged: [Bool]
    /// Server steps in the order of sending: what the digest is made of.
    var sent: [Int] = []

    // MARK: Positions

    /// Into `script.toClient`: everything before is done or given up.
    var head = 0
    /// Into `script.gates`: everything before is matched.
    var firstGate = 0
    /// Into `script.toServer`: everything before is matched or optional.
    var firstAwaited = 0
    /// Into the server's steps of each group: everything before is done or given up.
    var groupHead: [Int]
    /// Into each list of equal client messages: everything before is matched.
    var equalHead: [Int]
    /// Groups with a matched request and an unsent reply.
    var openGroups: [Int] = []
    /// The last thing in actual time among the server's steps, and among the client's gates, before the head.
    var serverAnchor: Anchor
    var gateAnchor: Anchor
    var anchoredSteps = 0
    var anchoredGates = 0

    // MARK: Counts

    var matched = 0
    var clientMessages = 0
    var requests = 0
    var lastProgress: WireInstant
    /// Pings and other keepalives of the client since then.
    var pingsSinceProgress = 0
    var missing: [String] = []
    var unexpected: [String] = []

    init(_ session: RecordedSession, script: Script, at now: WireInstant) {
        self.session = session
        self.script = script
        claimedAt = now
        lastProgress = now
        state = Array(repeating: .waiting, count: script.steps.count)
        doneAt = Array(repeating: .zero, count: script.steps.count)
        matchedIn = Array(repeating: 0, count: script.steps.count)
        judged = Array(repeating: false, count: script.steps.count)
        equalHead = Array(repeating: 0, count: script.equals.count)
        groupHead = Array(repeating: 0, count: script.groups.count)
        serverAnchor = Anchor(at: now, recorded: script.opened)
        gateAnchor = serverAnchor
        skipSettled()
    }

    enum StepState: UInt8, Sendable {
        case waiting, done
        /// Of a chain whose request was not repeated after a reconnect.
        case abandoned
    }

    /// Something that happened, in actual and in recorded time.
    struct Anchor: Hashable, Sendable {
        var at: WireInstant
        var recorded: UInt64

        /// The later of the two in actual time, the one recorded later among equals.
        func later(_ other: Anchor) -> Anchor {
            (other.at, other.recorded) > (at, recorded) ? other : self
        }
    }

    /// Everything is out and matched that is not optional or given up.
    var isComplete: Bool { head == script.toClient.count && firstAwaited == script.toServer.count }

    /// Nothing more will happen in this session.
    var isOver: Bool { failure != nil || isComplete }

    /// Moves the positions over what is settled.
    mutating func skipSettled() {
        while head < script.toClient.count {
            let step = script.toClient[head]
            guard state[step] != .waiting || script.steps[step].optional else { break }
            head += 1
        }
        while firstGate < script.gates.count, state[script.gates[firstGate]] != .waiting { firstGate += 1 }
        while firstAwaited < script.toServer.count {
            let step = script.toServer[firstAwaited]
            guard state[step] != .waiting || script.steps[step].optional else { break }
            firstAwaited += 1
        }
    }
}
