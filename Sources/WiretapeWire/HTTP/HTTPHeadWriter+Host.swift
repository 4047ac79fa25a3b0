internal import WiretapeBytes

extension HTTPHeadWriter {
    /// The bytes of a request head with the value of its Host field replaced, or with a Host field behind the request line
    /// when it has none. Every other byte stays as it is. Of several Host fields, which ``HTTPScanner`` refuses, each is
    /// replaced.
    /// - Parameter raw: a whole head as in ``HTTPHeadInfo/raw``.
    package static func rewritingHost(_ raw: [UInt8], to host: String) -> [UInt8] {
        let bytes = raw.span
        var out: [UInt8] = []
        out.reserveCapacity(raw.count + host.utf8.count + 8)
        var at = 0
        var hasHost = false
        var endOfRequestLine = 0
        while let feed = firstIndex(of: 0x0a, in: bytes, from: at) {
            if at == 0 { endOfRequestLine = feed + 1 }
            if at > 0, isHost(bytes, at) {
                hasHost = true
                var end = feed
                if end > at + 5, bytes[end - 1] == 0x0d { end -= 1 }
                // The name keeps its spelling, and one blank follows.
                out.append(copying: bytes.extracting(at..<at + 5))
                out.append(0x20)
                out.append(utf8: host)
                out.append(copying: bytes.extracting(end..<feed + 1))
            } else {
                out.append(copying: bytes.extracting(at..<feed + 1))
            }
            at = feed + 1
        }
        out.append(copying: bytes.extracting(at..<bytes.count))
        guard !hasHost else { return out }
        let hasCR = endOfRequestLine > 1 && bytes[endOfRequestLine - 2] == 0x0d
        let line = Array("Host: \(host)\(hasCR ? "\r\n" : "\n")".utf8)
        out.insert(contentsOf: line, at: endOfRequestLine)
        return out
    }

    /// Whether `host:` in any case stands at `at`.
    private static func isHost(_ bytes: Span<UInt8>, _ at: Int) -> Bool {
        bytes.count - at > 5 && bytes[at] | 0x20 == UInt8(ascii: "h") && bytes[at + 1] | 0x20 == UInt8(ascii: "o")
            && bytes[at + 2] | 0x20 == UInt8(ascii: "s") && bytes[at + 3] | 0x20 == UInt8(ascii: "t")
            && bytes[at + 4] == UInt8(ascii: ":")
    }
}
