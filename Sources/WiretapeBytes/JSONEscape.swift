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

    private static let block = 4096

    /// Escapes `b[at..<end]` (a last sequence may go beyond `end`) to `to` and returns its end; nil when not UTF-8.
    @unsafe private static func escape(
        _ b: UnsafeBufferPointer<UInt8>, _ at: inout Int, _ end: Int, _ to: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8>? {
        var i = at
        var o = unsafe to
        while i < end {
            if i + 8 <= end {
                let word = unsafe loadWord(b, i)
                unsafe UnsafeMutableRawPointer(o).storeBytes(of: word.littleEndian, as: UInt64.self)
                let stops = specials(word)
                let plain = stops.trailingZeroBitCount >> 3
                i += plain
                unsafe o += plain
                if plain == 8 { continue }
            }
            let byte = unsafe b[i]
            if byte >= 0x80 {
                let length = unsafe utf8Length(b, i)
                guard length > 0 else { return nil }
                for k in 0..<length { unsafe o[k] = unsafe b[i + k] }
                i += length
                unsafe o += length
            } else {
                unsafe o = unsafe escape(byte, o)
                i += 1
            }
        }
        at = i
        return unsafe o
    }

    /// The high bit of each byte that is a quote, a backslash, below 0x20 or above 0x7f.
    @inline(__always)
    private static func specials(_ word: UInt64) -> UInt64 {
        let low7: UInt64 = 0x7f7f_7f7f_7f7f_7f7f
        let quote = word ^ 0x2222_2222_2222_2222
        let slash = word ^ 0x5c5c_5c5c_5c5c_5c5c
        let notControl = (word & low7) &+ 0x6060_6060_6060_6060
        let notQuote = (quote & low7) &+ low7
        let notSlash = (slash & low7) &+ low7
        return (~(notControl & notQuote & notSlash) | word) & ~low7
    }

    @unsafe @inline(__always)
    private static func escape(_ byte: UInt8, _ o: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
        let letter: UInt8
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): letter = byte
        case 0x0a: letter = UInt8(ascii: "n")
        case 0x0d: letter = UInt8(ascii: "r")
        case 0x09: letter = UInt8(ascii: "t")
        case 0x00..<0x20:
            let low = byte & 15
            unsafe o[0] = UInt8(ascii: "\\")
            unsafe o[1] = UInt8(ascii: "u")
            unsafe o[2] = UInt8(ascii: "0")
            unsafe o[3] = UInt8(ascii: "0")
            unsafe o[4] = UInt8(ascii: "0") + byte >> 4
            unsafe o[5] = low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") - 10 + low
            return unsafe o + 6
        default:
            unsafe o[0] = byte
            return unsafe o + 1
        }
        unsafe o[0] = UInt8(ascii: "\\")
        unsafe o[1] = letter
        return unsafe o + 2
    }
}
