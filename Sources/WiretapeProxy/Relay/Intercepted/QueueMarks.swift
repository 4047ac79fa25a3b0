internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeIntercept
internal import WiretapeWire

/// What happens when the bytes that stand before it have been written, or are known to have been read by the peer.
struct QueueMarks {
    private var waiting: [Int: QueueMark] = [:]
    private var nextTicket = 1
    /// Acknowledged; the peer is given a moment to read it.
    private var settling: [Settled] = []

    struct Settled {
        var mark: QueueMark
        /// The peer's kernel has all that stood before.
        var isThere: Bool
        var until: WireInstant
    }

    /// - Returns: what names the mark.
    mutating func add(_ mark: QueueMark) -> Int {
        defer { nextTicket += 1 }
        waiting[nextTicket] = mark
        return nextTicket
    }

    mutating func take(_ ticket: Int) -> QueueMark? { waiting.removeValue(forKey: ticket) }

    /// The bytes before the mark were acknowledged. The mark follows after the settle time and the rule's pause.
    mutating func acknowledged(_ ticket: Int, isThere: Bool, at now: WireInstant) {
        guard let mark = take(ticket) else { return }
        let gap = isThere ? InterceptedConnection.settleTime + mark.pause : 0
        settling.append(Settled(mark: mark, isThere: isThere, until: now.advanced(by: gap)))
    }

    var isSettling: Bool { !settling.isEmpty }

    /// Those whose peers have had their moment.
    mutating func takeSettled(by now: WireInstant) -> [Settled] {
        guard !settling.isEmpty else { return [] }
        let due = settling.filter { $0.until <= now }
        if !due.isEmpty { settling.removeAll { $0.until <= now } }
        return due
    }

    /// When the next of them has.
    var next: WireInstant? { settling.isEmpty ? nil : settling.lazy.map { $0.until }.min() }
}

/// Something that happens between the bytes of a held connection.
enum QueueMark {
    /// FIN.
    case fin
    /// The end that a rule wants.
    case end(MessageFate.End, LiveExchange?)
    /// The end that a rule about a send wants for its session, which another connection carries.
    case sessionEnd(MessageFate.End, LiveExchange)
    /// What a rule changes from here on.
    case effects([FaultEffect], LiveExchange?, Direction?, rule: String)

    /// The rule's pause before the mark, in nanoseconds.
    var pause: UInt64 {
        switch self {
        case .end(let end, _), .sessionEnd(let end, _): end.pause
        case .fin, .effects: 0
        }
    }
}
