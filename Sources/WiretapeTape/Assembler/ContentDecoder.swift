internal import WiretapeBytes

/// Removes a content coding for the tape. `gzip` and `deflate` (zlib or, as some servers send it, raw) are known.
final class ContentDecoder {
    /// `gzip` or `deflate`.
    let name: String
    private var inflater: Inflater?
    private var received = 0
    private var total = 0
    private var isBroken = false

    /// Nil for codings that stay.
    init?(_ coding: String) {
        switch coding.lowercased() {
        case "gzip", "x-gzip": name = "gzip"
        case "deflate": name = "deflate"
        default: return nil
        }
    }

    /// Decodes a piece; calls `write` with at most 64 KiB at a time. After a fault, told once, pieces come as received.
    func feed(_ bytes: Span<UInt8>, _ write: (Span<UInt8>) -> Void) -> String? {
        guard !isBroken else {
            write(bytes)
            return nil
        }
        guard !bytes.isEmpty else { return nil }
        if inflater == nil { inflater = Inflater(format(bytes[0])) }
        received += bytes.count
        var used = 0
        while true {
            var out: [UInt8] = []
            let outcome = inflater!.feed(bytes, used: &used, limit: 65536, into: &out)
            total += out.count
            if !out.isEmpty { write(out.span) }
            switch outcome {
            case .full where !isBomb: continue
            case .end where used < bytes.count && !isBomb: continue
            case .more, .end: return nil
            case .full: return broken("too much comes out of it", bytes, used, write)
            case .bad(let fault): return broken("\(fault)", bytes, used, write)
            }
        }
    }

    private var isBomb: Bool {
        total > TapeAssembler.defaultInflateLimit && total / TapeAssembler.bombRatio > received
    }

    private func broken(_ why: String, _ bytes: Span<UInt8>, _ used: Int, _ write: (Span<UInt8>) -> Void) -> String {
        isBroken = true
        inflater = nil
        if used < bytes.count { write(bytes.extracting(used..<bytes.count)) }
        return why
    }

    /// A whole body; nil when it is damaged or larger than `limit`, then it stays as received.
    func whole(_ bytes: Span<UInt8>, limit: Int) -> [UInt8]? {
        var inflater = Inflater(format(bytes[0]))
        var used = 0
        var out: [UInt8] = []
        while true {
            switch inflater.feed(bytes, used: &used, limit: limit + 1 - out.count, into: &out) {
            case .end where used < bytes.count: continue
            case .end: return out.count <= limit ? out : nil
            case .more, .full, .bad: return nil
            }
        }
    }

    private func format(_ first: UInt8) -> Inflater.Format {
        // A zlib stream begins with method 8; a raw one of a sane encoder does not.
        name == "gzip" ? .gzip : first & 0x0f == 8 ? .zlib : .raw(windowBits: 15)
    }
}
