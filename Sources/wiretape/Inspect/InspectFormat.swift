/// How rows become text. A format is fed row by row and keeps only what it must.
package protocol InspectFormat {
    /// Before the first row; also when there is none.
    mutating func begin(into out: inout String)
    mutating func append(_ row: InspectRow, into out: inout String)
    /// What was held back for rows to come.
    mutating func finish(into out: inout String)
}

extension InspectFormat {
    package mutating func begin(into out: inout String) {}
    package mutating func finish(into out: inout String) {}
}

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
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    static func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// At most `width` characters, the last one an ellipsis when some are missing.
    static func clipped(_ text: String, _ width: Int) -> String {
        text.count <= width ? text : String(text.prefix(max(0, width - 1))) + "…"
    }
}
