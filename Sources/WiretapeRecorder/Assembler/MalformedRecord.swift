internal import WiretapeBytes

/// The payload of a `malformed` record: a reason with a u32 length before it, then the bytes.
package enum MalformedRecord {
    package static func encode(_ reason: String, _ bytes: Span<UInt8>) -> [UInt8] {
        let text = Array(reason.utf8)
        var out: [UInt8] = []
        for shift in stride(from: 0, to: 32, by: 8) { out.append(UInt8(truncatingIfNeeded: text.count >> shift)) }
        out += text
        out.append(copying: bytes)
        return out
    }

    static func decode(_ payload: Span<UInt8>) -> (reason: String, bytes: Range<Int>) {
        guard payload.count >= 4 else { return ("", 0..<payload.count) }
        let n = min((0..<4).reduce(0) { $0 | Int(payload[$1]) << (8 * $1) }, payload.count - 4)
        var text: [UInt8] = []
        text.append(copying: payload.extracting(4..<4 + n))
        return (String(decoding: text, as: UTF8.self), 4 + n..<payload.count)
    }
}
