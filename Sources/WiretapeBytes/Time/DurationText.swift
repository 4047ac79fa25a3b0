/// Durations as people write them: `250ms`, `2s`, `1.5s`, `1m`, `1h`; nanoseconds inside.
package enum DurationText {
    /// Nanoseconds, or nil for anything but a number that is not negative and a unit (`ns us ms s m h`; a bare `0` is a
    /// duration). Fractions of a nanosecond are dropped; more than 292 years are refused.
    package static func parse(_ text: some StringProtocol) -> UInt64? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard let first = digits.first, first != ".", digits.last != ".", let value = Double(digits) else { return nil }
        let unit = text[digits.endIndex...]
        guard let (_, scale) = units.first(where: { $0.name == unit }) else {
            return value == 0 && unit.isEmpty ? 0 : nil
        }
        let nanoseconds = value * scale
        guard nanoseconds < 9.2e18 else { return nil }
        return UInt64(nanoseconds.rounded())
    }

    /// The shortest of those spellings: `0s`, `20ms`, `1.5s`, `2m`.
    package static func describe(_ nanoseconds: UInt64) -> String {
        guard nanoseconds > 0 else { return "0s" }
        if nanoseconds % 3_600_000_000_000 == 0 { return "\(nanoseconds / 3_600_000_000_000)h" }
        if nanoseconds % 60_000_000_000 == 0 { return "\(nanoseconds / 60_000_000_000)m" }
        for (name, scale) in units where nanoseconds >= UInt64(scale) && name != "h" && name != "m" {
            return decimal(nanoseconds, per: UInt64(scale)) + name
        }
        return "\(nanoseconds)ns"
    }

    /// The same with a blank before the unit, for sentences: `30 s`.
    package static func spoken(_ nanoseconds: UInt64) -> String {
        let text = describe(nanoseconds)
        let digits = text.prefix { $0.isNumber || $0 == "." }
        return "\(digits) \(text[digits.endIndex...])"
    }

    /// Milliseconds with up to three decimals, as reports print them: `812`, `0.5`, `2000.125`.
    package static func milliseconds(_ nanoseconds: UInt64) -> String {
        decimal(nanoseconds / 1000 * 1000, per: 1_000_000)
    }

    private static let units: [(name: String, scale: Double)] = [
        ("h", 3.6e12), ("m", 6e10), ("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1),
    ]

    /// `value / scale` exactly, without zeros at the end; `scale` is a power of ten.
    private static func decimal(_ value: UInt64, per scale: UInt64) -> String {
        var fraction = value % scale
        guard fraction > 0 else { return "\(value / scale)" }
        var digits = 0
        var width = scale
        while width > 1 {
            width /= 10
            digits += 1
        }
        while fraction % 10 == 0 {
            fraction /= 10
            digits -= 1
        }
        let text = "\(fraction)"
        return "\(value / scale)." + String(repeating: "0", count: digits - text.count) + text
    }
}
