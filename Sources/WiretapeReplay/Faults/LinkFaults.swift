internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapePlayback
internal import WiretapeProtocol

/// What rules have under way on a connection.
struct LinkFaults: Sendable {
    /// Nothing of the script leaves before.
    private(set) var heldUntil: WireInstant?
    /// Messages of the script that wait for that, and what becomes of them then.
    private var waiting: [Int: MessageFate] = [:]
    /// Messages that let others pass.
    var parked = ParkedMessages()
    /// Messages of the client that have not arrived yet.
    private var incoming: [Incoming] = []
    /// No further message of the client arrives before.
    private var incomingHeldUntil: WireInstant?
    /// Delayed payloads that are sent outside the order of the script.
    var later = ParkedMessages()
    /// What begins with the next poll.
    private(set) var onNextPoll: [FaultEffect] = []
    /// Moments since the connection's marks.
    var moments = LinkMoments()
    /// The number of generated messages that were sent.
    private var generatedCount = 0
    /// What the tape of the run is told once the next poll, or the answer, has gone.
    private var notes: [FaultNote] = []
    /// A rule has stopped our reads or writes: the client may give the connection up without our hearing of it.
    private(set) var isSilent = false
    /// The connection on which a rule stops Wiretape's writes. No message of the script is sent on it.
    private(set) var stopped: ConnectionID?
    /// Whether that lasts until the connection ends.
    private(set) var isStoppedForGood = false

    struct Incoming: Sendable {
        var message: Message
        var fate: MessageFate?
        var until: WireInstant
    }

    /// When something of it is due that no other clock rings for.
    var nextWake: WireInstant? {
        var next: WireInstant?
        for time in [parked.next, incoming.first?.until, later.next].compactMap(\.self) {
            next = min(next ?? time, time)
        }
        return next
    }

    // MARK: Messages of the script

    mutating func holds(until moment: WireInstant) { heldUntil = moment }

    /// A step waits with what becomes of it: the rules are not asked again.
    mutating func waits(_ step: Int, with fate: MessageFate) { waiting[step] = fate }

    /// What becomes of a step that has waited.
    mutating func takeWaiting(_ step: Int) -> MessageFate? { waiting.removeValue(forKey: step) }

    /// - Returns: the number, from 1, of the generated message that is about to be sent.
    mutating func nextGeneratedOrdinal() -> Int {
        generatedCount += 1
        return generatedCount
    }

    // MARK: Messages of the client

    /// When a message that comes now arrives at the earliest: order is kept, and what comes behind one that is late is late, too.
    func arrival(at now: WireInstant) -> WireInstant { max(now, incoming.last?.until ?? now, incomingHeldUntil ?? now) }

    /// Whether messages of the client have come and not arrived.
    var delaysIncoming: Bool { !incoming.isEmpty }

    mutating func holdsIncoming(until moment: WireInstant) { incomingHeldUntil = moment }

    mutating func arrivesLater(_ one: Incoming) { incoming.append(one) }

    /// Whether the next one has arrived.
    func hasArrived(by now: WireInstant) -> Bool { incoming.first.map { $0.until <= now } ?? false }

    mutating func takeNext() -> Incoming { incoming.removeFirst() }

    // MARK: What is said later

    mutating func awaitsPoll(_ effect: FaultEffect) { onNextPoll.append(effect) }

    /// What waited for it has begun.
    mutating func pollIsThere() { onNextPoll = [] }

    mutating func note(_ more: [FaultNote]) { notes += more }

    mutating func takeNotes() -> [FaultNote] {
        defer { notes = [] }
        return notes
    }

    var hasNotes: Bool { !notes.isEmpty }

    // MARK: Silence

    /// - Parameters:
    ///   - writes: the connection, if the rule also stops Wiretape's writes.
    ///   - forGood: until the connection ends.
    mutating func isSilenced(stopping writes: ConnectionID?, forGood: Bool) {
        isSilent = true
        stopped = writes
        isStoppedForGood = forGood
    }

    mutating func isHeardAgain() {
        isSilent = false
        stopped = nil
    }
}
