internal import WiretapeProtocol

/// The requests and messages of a tape's clients, in recorded order. A server message may be the effect of any that precedes it on the tape,
/// on whatever connection.
struct RecordedCauses: Sendable {
    /// One thing that a client did.
    /// A tape may have a million of them. This order of the properties avoids padding: 24 bytes instead of 32.
    struct Cause: Hashable, Sendable {
        /// On the tape's clock.
        let time: UInt64
        let what: What
        /// On the tape.
        let line: Int32
    }

    enum What: Hashable, Sendable {
        /// A plain request: an index into the exchanges of the tape.
        case request(Int)
        /// The client opened the session.
        case opening(SessionLibrary.ID)
        /// The client sent a message in the session.
        case message(SessionLibrary.ID)
    }

    /// Sorted by line. Empty if the tape has only one session or one exchange.
    let all: [Cause]

    init(_ sessions: [RecordedSession], _ exchanges: [RecordedExchange]) {
        guard sessions.count + exchanges.count > 1 else {
            all = []
            return
        }
        var found: [Cause] = []
        for (i, exchange) in exchanges.enumerated() where !exchange.isNegotiation {
            found.append(Cause(time: exchange.time, what: .request(i), line: Int32(clamping: exchange.line)))
        }
        for (place, session) in sessions.enumerated() where session.refusal == nil && session.obstacle == nil {
            let id = SessionLibrary.ID(place: place)
            if let opening = session.openingPlace {
                found.append(Cause(time: opening.time, what: .opening(id), line: Int32(clamping: opening.line)))
            }
            // Handshakes that a sparse tape leaves out stand on the line of its header.
            for message in session.gates where message.line > 1 {
                found.append(Cause(time: message.time, what: .message(id), line: Int32(clamping: message.line)))
            }
        }
        found.sort { $0.line < $1.line }
        all = found
    }

    /// The index of the first cause behind that line.
    func first(behind line: Int32) -> Int { line == .max ? all.count : first(from: line + 1) }

    /// The index of the first cause on that line or behind it.
    func first(from line: Int32) -> Int {
        var low = 0
        var high = all.count
        while low < high {
            let middle = (low + high) / 2
            if all[middle].line < line { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
