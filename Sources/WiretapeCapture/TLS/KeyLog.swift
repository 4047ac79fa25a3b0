internal import WiretapeBytes

/// The secrets of TLS connections, in the format that browsers and Wireshark share (`SSLKEYLOGFILE`, RFC 9850). Lines may be added
/// while connections are read.
///
/// Memory: at most ``mostEntries`` secrets.
package final class KeyLog {
    package static let mostEntries = 500_000

    private struct Entry: Hashable {
        var label: String
        var random: [UInt8]
    }

    private var secrets: [Entry: [UInt8]] = [:]
    /// Lines that are neither secrets nor comments.
    package private(set) var badLines = 0

    package init() {}

    package var count: Int { secrets.count }

    /// Adds the lines of a file, or of a block of a capture.
    package func add(_ text: Span<UInt8>) {
        var start = 0
        while start < text.count {
            let end = firstIndex(of: 0x0a, in: text, from: start) ?? text.count
            if end - start <= 4096 { line(text.extracting(start..<end)) } else { badLines += 1 }
            start = end + 1
        }
    }

    private func line(_ bytes: Span<UInt8>) {
        let words = String(decoding: [UInt8](copying: bytes), as: UTF8.self).split {
            $0 == " " || $0 == "\r" || $0 == "\t"
        }
        guard let label = words.first, !label.hasPrefix("#") else { return }
        guard words.count == 3, let random = KeyLog.bytes(words[1]), let secret = KeyLog.bytes(words[2]),
            secrets.count < KeyLog.mostEntries
        else { return badLines += 1 }
        secrets[Entry(label: String(label), random: random)] = secret
    }

    /// - Parameter random: the client's of the connection.
    func secret(_ label: String, _ random: [UInt8]) -> [UInt8]? { secrets[Entry(label: label, random: random)] }

    private static func bytes(_ hex: Substring) -> [UInt8]? {
        let digits = Array(hex.utf8)
        guard digits.count % 2 == 0, !digits.isEmpty else { return nil }
        var out: [UInt8] = []
        for i in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digit(digits[i]), let low = digit(digits[i + 1]) else { return nil }
            out.append(high << 4 | low)
        }
        return out
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
