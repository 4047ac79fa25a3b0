/// A client's connection as a session sees it.
struct Link: Sendable {
    let id: ConnectionID
    let openedAt: WireInstant
    /// Reads the client's messages.
    var codec: any FrameCodec
    var ids = IDMap()
    /// The recorded chain of each live one.
    var chains: [Chain: Script.ChainPlace] = [:]
    /// The protocol's handshake is served, or there is none.
    var readyAt: WireInstant?
    /// Steps that are sent again out of turn: the handshake, and answers to repeated requests.
    var again: [(step: Int, due: WireInstant)] = []
    /// Sends that the kernel has not wholly taken, in order.
    var underWay: [(ticket: UInt64, steps: [Int])] = []
    var cut = Cut.none
    var nextKeepalive: WireInstant?
    var lastHeard: WireInstant

    init(id: ConnectionID, codec: any FrameCodec, at now: WireInstant) {
        self.id = id
        self.codec = codec
        openedAt = now
        lastHeard = now
    }

    /// An end that waits until the peer has what goes before it. Nothing else is sent meanwhile.
    enum Cut: Sendable {
        case none
        case acknowledging(ticket: UInt64, Ending)
        case settling(until: WireInstant, Ending, complete: Bool)
    }

    /// What the end is, and whose.
    struct Ending: Sendable {
        var verdict: FaultVerdict
        /// Nil: the tape's.
        var hit: FaultHit?
        /// The direction in which nothing later passes while the end is on its way.
        var silences = Direction.toClient
    }

    /// Whether what the client says still arrives: an end that follows a message to the client does not hold it back.
    var hears: Bool {
        switch cut {
        case .none: true
        case .acknowledging(_, let ending), .settling(_, let ending, _): ending.silences == .toClient
        }
    }

    var isCut: Bool { if case .none = cut { false } else { true } }
}
