internal import WiretapeBytes

/// The payload of an `open` record.
package enum OpenRecord {
    package static func encode(from: String?, to: String?, upstream: String?) -> [UInt8] {
        var out: [UInt8] = []
        for text in [from, to, upstream] {
            let bytes = Array((text ?? "").utf8)
            for shift in stride(from: 0, to: 32, by: 8) { out.append(UInt8(truncatingIfNeeded: bytes.count >> shift)) }
            out += bytes
        }
        return out
    }

    /// `from`, `to`, `upstream`; empty texts are nil.
    static func decode(_ payload: Span<UInt8>) -> [String?] {
        var at = 0
        var texts: [String?] = []
        while at + 4 <= payload.count {
            let n = (0..<4).reduce(0) { $0 | Int(payload[at + $1]) << (8 * $1) }
            at += 4
            guard n <= payload.count - at else { break }
            var bytes: [UInt8] = []
            bytes.append(copying: payload.extracting(at..<at + n))
            texts.append(n == 0 ? nil : String(decoding: bytes, as: UTF8.self))
            at += n
        }
        return texts
    }
}
