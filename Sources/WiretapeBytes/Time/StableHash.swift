/// FNV-1a, 64 bits: the same value in every process, unlike `Hasher`. For draws and digests, not for secrets.
package struct StableHash: Sendable {
    package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    package init() {}

    package mutating func combine(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x100_0000_01b3
    }

    /// The text and an end mark, so that ("a", "bc") and ("ab", "c") differ.
    package mutating func combine(_ text: String) {
        let bytes = text.utf8.span
        for i in bytes.indices { combine(bytes[i]) }
        combine(UInt8(0xff))
    }

    package mutating func combine(_ number: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) { combine(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
    }
}
