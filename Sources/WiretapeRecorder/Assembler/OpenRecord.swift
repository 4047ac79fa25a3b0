internal import WiretapeBytes
package import WiretapeProtocol

/// The payload of an `open` record: texts, each behind its length (four bytes, the lowest first).
package enum OpenRecord {
    package static func encode(_ open: TapeEvent.Open) -> [UInt8] {
        var out: [UInt8] = []
        for text in [
            open.from, open.to, open.upstream, open.tls?.version, open.tls?.alpn, open.tls?.sni, open.tls?.client,
        ] {
            let bytes = Array((text ?? "").utf8)
            for shift in stride(from: 0, to: 32, by: 8) { out.append(UInt8(truncatingIfNeeded: bytes.count >> shift)) }
            out += bytes
        }
        return out
    }

    /// Empty texts are nil; a connection with TLS has a version of it.
    static func decode(_ payload: Span<UInt8>) -> TapeEvent.Open {
        var at = 0
        let from = text(payload, &at)
        let to = text(payload, &at)
        let upstream = text(payload, &at)
        let version = text(payload, &at)
        let alpn = text(payload, &at)
        let sni = text(payload, &at)
        let client = text(payload, &at)
        return TapeEvent.Open(
            from: from, to: to, upstream: upstream,
            tls: version.map { TapeEvent.TLSInfo(version: $0, alpn: alpn, sni: sni, client: client) })
    }

    private static func text(_ payload: Span<UInt8>, _ at: inout Int) -> String? {
        guard payload.count - at >= 4 else { return nil }
        let count = (0..<4).reduce(0) { $0 | Int(payload[at + $1]) << (8 * $1) }
        guard count <= payload.count - at - 4 else { return nil }
        var bytes: [UInt8] = []
        bytes.append(copying: payload.extracting(at + 4..<at + 4 + count))
        at += 4 + count
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
