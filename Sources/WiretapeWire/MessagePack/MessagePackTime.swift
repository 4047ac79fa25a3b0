/// The timestamp extension (type -1) of MessagePack in its three widths.
enum MessagePackTime {
    /// `1984-02-29T00:00:00Z`, with as many digits behind the seconds as there are; nil for years beyond 1 to 9999 and
    /// for what is no timestamp.
    package static func text(of bytes: [UInt8]) -> String? {
        var nanoseconds: UInt64 = 0
        let seconds: Int64
        let word = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        switch bytes.count {
        case 4: seconds = Int64(word)
        case 8:
            nanoseconds = word >> 34
            seconds = Int64(word & (1 << 34 - 1))
        case 12:
            nanoseconds = word >> 32
            seconds = Int64(bitPattern: bytes.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        default: return nil
        }
        guard nanoseconds < 1_000_000_000, (-62_135_596_800...253_402_300_799).contains(seconds) else { return nil }
        let day = (seconds - 86_399 * (seconds < 0 ? 1 : 0)) / 86_400
        let second = seconds - day * 86_400
        var text = date(day) + "T" + [second / 3_600, second / 60 % 60, second % 60].map(two).joined(separator: ":")
        if nanoseconds > 0 {
            var digits = String(1_000_000_000 + nanoseconds).dropFirst()
            while digits.hasSuffix("0") { digits = digits.dropLast() }
            text += "." + digits
        }
        return text + "Z"
    }

    /// A day of the Gregorian calendar, counted from 1970-01-01. Years begin in March here, so that the leap day is the
    /// last of a year, in cycles of 400 years.
    private static func date(_ day: Int64) -> String {
        let shifted = day + 719_468  // since 0000-03-01: positive in all years that are written
        let ofCycle = shifted % 146_097
        let year = (ofCycle - ofCycle / 1_460 + ofCycle / 36_524 - ofCycle / 146_096) / 365
        let ofYear = ofCycle - (365 * year + year / 4 - year / 100)
        let fromMarch = (5 * ofYear + 2) / 153
        let month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
        let civil = shifted / 146_097 * 400 + year + (month <= 2 ? 1 : 0)
        let digits = String(10_000 + civil).dropFirst()
        return "\(digits)-\(two(month))-\(two(ofYear - (153 * fromMarch + 2) / 5 + 1))"
    }

    private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
