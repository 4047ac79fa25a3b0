internal import WiretapeBytes

/// One direction of a TLS connection, cut at its records (RFC 8446 section 5.1).
struct TLSRecordFlow {
    struct Record {
        /// Type, version, length.
        var head: [UInt8]
        var body: [UInt8]

        var kind: UInt8 { head[0] }
    }

    enum Outcome {
        case more
        case record(Record)
        /// The bytes are no record.
        case bad
    }

    static let headSize = 5
    /// The type of records with content, and in TLS 1.3 of all that are protected.
    static let protected: UInt8 = 23
    /// More than any record may have.
    private static let longest = (1 << 14) + 2048

    private var bytes: [UInt8] = []
    private var at = 0
    /// Where records begin is not known: what looks like one has to prove itself.
    private(set) var isLost = false

    mutating func append(_ more: Span<UInt8>) {
        if at > 0 {
            bytes.removeFirst(at)
            at = 0
        }
        bytes.append(copying: more)
    }

    /// Bytes are missing.
    mutating func miss() {
        bytes = []
        at = 0
        isLost = true
    }

    /// The type of the record that has begun and is not whole; nil: there is none.
    var rest: UInt8? { at < bytes.count ? bytes[at] : nil }

    /// The record at hand; where bytes were missing the next place that looks like one.
    mutating func next() -> Outcome {
        while bytes.count - at >= TLSRecordFlow.headSize {
            let count = Int(bytes[at + 3]) << 8 | Int(bytes[at + 4])
            let isOne =
                20...24 ~= bytes[at] && bytes[at + 1] == 3 && bytes[at + 2] <= 4 && count <= TLSRecordFlow.longest
            guard isOne, !isLost || bytes[at] == 23 || bytes[at] == 22 || bytes[at] == 21 else {
                guard isLost else { return .bad }
                at += 1
                continue
            }
            let start = at + TLSRecordFlow.headSize
            guard bytes.count - start >= count else { return .more }
            return .record(Record(head: Array(bytes[at..<start]), body: Array(bytes[start..<start + count])))
        }
        return .more
    }

    /// The record is one: goes on behind it.
    mutating func take(_ record: Record) {
        at += TLSRecordFlow.headSize + record.body.count
        isLost = false
    }

    /// It only looked like one: looks further.
    mutating func refuse() { at += 1 }
}
