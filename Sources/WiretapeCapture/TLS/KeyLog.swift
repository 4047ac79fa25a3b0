internal import WiretapeBytes

/// The secrets of TLS connections, in the format that browsers and Wireshark share (`SSLKEYLOGFILE`, RFC 9850). Lines may be added
/// while connections are read.
///
/// Memory: at most as many secrets as it was made for, ``mostEntries`` where nothing is said.
package final class KeyLog {
    package static let mostEntries = 500_000

    private struct Entry: Hashable {
        var label: String
        var random: [UInt8]
    }

    /// What a piece of a log came to.
    package struct Lines {
        /// Secrets, also those that were known.
        package var secrets = 0
        /// Lines that are neither secrets nor comments.
        package var bad = 0
        /// The first of them, from 1.
        package var firstBad: Int?
        /// Secrets beyond those that are kept.
        package var tooMany = 0
    }

    private enum Line {
        case secret, comment, bad, tooMany
    }

    private var secrets: [Entry: [UInt8]] = [:]

    private let most: Int

    /// - Parameter most: secrets that are kept.
    package init(most: Int = KeyLog.mostEntries) { self.most = most }

    package var count: Int { secrets.count }

    /// Adds the lines of a file, or of a block of a capture.
    @discardableResult
    package func add(_ text: Span<UInt8>) -> Lines {
        var lines = Lines()
        var (start, number) = (0, 1)
        while start < text.count {
            let end = firstIndex(of: 0x0a, in: text, from: start) ?? text.count
            switch end - start <= 4096 ? line(text.extracting(start..<end)) : .bad {
            case .secret: lines.secrets += 1
            case .comment: break
            case .tooMany: lines.tooMany += 1
            case .bad:
                lines.bad += 1
                lines.firstBad = lines.firstBad ?? number
            }
            start = end + 1
            number += 1
        }
        return lines
    }

    private func line(_ bytes: Span<UInt8>) -> Line {
        let words = String(decoding: [UInt8](copying: bytes), as: UTF8.self).split {
            $0 == " " || $0 == "\r" || $0 == "\t"
        }
        guard let label = words.first, !label.hasPrefix("#") else { return .comment }
        guard words.count == 3, let random = KeyLog.bytes(words[1]), let secret = KeyLog.bytes(words[2]) else {
            return .bad
        }
        guard secrets.count < most else { return .tooMany }
        secrets[Entry(label: String(label), random: random)] = secret
        return .secret
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
