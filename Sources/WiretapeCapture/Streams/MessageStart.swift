internal import WiretapeBytes

/// What the first bytes of a stream, or of a packet behind a gap, look like.
enum MessageStart {
    /// Whether the bytes begin with a request line of HTTP/1 that is whole.
    static func isRequest(_ bytes: Span<UInt8>) -> Bool {
        // "GET / HTTP/1.1" has 14 bytes, and a method one at least.
        guard let end = line(bytes), end >= 12 else { return false }
        var at = 0
        while at < end, isMethod(bytes[at]) { at += 1 }
        guard at > 0, at < 32, bytes[at] == 0x20 else { return false }
        return matches(bytes, end - 8, "HTTP/1.") && bytes[end - 9] == 0x20 && isDigit(bytes[end - 1])
    }

    /// Whether the bytes begin with a status line of HTTP/1 that is whole.
    static func isResponse(_ bytes: Span<UInt8>) -> Bool {
        guard let end = line(bytes), end >= 12, matches(bytes, 0, "HTTP/1."), isDigit(bytes[7]), bytes[8] == 0x20 else {
            return false
        }
        return (9..<12).allSatisfy { isDigit(bytes[$0]) } && (end == 12 || bytes[12] == 0x20)
    }

    /// What the first bytes of a connection's client tell of its protocol.
    enum Guess {
        /// So few of them that nothing can be said.
        case undecided
        case http
        case http2
        case tls
        case other
    }

    /// The first bytes that a client of HTTP/2 sends (RFC 9113, section 3.4).
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    /// The number of its bytes that identify HTTP/2.
    private static let tellingPreface = 16

    static func client(_ bytes: Span<UInt8>) -> Guess {
        guard !bytes.isEmpty else { return .undecided }
        if bytes[0] == 0x16 {
            if bytes.count < 6 { return .undecided }
            return bytes[1] == 3 && bytes[5] == 1 ? .tls : .other
        }
        let count = min(bytes.count, tellingPreface)
        if (0..<count).allSatisfy({ bytes[$0] == preface[$0] }) {
            return count < tellingPreface ? .undecided : .http2
        }
        // A method, then a blank; empty lines before it are allowed.
        var at = 0
        while at < bytes.count, at < 32, bytes[at] == 0x0d || bytes[at] == 0x0a { at += 1 }
        let start = at
        while at < bytes.count, at - start < 32, isMethod(bytes[at]) { at += 1 }
        if at == bytes.count { return .undecided }
        return at > start && bytes[at] == 0x20 ? .http : .other
    }

    /// Where the first line ends, without its line end; nil when it is not whole or very long.
    private static func line(_ bytes: Span<UInt8>) -> Int? {
        guard let end = firstIndex(of: 0x0a, in: bytes, from: 0), end > 0, end < 65536 else { return nil }
        return bytes[end - 1] == 0x0d ? end - 1 : end
    }

    private static func isMethod(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            || byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z")
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    private static func matches(_ bytes: Span<UInt8>, _ at: Int, _ text: String) -> Bool {
        guard at >= 0, bytes.count - at >= text.utf8.count else { return false }
        for (i, byte) in text.utf8.enumerated() where bytes[at + i] != byte { return false }
        return true
    }
}
