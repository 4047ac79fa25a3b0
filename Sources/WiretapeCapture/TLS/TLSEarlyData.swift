/// What a client of TLS 1.3 says before its server has agreed (RFC 8446 section 4.2.10). The server says in its handshake whether it
/// takes it; until then it is kept.
struct TLSEarlyData {
    /// Bytes that are kept.
    private static let mostKept = 1 << 20

    enum Verdict {
        case unknown, taken, refused
    }

    /// The client has said that it does so.
    var isOffered = false
    /// What the server said to it.
    private(set) var verdict = Verdict.unknown
    /// A record of it was opened, so that its key is the right one.
    private(set) var isOpen = false
    private var kept: [([UInt8], UInt64)] = []
    private var keptCount = 0

    /// Whether what the client said may be missing on the tape.
    /// - Parameter sealed: records of the client did not open.
    func isMissing(sealed: Bool) -> Bool { !kept.isEmpty || sealed && isOffered && !isOpen && verdict != .refused }

    /// What was in a record of it.
    /// - Returns: what of it goes on now; nil: it is more than is kept.
    mutating func take(_ bytes: [UInt8], at time: UInt64) -> [([UInt8], UInt64)]? {
        isOpen = true
        switch verdict {
        case .taken: return [(bytes, time)]
        case .refused: return []
        case .unknown: break
        }
        keptCount += bytes.count
        guard keptCount <= TLSEarlyData.mostKept else {
            kept = []
            return nil
        }
        kept.append((bytes, time))
        return []
    }

    /// - Returns: what was kept, where the server takes it.
    mutating func decide(_ isTaken: Bool) -> [([UInt8], UInt64)] {
        verdict = isTaken ? .taken : .refused
        let all = kept
        forget()
        return isTaken ? all : []
    }

    /// That something of it is missing has been told.
    mutating func forget() { (kept, keptCount) = ([], 0) }
}
