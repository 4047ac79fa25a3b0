extension Array where Element == UInt8 {
    /// Appends the bytes of `value`, least significant first.
    @inlinable package mutating func append<T: FixedWidthInteger>(littleEndian value: T) {
        for shift in stride(from: 0, to: T.bitWidth, by: 8) { append(UInt8(truncatingIfNeeded: value >> T(shift))) }
    }

    /// Appends the decimal digits of `value`.
    @inlinable package mutating func append(decimal value: UInt64) {
        // From the last digit to the first; 20 are enough for 2^64-1.
        var digits = InlineArray<20, UInt8>(repeating: UInt8(ascii: "0"))
        var rest = value
        var at = 20
        repeat {
            at -= 1
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            digits[at] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit)
            rest = quotient
        } while rest > 0
        append(copying: digits.span.extracting(at..<20))
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
