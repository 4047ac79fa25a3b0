internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapePlayback
internal import WiretapeProtocol

/// What rules have under way on a connection.
struct LinkFaults: Sendable {
    /// Nothing of the script leaves before.
    var heldUntil: WireInstant?
    /// Messages of the script that wait for that, and what becomes of them then.
    var waiting: [Int: MessageFate] = [:]
    /// Messages that let others pass.
    var parked = ParkedMessages()
    /// Messages of the client that have not arrived yet.
    var incoming: [Incoming] = []
    /// No further message of the client arrives before.
    var incomingHeldUntil: WireInstant?
    /// Payloads that leave later, out of turn: keepalives.
    var later = ParkedMessages()
    /// What begins with the next poll.
    var onNextPoll: [FaultEffect] = []
    /// Moments since the connection's marks.
    var moments = LinkMoments()
    /// Keepalives of ours, for ordinals.
    var keepalives = 0
    /// What the tape of the run is told once the next poll, or the answer, has gone.
    var notes: [FaultNote] = []
    /// A rule has stopped our reads or writes: the client may give the connection up without our hearing of it.
    var isSilent = false

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
}
