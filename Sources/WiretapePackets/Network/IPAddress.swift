internal import WiretapeBytes

/// An IPv4 or IPv6 address.
package struct IPAddress: Hashable, Comparable, Sendable {
    private let high: UInt64
    private let low: UInt64
    package let isV4: Bool

    init(v4: UInt32) {
        (high, low, isV4) = (0, UInt64(v4), true)
    }

    /// The 16 bytes at `at`, which must be within the span.
    init(v6 bytes: Span<UInt8>, at: Int) {
        high = bytes.network(UInt64.self, at: at)
        low = bytes.network(UInt64.self, at: at + 8)
        isV4 = false
    }

    package static func < (a: Self, b: Self) -> Bool {
        if a.isV4 != b.isV4 { return a.isV4 }
        return (a.high, a.low) < (b.high, b.low)
    }

    /// `127.0.0.1`, `::1`.
    package var text: String {
        if isV4 {
            let bytes: [UInt64] = [low >> 24 & 0xff, low >> 16 & 0xff, low >> 8 & 0xff, low & 0xff]
            return bytes.map { String($0) }.joined(separator: ".")
        }
        var words: [UInt64] = []
        for half in [high, low] {
            for shift: UInt64 in [48, 32, 16, 0] { words.append(half >> shift & 0xffff) }
        }
        // The longest run of two and more zeroes is left out (RFC 5952).
        var best = 0..<0
        var at = 0
        while at < 8 {
            var end = at
            while end < 8, words[end] == 0 { end += 1 }
            if end - at > max(1, best.count) { best = at..<end }
            at = max(end, at + 1)
        }
        func hex(_ words: ArraySlice<UInt64>) -> String {
            words.map { String($0, radix: 16) }.joined(separator: ":")
        }
        return best.isEmpty ? hex(words[...]) : hex(words[..<best.lowerBound]) + "::" + hex(words[best.upperBound...])
    }
}

/// One end of a TCP connection.
package struct TCPEndpoint: Hashable, Comparable, Sendable {
    package let address: IPAddress
    package let port: UInt16

    package static func < (a: Self, b: Self) -> Bool {
        a.address == b.address ? a.port < b.port : a.address < b.address
    }

    /// `127.0.0.1:5000`, `[::1]:5000`.
    package var text: String { address.isV4 ? "\(address.text):\(port)" : "[\(address.text)]:\(port)" }
}
