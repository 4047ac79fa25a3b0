internal import WiretapeBytes

/// The content coding that the recorder removes from an answer: a single `gzip` or `deflate`. Other codings stay on the tape
/// and are removed by whoever reads it.
struct RecordedCoding {
    /// `gzip` or `deflate`.
    let name: String
    private let codings: ContentCodings
    private let decoder: ContentDecoder
    private var isBroken = false

    /// Nil for codings that stay.
    /// - Parameter all: none stays that can be removed, since what is inside must be seen.
    init?(_ codings: ContentCodings, all: Bool) {
        guard all || codings.known == [.gzip] || codings.known == [.deflate], !codings.isEmpty,
            let decoder = ContentDecoder(codings)
        else { return nil }
        name = codings.text
        self.codings = codings
        self.decoder = decoder
    }

    /// Decodes a piece; calls `write` with at most 64 KiB at a time. After a fault, told once, pieces come as received:
    /// `isEncoded`.
    mutating func feed(_ bytes: Span<UInt8>, _ write: (Span<UInt8>, _ isEncoded: Bool) -> Void) -> String? {
        guard !isBroken else {
            write(bytes, true)
            return nil
        }
        var used = 0
        while true {
            var out: [UInt8] = []
            let outcome = decoder.feed(bytes, used: &used, limit: 65536, into: &out)
            if !out.isEmpty { write(out.span, false) }
            switch outcome {
            case .more: return nil
            case .full: continue
            case .bad(let fault):
                isBroken = true
                if used < bytes.count { write(bytes.extracting(used..<bytes.count), true) }
                return fault.text
            }
        }
    }

    /// A whole body; nil when it cannot be decoded or is larger than `limit`, then it stays as received.
    func whole(_ bytes: [UInt8], limit: Int) -> [UInt8]? { try? ContentDecoder.whole(bytes, codings, limit: limit) }
}
