extension SystemClock {
    /// Nanoseconds since 1970-01-01 00:00 UTC of a time such as `2026-11-21T02:47:22.123456Z` or `…+01:00` (RFC 3339). Nil for
    /// anything else, and for times before 1970 and from 2262 on.
    package static func nanoseconds(rfc3339 text: String) -> UInt64? {
        let bytes = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int? {
            guard range.upperBound <= bytes.count else { return nil }
            var value = 0
            for i in range {
                guard (0x30...0x39).contains(bytes[i]) else { return nil }
                value = value * 10 + Int(bytes[i] - 0x30)
            }
            return value
        }
        func stands(_ byte: UInt8, _ at: Int) -> Bool { at < bytes.count && bytes[at] == byte }
        guard let year = number(0..<4), stands(UInt8(ascii: "-"), 4), let month = number(5..<7),
            stands(UInt8(ascii: "-"), 7), let day = number(8..<10),
            stands(UInt8(ascii: "T"), 10) || stands(UInt8(ascii: "t"), 10) || stands(0x20, 10),
            let hour = number(11..<13), stands(UInt8(ascii: ":"), 13), let minute = number(14..<16),
            stands(UInt8(ascii: ":"), 16), let second = number(17..<19),
            (1970..<2262).contains(year), (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60,
            second <= 60
        else { return nil }
        var at = 19
        var fraction = 0
        if stands(UInt8(ascii: "."), at) {
            at += 1
            var unit = 100_000_000
            let from = at
            while at < bytes.count, (0x30...0x39).contains(bytes[at]) {
                fraction += Int(bytes[at] - 0x30) * unit
                unit /= 10
                at += 1
            }
            guard at > from else { return nil }
        }
        guard let offset = offset(bytes, at) else { return nil }
        let days = CalendarDay.daysSince1970(year: year, month: month, day: day)
        let seconds = ((days * 24 + hour) * 60 + minute - offset) * 60 + second
        guard seconds >= 0 else { return nil }
        return UInt64(seconds) * 1_000_000_000 + UInt64(fraction)
    }

    /// Minutes east of UTC: `Z`, `+01:00`, `-0830`.
    private static func offset(_ bytes: [UInt8], _ at: Int) -> Int? {
        guard at < bytes.count else { return nil }
        let rest = bytes[at...].filter { $0 != UInt8(ascii: ":") }
        if rest == [UInt8(ascii: "Z")] || rest == [UInt8(ascii: "z")] { return 0 }
        guard rest.count == 5, rest[0] == UInt8(ascii: "+") || rest[0] == UInt8(ascii: "-"),
            rest[1...].allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        let digits = rest.map { Int($0) - 0x30 }
        let minutes = (digits[1] * 10 + digits[2]) * 60 + digits[3] * 10 + digits[4]
        return rest[0] == UInt8(ascii: "-") ? -minutes : minutes
    }
}
