// Lifetime: pointers are into the caller's span and into the free room of the array that is appended to; both are good
// within the closures, and nothing is kept.

/// Writes JSON strings (RFC 8259, 7) from bytes: runs without anything to escape are copied eight bytes at a time, and
/// the check for UTF-8 is done on the way. Only quotes, backslashes and control characters are escaped.
package enum JSONEscape {
    /// Appends `"…"` and returns true, or, when `bytes` are not valid UTF-8, leaves `out` as it was and returns false.
    package static func appendString(_ bytes: Span<UInt8>, into out: inout [UInt8]) -> Bool {
        let start = out.count
        out.append(UInt8(ascii: "\""))
        let valid = unsafe bytes.withUnsafeBufferPointer { b in
            var at = 0
            while at < b.count {
                // The worst byte becomes six. A sequence may reach three bytes over the block, a copy seven.
                let end = min(b.count, at + block)
                var valid = true
                out.append(addingCapacity: 6 * (end - at) + 32) { free in
                    unsafe free.withUnsafeMutableBufferPointer { room, filled in
                        guard let base = room.baseAddress else { return }
                        let from = unsafe base + filled
                        let to = unsafe escape(b, &at, end, from)
                        if let to = unsafe to { filled += unsafe to - from } else { valid = false }
                    }
                }
                guard valid else { return false }
            }
            return true
        }
        if valid { out.append(UInt8(ascii: "\"")) } else { out.removeLast(out.count - start) }
        return valid
    }

    /// Appends `text` as a JSON string.
    package static func appendString(_ text: String, into out: inout [UInt8]) {
        var text = text
        text.withUTF8 { utf8 in
            // A string is always valid.
            _ = unsafe appendString(Span(_unsafeElements: utf8), into: &out)
        }
    }

    /// How many bytes from `from` on stand for themselves within a JSON string: neither a quote, nor a backslash, nor a
    /// control character.
    package static func plainRun(_ bytes: Span<UInt8>, from: Int) -> Int {
        unsafe bytes.withUnsafeBufferPointer { b in
            var i = max(0, from)
            while i + 8 <= b.count {
                let word = unsafe loadWord(b, i)
                // `soft` may err for bytes above 0x7f, which are plain.
                let stops = (soft(word) | hard(word)) & ~word
                if stops != 0 { return i + (stops.trailingZeroBitCount >> 3) - from }
                i += 8
            }
            while i < b.count, unsafe b[i] >= 0x20 && b[i] != 0x22 && b[i] != 0x5c { i += 1 }
            return i - from
        }
    }

    /// Whether more than a third of the bytes are control characters, line ends and tabs not counted: each is six bytes in a
    /// JSON string.
    package static func isMadeOfControls(_ bytes: Span<UInt8>) -> Bool {
        var controls = 0
        for i in bytes.indices {
            let byte = bytes[i]
            controls += byte < 0x20 && byte != 9 && byte != 10 && byte != 13 ? 1 : 0
        }
        return controls > bytes.count / 3
    }

    private static let block = 4096

    /// Escapes `b[at..<end]` (a last sequence may go beyond `end`) to `to` and returns its end; nil when not UTF-8.
    @unsafe private static func escape(
        _ b: UnsafeBufferPointer<UInt8>, _ at: inout Int, _ end: Int, _ to: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8>? {
        var i = at
        var o = unsafe to
        while i < end {
            while i + 32 <= end, unsafe isPlain(b, i) {
                unsafe UnsafeMutableRawPointer(o).copyMemory(from: b.baseAddress! + i, byteCount: 32)
                i += 32
                unsafe o += 32
            }
            // Four words, or until one needs a closer look.
            let words = min(end, i + 32)
            var looked = false
            while i + 8 <= words {
                let word = unsafe loadWord(b, i)
                guard hard(word) == 0 else { looked = true; break }
                unsafe o = unsafe quoted(word, soft(word), o)
                i += 8
            }
            guard looked || i + 8 > end else { continue }
            let closer = min(end, i + 8)
            while i < closer {
                let byte = unsafe b[i]
                if byte < 0x80 {
                    unsafe o = unsafe escape(byte, o)
                    i += 1
                    continue
                }
                repeat {
                    let length = unsafe utf8Length(b, i)
                    guard length > 0 else { return nil }
                    for k in 0..<length { unsafe o[k] = unsafe b[i + k] }
                    i += length
                    unsafe o += length
                } while unsafe i < end && b[i] >= 0x80
            }
        }
        at = i
        return unsafe o
    }

    /// Whether none of the 32 bytes from `at` needs anything.
    @unsafe @inline(__always)
    private static func isPlain(_ b: UnsafeBufferPointer<UInt8>, _ at: Int) -> Bool {
        let (w, x) = unsafe (loadWord(b, at), loadWord(b, at + 8))
        let (y, z) = unsafe (loadWord(b, at + 16), loadWord(b, at + 24))
        return (soft(w) | soft(x) | soft(y) | soft(z)) | (hard(w) | hard(x) | hard(y) | hard(z)) == 0
    }

    private static let low7: UInt64 = 0x7f7f_7f7f_7f7f_7f7f

    /// The high bit of each byte that is below 0x20 or above 0x7f.
    @inline(__always)
    private static func hard(_ word: UInt64) -> UInt64 {
        (~((word & low7) &+ 0x6060_6060_6060_6060) | word) & ~low7
    }

    /// The high bit of each byte that is a quote or a backslash (exact for bytes below 0x80).
    @inline(__always)
    private static func soft(_ word: UInt64) -> UInt64 {
        let quote = ((word ^ 0x2222_2222_2222_2222) & low7) &+ low7
        let slash = ((word ^ 0x5c5c_5c5c_5c5c_5c5c) & low7) &+ low7
        return ~(quote & slash) & ~low7
    }

    /// Eight bytes with a backslash before each that `marks` names, without a branch a byte: JSON within JSON has a quote
    /// every few bytes, at places that no branch predictor guesses.
    @unsafe @inline(__always)
    private static func quoted(
        _ word: UInt64, _ marks: UInt64, _ to: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        var o = unsafe to
        guard marks != 0 else {
            unsafe UnsafeMutableRawPointer(o).storeBytes(of: word.littleEndian, as: UInt64.self)
            return unsafe o + 8
        }
        for shift in stride(from: 0 as UInt64, to: 64, by: 8) {
            unsafe o[0] = UInt8(ascii: "\\")
            unsafe o += Int(truncatingIfNeeded: marks &>> (shift + 7) & 1)
            unsafe o[0] = UInt8(truncatingIfNeeded: word &>> shift)
            unsafe o += 1
        }
        return unsafe o
    }

    @unsafe @inline(__always)
    private static func escape(_ byte: UInt8, _ o: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
            unsafe UnsafeMutableRawPointer(o).storeBytes(
                of: (UInt16(byte) << 8 | UInt16(UInt8(ascii: "\\"))).littleEndian, as: UInt16.self)
            return unsafe o + 2
        }
        guard byte < 0x20 else {
            unsafe o[0] = byte
            return unsafe o + 1
        }
        unsafe o[0] = UInt8(ascii: "\\")
        switch byte {
        case 0x0a: unsafe o[1] = UInt8(ascii: "n")
        case 0x0d: unsafe o[1] = UInt8(ascii: "r")
        case 0x09: unsafe o[1] = UInt8(ascii: "t")
        default:
            let low = byte & 15
            unsafe o[1] = UInt8(ascii: "u")
            unsafe o[2] = UInt8(ascii: "0")
            unsafe o[3] = UInt8(ascii: "0")
            unsafe o[4] = UInt8(ascii: "0") + byte >> 4
            unsafe o[5] = low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") - 10 + low
            return unsafe o + 6
        }
        return unsafe o + 2
    }
}
