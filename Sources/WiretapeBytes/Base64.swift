// Lifetime: text and tables are lent for the call.

/// Base64 with the standard alphabet and padding (RFC 4648, 4).
package enum Base64 {
    /// Appends the text of `bytes`.
    package static func append(_ bytes: Span<UInt8>, into out: inout [UInt8]) {
        // Else the count of an empty array would be written, which all empty arrays have in one place.
        guard !bytes.isEmpty else { return }
        let letters = alphabet.span
        out.append(addingCapacity: (bytes.count + 2) / 3 * 4) { o in
            var i = 0
            while i + 3 <= bytes.count {
                let word = UInt32(bytes[i]) << 16 | UInt32(bytes[i + 1]) << 8 | UInt32(bytes[i + 2])
                o.append(letters[Int(word >> 18 & 63)])
                o.append(letters[Int(word >> 12 & 63)])
                o.append(letters[Int(word >> 6 & 63)])
                o.append(letters[Int(word & 63)])
                i += 3
            }
            let left = bytes.count - i
            guard left > 0 else { return }
            let word = UInt32(bytes[i]) << 16 | (left > 1 ? UInt32(bytes[i + 1]) << 8 : 0)
            o.append(letters[Int(word >> 18 & 63)])
            o.append(letters[Int(word >> 12 & 63)])
            o.append(left > 1 ? letters[Int(word >> 6 & 63)] : UInt8(ascii: "="))
            o.append(UInt8(ascii: "="))
        }
    }

    package static func encode(_ bytes: Span<UInt8>) -> String {
        var out: [UInt8] = []
        append(bytes, into: &out)
        return String(decoding: out, as: UTF8.self)
    }

    /// The bytes of `text`. Padding may be missing; nil for anything else that the standard does not write, such as
    /// white space, a single letter at the end or bits that are not zero behind the last byte.
    package static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        var count = text.count
        while count > 0, text.count - count < 2, text[count - 1] == UInt8(ascii: "=") { count -= 1 }
        guard count % 4 != 1, count == text.count || text.count % 4 == 0 else { return nil }
        var good = true
        var out: [UInt8] = []
        out.append(addingCapacity: count / 4 * 3 + 2) { o in
            unsafe text.withUnsafeBufferPointer { text in
                unsafe values.withUnsafeBufferPointer { table in
                    var i = 0
                    while i + 4 <= count {
                        let (a, b) = unsafe (UInt32(table[Int(text[i])]), UInt32(table[Int(text[i + 1])]))
                        let (c, d) = unsafe (UInt32(table[Int(text[i + 2])]), UInt32(table[Int(text[i + 3])]))
                        if (a | b | c | d) > 63 { good = false }
                        let word = a << 18 | b << 12 | c << 6 | d
                        o.append(UInt8(truncatingIfNeeded: word >> 16))
                        o.append(UInt8(truncatingIfNeeded: word >> 8))
                        o.append(UInt8(truncatingIfNeeded: word))
                        i += 4
                    }
                    var word: UInt32 = 0
                    var bits: UInt32 = 0
                    while i < count {
                        let value = unsafe UInt32(table[Int(text[i])])
                        if value > 63 { good = false }
                        word = word << 6 | value
                        bits += 6
                        if bits >= 8 {
                            bits -= 8
                            o.append(UInt8(truncatingIfNeeded: word >> bits))
                        }
                        i += 1
                    }
                    if word & (1 << bits - 1) != 0 { good = false }
                }
            }
        }
        return good ? out : nil
    }

    package static func decode(_ text: String) -> [UInt8]? { decode(Array(text.utf8).span) }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private static let values: [UInt8] = {
        var table = [UInt8](repeating: 255, count: 256)
        for (i, letter) in alphabet.enumerated() { table[Int(letter)] = UInt8(i) }
        return table
    }()
}
