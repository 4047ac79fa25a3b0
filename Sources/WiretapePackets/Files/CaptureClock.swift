/// How an interface of a pcapng file counts time (`if_tsresol`, `if_tsoffset`).
struct CaptureClock {
    /// Ticks a second; at most 2^63.
    private var ticks: UInt64 = 1_000_000
    /// Seconds that are added.
    var offset: Int64 = 0

    /// - Parameter code: the option's byte: a negative power of 10, or of 2 where its highest bit is set.
    mutating func setResolution(_ code: UInt8) {
        let power = UInt64(code & 0x7f)
        if code & 0x80 != 0 {
            ticks = power < 64 ? 1 << power : 1 << 63
        } else {
            ticks = (0..<min(power, 18)).reduce(1) { value, _ in value * 10 }
        }
    }

    /// A number of ticks as nanoseconds since 1970; times beyond what 64 bits hold become the nearest that they do.
    func nanoseconds(_ count: UInt64) -> UInt64 {
        let (seconds, rest) = count.quotientAndRemainder(dividingBy: ticks)
        let (high, low) = rest.multipliedFullWidth(by: 1_000_000_000)
        let fraction = ticks.dividingFullWidth((high, low)).quotient
        let moved = Int128(seconds) + Int128(offset)
        return UInt64(clamping: moved * 1_000_000_000 + Int128(fraction))
    }
}
