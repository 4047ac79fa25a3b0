// Lifetime: the buffer is the caller's, lent for the call.

/// Whether `bytes` are valid UTF-8 (Unicode, table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF).
package func isValidUTF8(_ bytes: Span<UInt8>) -> Bool {
    unsafe bytes.withUnsafeBufferPointer { b in
        var i = 0
        while i < b.count {
            while i + 16 <= b.count, unsafe (loadWord(b, i) | loadWord(b, i + 8)) & 0x8080_8080_8080_8080 == 0 {
                i += 16
            }
            guard i < b.count else { return true }
            let length = unsafe utf8Length(b, i)
            guard length > 0 else { return false }
            i += length
        }
        return true
    }
}

/// Whether there is nothing but characters of ASCII that are printed.
package func isPrintableASCII(_ bytes: Span<UInt8>) -> Bool {
    unsafe bytes.withUnsafeBufferPointer { b in
        var i = 0
        while i + 8 <= b.count {
            let word = unsafe loadWord(b, i)
            // A byte has its highest bit, loses it when 0x20 is taken away, or gets it when 1 is added.
            let odd = word | (word &- 0x2020_2020_2020_2020) | (word &+ 0x0101_0101_0101_0101)
            guard odd & 0x8080_8080_8080_8080 == 0 else { return false }
            i += 8
        }
        while i < b.count {
            guard unsafe b[i] &- 0x20 < 0x5f else { return false }
            i += 1
        }
        return true
    }
}

/// Eight bytes from `at`, the first in the lowest bits.
@unsafe @inline(__always)
func loadWord(_ b: UnsafeBufferPointer<UInt8>, _ at: Int) -> UInt64 {
    unsafe UInt64(littleEndian: UnsafeRawBufferPointer(b).loadUnaligned(fromByteOffset: at, as: UInt64.self))
}

/// Bytes of the valid sequence at `at`, which must be within `b`; 0 when it is not valid.
@unsafe @inline(__always)
func utf8Length(_ b: UnsafeBufferPointer<UInt8>, _ at: Int) -> Int {
    let first = unsafe b[at]
    func follows(_ offset: Int, _ low: UInt8 = 0x80, _ high: UInt8 = 0xbf) -> Bool {
        guard at + offset < b.count else { return false }
        let byte = unsafe b[at + offset]
        return byte >= low && byte <= high
    }
    switch first {
    case 0x00...0x7f: return 1
    case 0xc2...0xdf: return follows(1) ? 2 : 0
    case 0xe0: return follows(1, 0xa0) && follows(2) ? 3 : 0
    case 0xed: return follows(1, 0x80, 0x9f) && follows(2) ? 3 : 0
    case 0xe1...0xef: return follows(1) && follows(2) ? 3 : 0
    case 0xf0: return follows(1, 0x90) && follows(2) && follows(3) ? 4 : 0
    case 0xf1...0xf3: return follows(1) && follows(2) && follows(3) ? 4 : 0
    case 0xf4: return follows(1, 0x80, 0x8f) && follows(2) && follows(3) ? 4 : 0
    default: return 0
    }
}
