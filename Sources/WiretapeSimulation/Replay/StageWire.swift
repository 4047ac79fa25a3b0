internal import WiretapeBytes
internal import WiretapeReplay
internal import WiretapeWire

/// A connection of an ``EngineStage``.
struct StageWire: Sendable {
    let client: Int
    let slot: Int
    let latency: UInt64
    /// Of the client's sessions, the one whose messages it carries.
    var session = 0
    var isOpened = false
    /// It carries a plain request and nothing of a session.
    var isPlain = false
    /// A request has no answer yet; and which.
    var isAsked = false
    var asked: RequestHead?
    var isUpgraded = false
    var isStreaming = false
    /// The client still listens.
    var isHeard = true
    /// The engine has been told of the client's end.
    var isTold = false
    /// The engine, or the client's end, has ended it: nothing more arrives.
    var isOver = false
    var saidClose = false
    /// Whether a rule has stopped the reading of the connection.
    var isDeaf = false
    /// The client's actions that arrived since then.
    var kept: [(action: ClientAction, order: Int)] = []
    /// A rule has stopped the writing.
    var isStopped = false
    /// The engine has ended it in order: what is queued still goes out.
    var isEnding = false
    /// What the client sent before this is dropped.
    var dropsBefore = 0
    var untaken: [StageItem] = []
    private var sent = 0
    private var lastUp = WireInstant.zero
    var lastTaken = WireInstant.zero
    var lastDown = WireInstant.zero

    var isOpenSocket: Bool { isUpgraded && !isOver && !isTold && isHeard }

    init(client: Int, slot: Int, latency: UInt64) {
        self.client = client
        self.slot = slot
        self.latency = latency
    }

    /// The client does something. A reset overtakes half the time what was on its way.
    mutating func say(
        _ action: ClientAction, at now: WireInstant, _ random: inout SplitMix64, _ queue: inout StageQueue<StageEvent>,
        _ c: ConnectionID
    ) {
        if case .end(_, reset: true) = action, random.below(2) == 0 { dropsBefore = sent }
        lastUp = max(lastUp, now.advanced(by: latency))
        queue.add(.up(c, action, order: sent), at: lastUp)
        sent += 1
    }
}
