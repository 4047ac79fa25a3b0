/// Text in columns.
enum Columns {
    /// Seconds with milliseconds: `1.200`.
    static func seconds(_ nanoseconds: UInt64) -> String {
        let milliseconds = nanoseconds / 1_000_000
        let fraction = "\(milliseconds % 1_000)"
        return "\(milliseconds / 1_000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
    }

    /// A gap as people say it, with about three digits: `0.4 ms`, `812 ms`, `2.01 s`, `12 min`.
    static func gap(_ nanoseconds: UInt64) -> String {
        let microseconds = nanoseconds / 1_000
        switch microseconds {
        case 0..<10_000: return decimal(microseconds / 100, 1) + " ms"
        case 10_000..<1_000_000: return "\(microseconds / 1_000) ms"
        case 1_000_000..<100_000_000: return decimal(microseconds / 10_000, 2) + " s"
        case 100_000_000..<600_000_000: return "\(microseconds / 1_000_000) s"
        default: return "\(microseconds / 60_000_000) min"
        }
    }

    /// `value` with that many decimals.
    private static func decimal(_ value: UInt64, _ places: Int) -> String {
        let text = String(repeating: "0", count: max(0, places + 1 - "\(value)".count)) + "\(value)"
        return "\(text.dropLast(places)).\(text.suffix(places))"
    }

    static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - cells(text))) + text
    }

    static func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - cells(text)))
    }

    /// At most `width` cells, the last one an ellipsis when something is missing.
    static func clipped(_ text: String, _ width: Int) -> String {
        guard cells(text) > width else { return text }
        var kept = ""
        var used = 0
        for character in text {
            used += cells(character)
            guard used < width else { break }
            kept.append(character)
        }
        return kept + "…"
    }

    /// How many cells of a terminal the text takes.
    static func cells(_ text: some StringProtocol) -> Int {
        let bytes = text.utf8
        return bytes.allSatisfy { $0 < 0x80 } ? bytes.count : text.reduce(0) { $0 + cells($1) }
    }

    /// Two for what East Asian terminals draw wide, and for pictures.
    private static func cells(_ character: Character) -> Int {
        character.unicodeScalars.contains { scalar in wide.contains { $0.contains(scalar.value) } } ? 2 : 1
    }

    /// Blocks of the East Asian Width classes W and F (Unicode, UAX 11), and pictures.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115f, 0x2e80...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60,
        0xffe0...0xffe6, 0x1f300...0x1f64f, 0x1f680...0x1f6ff, 0x1f900...0x1f9ff, 0x1fa70...0x1faff, 0x20000...0x3fffd,
    ]
}
