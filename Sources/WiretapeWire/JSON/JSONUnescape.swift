/// Reads the escapes of JSON strings (RFC 8259, 7). Whoever reads strings of JSON, or of a language that has taken its escapes over,
/// reads them by this; how an error is told is theirs.
package enum JSONUnescape {
    /// What is wrong with an escape, and the byte at which that is seen.
    package enum Fault: Error, Hashable, Sendable {
        /// The text ends within it.
        case end(at: Int)
        /// One of the four digits is none.
        case digit(at: Int)
        /// The letter is none of JSON's; `at` is that of the backslash.
        case letter(UInt8, at: Int)
    }

    /// Reads one escape.
    /// - Parameters:
    ///   - at: the place of the backslash; afterwards that of what follows the escape.
    ///   - out: gets the UTF-8 of what it stands for. A lone surrogate stands for U+FFFD: JavaScript writes them.
    package static func take(_ b: Span<UInt8>, _ at: inout Int, into out: inout [UInt8]) throws(Fault) {
        guard at + 1 < b.count else { throw .end(at: at) }
        let letter = b[at + 1]
        if letter == UInt8(ascii: "u") {
            var next = at + 2
            append(try codePoint(b, &next), into: &out)
            at = next
        } else if let byte = byte(of: letter) {
            out.append(byte)
            at += 2
        } else {
            throw .letter(letter, at: at)
        }
    }

    /// The same for a text of a script, whose language has more escapes than JSON: of any other letter it leaves the backslash out.
    package static func takeOfScript(_ b: Span<UInt8>, _ at: inout Int, into out: inout [UInt8]) throws(Fault) {
        do throws(Fault) {
            try take(b, &at, into: &out)
        } catch {
            guard case .letter(let letter, _) = error else { throw error }
            out.append(letter)
            at += 2
        }
    }

    /// What an escape of one letter stands for; nil for `u`, and for letters that are none of JSON's.
    package static func byte(of letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0c
        case UInt8(ascii: "n"): 0x0a
        case UInt8(ascii: "r"): 0x0d
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    package static func isHighSurrogate(_ unit: UInt32) -> Bool { unit & 0xffff_fc00 == 0xd800 }

    /// The code point of two halves; nil when the second is no low surrogate.
    package static func joined(_ high: UInt32, _ low: UInt32) -> UInt32? {
        low & 0xffff_fc00 == 0xdc00 ? 0x10000 + (high & 0x3ff) << 10 + (low & 0x3ff) : nil
    }

    /// Appends the UTF-8 of a code point; U+FFFD for what is none.
    package static func append(_ point: UInt32, into out: inout [UInt8]) {
        out.append(contentsOf: UTF8.encode(Unicode.Scalar(point) ?? "\u{fffd}") ?? UTF8.encodedReplacementCharacter)
    }

    /// The code point whose digits begin at `at`, with the second half behind it where there is one.
    private static func codePoint(_ b: Span<UInt8>, _ at: inout Int) throws(Fault) -> UInt32 {
        let unit = try unit(b, &at)
        guard isHighSurrogate(unit), at + 1 < b.count, b[at] == UInt8(ascii: "\\"), b[at + 1] == UInt8(ascii: "u")
        else { return unit }
        var ahead = at + 2
        guard let point = joined(unit, try self.unit(b, &ahead)) else { return unit }
        at = ahead
        return point
    }

    private static func unit(_ b: Span<UInt8>, _ at: inout Int) throws(Fault) -> UInt32 {
        guard b.count - at >= 4 else { throw .end(at: at) }
        var unit: UInt32 = 0
        for i in at..<at + 4 {
            guard let digit = hexDigit(b[i]) else { throw .digit(at: i) }
            unit = unit << 4 | UInt32(digit)
        }
        at += 4
        return unit
    }
}
