/// Which messages the kernel has, and which the peer's kernel has acknowledged: positions in the stream of all bytes
/// written, compared with what the stream says is still on its way.
struct SendLedger {
    private(set) var written: UInt64 = 0
    /// Tickets and the position behind their last byte, in order.
    private var sends: [(ticket: UInt64, end: UInt64)] = []
    /// Into `sends`: everything before is told.
    private var firstSend = 0
    private var waits: [(ticket: UInt64, end: UInt64)] = []
    private var lastAcknowledged: UInt64 = 0

    mutating func wrote(_ count: Int) { written += UInt64(count) }

    /// - Parameter unwritten: bytes made and not written yet, those of this message included.
    mutating func add(_ ticket: UInt64, unwritten: Int) {
        sends.append((ticket, written + UInt64(unwritten)))
    }

    mutating func await(_ ticket: UInt64, unwritten: Int) {
        waits.append((ticket, written + UInt64(unwritten)))
    }

    var hasSends: Bool { firstSend < sends.count }
    var hasWaits: Bool { !waits.isEmpty }

    /// Takes the messages that the kernel has.
    /// - Returns: the ticket of the last of them.
    mutating func takeHandedOver(queued: Int) -> UInt64? {
        let taken = written - min(written, UInt64(queued))
        let first = firstSend
        while firstSend < sends.count, sends[firstSend].end <= taken { firstSend += 1 }
        guard firstSend > first else { return nil }
        let last = sends[firstSend - 1].ticket
        if firstSend == sends.count {
            sends.removeAll(keepingCapacity: true)
            firstSend = 0
        } else if firstSend > 1_024, firstSend * 2 > sends.count {
            sends.removeFirst(firstSend)
            firstSend = 0
        }
        return last
    }

    /// Takes the tickets that waited for acknowledgement and have it.
    mutating func takeAcknowledged(queued: Int, unacknowledged: Int) -> [UInt64] {
        let position = written - min(written, UInt64(queued) + UInt64(unacknowledged))
        let count = waits.firstIndex { $0.end > position } ?? waits.count
        defer { waits.removeFirst(count) }
        return waits[..<count].map(\.ticket)
    }

    /// Whether the peer has acknowledged more than at the last call.
    mutating func hasProgressed(queued: Int, unacknowledged: Int) -> Bool {
        let position = written - min(written, UInt64(queued) + UInt64(unacknowledged))
        defer { lastAcknowledged = position }
        return position > lastAcknowledged
    }

    /// Gives up: the tickets that still wait.
    mutating func takeWaits() -> [UInt64] {
        defer { waits = [] }
        return waits.map(\.ticket)
    }
}
