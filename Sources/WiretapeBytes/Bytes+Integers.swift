extension Array where Element == UInt8 {
    /// Appends the bytes of `value`, least significant first.
    @inlinable package mutating func append<T: FixedWidthInteger>(littleEndian value: T) {
        for shift in stride(from: 0, to: T.bitWidth, by: 8) { append(UInt8(truncatingIfNeeded: value >> T(shift))) }
    }

    /// Appends the decimal digits of `value`.
    @inlinable package mutating func append(decimal value: UInt64) {
        var rest = value
        var digits: UInt64 = 1
        var power: UInt64 = 10
        while digits < 20, value >= power {
            digits += 1
            let (next, overflow) = power.multipliedReportingOverflow(by: 10)
            if overflow { break }
            power = next
        }
        let start = count
        for _ in 0..<digits { append(UInt8(ascii: "0")) }
        var at = start + Int(digits) - 1
        while rest > 0, at >= start {
            self[at] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
            at -= 1
        }
    }
}

extension Span where Element == UInt8 {
    /// The integer whose least significant byte is at `at`. Its bytes must be within the span.
    @inlinable package func littleEndian<T: FixedWidthInteger & UnsignedInteger>(_: T.Type, at: Int) -> T {
        var value: T = 0
        for i in 0..<(T.bitWidth / 8) { value |= T(self[at + i]) << T(8 * i) }
        return value
    }
}
