extension MessagePackTime {
    /// A timestamp as ``text(of:)`` writes it, in its shortest width; nil for anything else.
    package static func bytes(of text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int64? { Int64(String(decoding: digits[range], as: UTF8.self)) }
        guard digits.count >= 20, digits[4] == UInt8(ascii: "-"), digits[7] == UInt8(ascii: "-"),
            digits[10] == UInt8(ascii: "T"), digits[13] == UInt8(ascii: ":"), digits[16] == UInt8(ascii: ":"),
            digits.last == UInt8(ascii: "Z"), let year = number(0..<4), let month = number(5..<7),
            let day = number(8..<10), let hour = number(11..<13), let minute = number(14..<16),
            let second = number(17..<19), (1...12).contains(month), (1...31).contains(day), (0..<24).contains(hour),
            (0..<60).contains(minute), (0..<60).contains(second),
            let nanoseconds = fraction(digits[19..<digits.count - 1])
        else { return nil }
        let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second
        func big(_ value: UInt64, _ width: Int) -> [UInt8] {
            (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
        }
        if seconds >= 0, seconds < 1 << 34 {
            if nanoseconds == 0, seconds < 1 << 32 { return big(UInt64(seconds), 4) }
            return big(nanoseconds << 34 | UInt64(seconds), 8)
        }
        return big(nanoseconds, 4) + big(UInt64(bitPattern: seconds), 8)
    }

    /// `.25` → 250,000,000; nothing → 0.
    private static func fraction(_ digits: ArraySlice<UInt8>) -> UInt64? {
        guard let point = digits.first else { return 0 }
        guard point == UInt8(ascii: "."), (2...10).contains(digits.count) else { return nil }
        var value: UInt64 = 0
        for i in 1...9 {
            let digit = i < digits.count ? digits[digits.startIndex + i] : UInt8(ascii: "0")
            guard (0x30...0x39).contains(digit) else { return nil }
            value = value * 10 + UInt64(digit - 0x30)
        }
        return value
    }

    /// Days since 1970-01-01 of the Gregorian calendar, with years that begin in March.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let fromMarch = month > 2 ? month - 3 : month + 9
        let shifted = month > 2 ? year : year - 1
        let leaps = shifted / 4 - shifted / 100 + shifted / 400
        return shifted * 365 + leaps + (153 * fromMarch + 2) / 5 + day - 1 - 719_468
    }
}
