internal import WiretapeAttempts
internal import WiretapeProtocol
internal import WiretapeReport

/// What a run is to tell of itself at its end, beyond its sessions.
struct RunRecord {
    private(set) var divergences = KeptTexts()
    /// Those of the divergences that are no client's: the replay had nothing to answer an attempt with.
    private(set) var ownRefusals: [String] = []
    /// Sessions whose transport is not served: said once.
    private var refusedSessions: Set<Int> = []
    /// Who came before anybody had claimed a session.
    var visitors = Visitors()
    /// All requests of the clients.
    var requests = RequestCounts()
    /// Somebody asked for what the tape lacks, and is heard by a recorder.
    private(set) var hasPassedOn = false
    /// Known at the run's end: its clients have ended before.
    private(set) var clientsAreGone = false

    mutating func ends(clientsAreGone: Bool) { self.clientsAreGone = clientsAreGone }

    mutating func passOn() { hasPassedOn = true }

    mutating func diverged(_ text: String) { divergences.append(text) }

    /// The replay had nothing to answer an attempt with. A client that tries again and again is told of once.
    mutating func refused(_ text: String) {
        guard ownRefusals.count < KeptTexts.most, !ownRefusals.contains(text) else { return }
        ownRefusals.append(text)
        divergences.append(text)
    }

    /// A session that cannot be played was asked for.
    /// - Returns: whether it is the first time.
    mutating func obstructed(_ session: Int) -> Bool { refusedSessions.insert(session).inserted }
}
