/// Durations as the command line spells them: `250ms`, `2s`, `1.5s`, `1m`, `2h`, `10us`, `0`.
package enum Durations {
    /// Nanoseconds, or nil when `text` is no duration or is too large.
    package static func nanoseconds(_ text: String) -> UInt64? {
        if text == "0" { return 0 }
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let units: [String: UInt64] = [
            "ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "m": 60_000_000_000, "h": 3_600_000_000_000,
        ]
        guard let unit = units[String(text.dropFirst(digits.count))] else { return nil }
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        guard let first = parts.first, parts.count <= 2, let whole = UInt64(first) else { return nil }
        var (sum, overflow) = whole.multipliedReportingOverflow(by: unit)
        if overflow { return nil }
        if parts.count == 2 {
            guard !parts[1].isEmpty, parts[1].count <= 9, let fraction = UInt64(parts[1]) else { return nil }
            let scale = parts[1].reduce(UInt64(1)) { power, _ in power * 10 }
            let (product, tooMuch) = fraction.multipliedReportingOverflow(by: unit)
            if tooMuch { return nil }
            (sum, overflow) = sum.addingReportingOverflow(product / scale)
            if overflow { return nil }
        }
        return sum
    }
}
