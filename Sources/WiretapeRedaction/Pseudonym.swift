internal import WiretapeBytes
internal import WiretapeWire

/// What stands on a tape in the place of a secret: a number in a shape like the secret's. The shape is kept so that
/// whoever reads the tape finds what it expects there, the number so that the same secret is known again.
///
/// | secret | pseudonym |
/// |---|---|
/// | any text | `td_7` |
/// | JSON Web Token | a token with the algorithm and the time claims of the old one and `"sub":"td_7"` |
/// | 16 hexadecimal digits or more | as many of them: `74645f` (`td_`), zeros, 7 |
/// | UUID | `74645f00-0000-4000-8000-000000000007` |
/// | number | 746400007 |
package enum Pseudonym {
    /// Numbers above this would not fit into every shape.
    package static let largest = 99_999
    /// The number of all secrets for which there is no room in the table.
    package static let overflow = 0

    private static let firstNumber = 746_400_000
    private static let hexMark = Array("74645f".utf8)
    private static let uuidStart = Array("74645f00-0000-4000-8000-".utf8)

    /// The pseudonym of that number for a secret.
    package static func make(_ number: Int, for secret: [UInt8]) -> [UInt8] {
        if let token = JSONWebToken(secret) { return token.pseudonym(number) }
        let digits = Array(String(number).utf8)
        if isUUID(secret) { return uuidStart + [UInt8](repeating: zero, count: 12 - digits.count) + digits }
        if isHex(secret) {
            let zeros = [UInt8](repeating: zero, count: secret.count - hexMark.count - digits.count)
            let mark = secret.contains { (0x41...0x46).contains($0) } ? Array("74645F".utf8) : hexMark
            return mark + zeros + digits
        }
        return text(number)
    }

    /// `td_7`.
    package static func text(_ number: Int) -> [UInt8] { Array("td_\(number)".utf8) }

    /// What stands for a secret that is a JSON number.
    package static func number(_ number: Int) -> String { String(firstNumber + number) }

    /// The same pseudonym under another number, in its own shape.
    package static func renumbered(_ pseudonym: [UInt8], as number: Int) -> [UInt8] {
        pseudonym.count == 9 && pseudonym.starts(with: "7464".utf8)
            ? Array(self.number(number).utf8) : make(number, for: pseudonym)
    }

    /// The number of a pseudonym; nil for any other text.
    package static func number(of text: [UInt8]) -> Int? {
        if text.count > 3, text.starts(with: "td_".utf8) { return decimal(text[3...]) }
        if text.count == 9, text.starts(with: "7464".utf8), let number = decimal(text[...]) {
            return number - firstNumber
        }
        if isUUID(text), text.starts(with: uuidStart) { return padded(text[uuidStart.count...]) }
        if isHex(text), String(decoding: text.prefix(6), as: UTF8.self).lowercased() == "74645f" {
            return padded(text[hexMark.count...])
        }
        if let token = JSONWebToken(text), let subject = token.subject { return number(of: Array(subject.utf8)) }
        return nil
    }

    package static func number(of text: some StringProtocol) -> Int? { number(of: Array(text.utf8)) }

    /// Whether `td_`, `746` or `eyJ` stands somewhere: so all of them begin, tokens with the letters that begin a JSON
    /// object in base64. A quick look, since most messages of most tapes have none.
    package static func mayStand(in bytes: [UInt8]) -> Bool {
        let text = bytes.span
        guard text.count >= 3 else { return false }
        for at in 0..<text.count - 2 {
            switch text[at] {
            case UInt8(ascii: "t"):
                if text[at + 1] == UInt8(ascii: "d"), text[at + 2] == UInt8(ascii: "_") { return true }
            case UInt8(ascii: "7"):
                if text[at + 1] == UInt8(ascii: "4"), text[at + 2] == UInt8(ascii: "6") { return true }
            case UInt8(ascii: "e"):
                if text[at + 1] == UInt8(ascii: "y"), text[at + 2] == UInt8(ascii: "J") { return true }
            default: break
            }
        }
        return false
    }

    /// How many bytes at the end of a text may be a pseudonym, or the beginning of one, that goes on behind it.
    package static func begun(atEndOf text: [UInt8]) -> Int {
        var start = text.count
        while start > 0, text.count - start < JSONWebToken.longest {
            let byte = text[start - 1]
            guard isWord(byte) || byte == dash || byte == dot else { break }
            start -= 1
        }
        for at in start..<text.count where at == start || !isWord(text[at - 1]) {
            let rest = text[at...]
            for mark in ["td_", "7464", "eyJ"] where rest.starts(with: mark.utf8) || mark.utf8.starts(with: rest) {
                return rest.count
            }
        }
        return 0
    }

    /// Where pseudonyms stand in a text, in order. The text may be JSON: a word begins behind an escape such as `\n`, too.
    package static func ranges(in text: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var at = 0
        while at < text.count {
            guard isWord(text[at]) else {
                at += 1
                continue
            }
            var end = at
            var isToken = false
            while end < text.count, isWord(text[end]) || text[end] == dash || text[end] == dot {
                if text[end] == dot { isToken = true }
                end += 1
            }
            let start = min(end, behindEscape(at, in: text))
            if end - at >= 4, number(of: Array(text[at..<end])) != nil {
                found.append(at..<end)
            } else if start > at, end - start >= 4, number(of: Array(text[start..<end])) != nil {
                found.append(start..<end)
            } else {
                for piece in pieces(of: start..<end, in: text, isToken: isToken) { found.append(piece) }
            }
            at = end
        }
        return found
    }

    /// Where the word at `at` begins when what stands before it makes an escape of JSON of its first letters. JSON in a text of JSON
    /// has several backslashes.
    private static func behindEscape(_ at: Int, in text: [UInt8]) -> Int {
        guard at > 0, text[at - 1] == backslash else { return at }
        switch text[at] {
        case UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return at + 1
        case UInt8(ascii: "u"): return at + 5
        default: return at
        }
    }

    /// Within a run such as `prefix-td_7.rest` or `v1.eyJ….….…`.
    private static func pieces(of run: Range<Int>, in text: [UInt8], isToken: Bool) -> [Range<Int>] {
        guard run.count > 4 else { return [] }
        var found: [Range<Int>] = []
        var at = run.lowerBound
        while at < run.upperBound {
            var end = at
            while end < run.upperBound, isWord(text[end]) { end += 1 }
            if end - at >= 4, number(of: Array(text[at..<end])) != nil {
                found.append(at..<end)
            } else if isToken, text[at...].starts(with: "eyJ".utf8) {
                var dots = 0
                var stop = at
                while stop < run.upperBound, text[stop] != dot || dots < 2 {
                    if text[stop] == dot { dots += 1 }
                    stop += 1
                }
                if number(of: Array(text[at..<stop])) != nil {
                    found.append(at..<stop)
                    end = stop
                }
            }
            at = end + 1
        }
        return found
    }

    // MARK: Shapes

    package static let zero = UInt8(ascii: "0")
    private static let dash = UInt8(ascii: "-")
    private static let dot = UInt8(ascii: ".")
    private static let backslash = UInt8(ascii: "\\")

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x5f: true
        default: false
        }
    }

    private static func decimal(_ digits: ArraySlice<UInt8>) -> Int? {
        guard !digits.isEmpty, digits.count <= 9, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - zero) }
    }

    /// A number behind zeros.
    private static func padded(_ digits: ArraySlice<UInt8>) -> Int? {
        guard let first = digits.firstIndex(where: { $0 != zero }) else { return 0 }
        guard digits.endIndex - first <= 5 else { return nil }
        return decimal(digits[first...])
    }

    /// 16 to 512 hexadecimal digits, which no identifier of words would be.
    static func isHex(_ text: [UInt8]) -> Bool {
        (16...512).contains(text.count) && text.allSatisfy { hexDigit($0) != nil }
    }

    static func isUUID(_ text: [UInt8]) -> Bool {
        guard text.count == 36 else { return false }
        for (i, byte) in text.enumerated() {
            if i == 8 || i == 13 || i == 18 || i == 23 {
                guard byte == dash else { return false }
            } else if hexDigit(byte) == nil {
                return false
            }
        }
        return true
    }
}
