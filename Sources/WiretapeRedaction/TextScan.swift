internal import WiretapeBytes
internal import WiretapeWire

/// A text on its way through the ``Redactor``: what is to be replaced in it, and from where on it must wait for more.
package struct TextScan {
    package struct Edit: Hashable {
        package var range: Range<Int>
        package var bytes: [UInt8]
    }

    /// What a secret that has no end yet will end with.
    enum Unended: Hashable, Sendable {
        /// A closing quote.
        case string
        /// What ends an item of a query.
        case item
    }

    package let bytes: [UInt8]
    /// Nothing follows.
    package let isWhole: Bool
    package let depth: Int
    /// Its pieces mean something as they came: one waits for a secret that has begun, and not for a word that may become a name
    /// or a secret.
    let keepsPieces: Bool
    /// Whether it may have names with values: text has, binary data has not.
    var hasNames = true
    /// Where every value is a secret, and where none is: pointers of rules, the payload of `connection_init`.
    package var secretRegions: [(range: Range<Int>, kind: SecretKind)] = []
    var keptRegions: [Range<Int>] = []
    /// The latest list or object under the name of a secret.
    var secretValue: Range<Int>?
    /// The end of the latest value of an item that was decoded.
    var decodedUntil = 0
    /// It ends within a list or an object of secrets that is too long to wait for: nothing that follows is shown.
    var leavesOutRest = false
    /// The latest word that was measured.
    private var measured = (word: 0..<0, limit: 0)
    /// Whether the text looks like an OAuth request. Nil: it was not asked yet.
    private var mentionsOAuth: Bool?
    package private(set) var edits: [Edit] = []
    /// From here on it must be looked at again with what follows.
    package private(set) var held: Int
    /// The text ends within a secret that is too long to wait for.
    var unended: Unended?
    /// Up to here quotes begin no strings.
    var plainUntil = 0

    package init(_ bytes: [UInt8], isWhole: Bool, depth: Int, keepsPieces: Bool = false) {
        self.keepsPieces = keepsPieces
        self.bytes = bytes
        self.isWhole = isWhole
        self.depth = depth
        held = bytes.count
    }

    package mutating func edit(_ range: Range<Int>, _ new: [UInt8]) { edits.append(Edit(range: range, bytes: new)) }

    package mutating func hold(from at: Int) { held = min(held, at) }

    /// What stands there may become something.
    package mutating func mayHold(from at: Int) { if !keepsPieces { hold(from: at) } }

    /// What is replaced is not cut: it waits as a whole. Call it when all is found.
    package mutating func settle() {
        edits = merged()
        for edit in edits.reversed() where edit.range.upperBound > held { hold(from: edit.range.lowerBound) }
    }

    /// The part that need not wait, with its changes. Nil: nothing changes and nothing waits.
    package func result() -> [UInt8]? {
        guard held < bytes.count || !edits.isEmpty else { return nil }
        var out: [UInt8] = []
        var at = 0
        for edit in edits where edit.range.upperBound <= held {
            out += bytes[at..<edit.range.lowerBound]
            out += edit.bytes
            at = edit.range.upperBound
        }
        out += bytes[at..<held]
        return out
    }

    /// In order. Of those that overlap the first counts, and takes the bytes of all.
    private func merged() -> [Edit] {
        var all: [Edit] = []
        for edit in edits.sorted(by: { ($0.range.lowerBound, -$0.range.count) < ($1.range.lowerBound, -$1.range.count) }
        ) {
            if let last = all.last, last.range.upperBound > edit.range.lowerBound {
                all[all.count - 1].range = last.range.lowerBound..<max(last.range.upperBound, edit.range.upperBound)
            } else {
                all.append(edit)
            }
        }
        return all
    }

    /// Whether all of it is within what is replaced already.
    func isEdited(_ range: Range<Int>) -> Bool {
        edits.contains { $0.range.lowerBound <= range.lowerBound && range.upperBound <= $0.range.upperBound }
    }

    func secretKind(at position: Int) -> SecretKind? {
        if let secretValue, secretValue.contains(position) { return .inside }
        return secretRegions.first { $0.range.contains(position) }?.kind
    }

    /// Whether `name` is the `code` of an OAuth request, which can be exchanged for a token (RFC 6749, section 4.1). Other
    /// codes are no secrets, except random-looking ones in queries and forms.
    mutating func isCode(_ name: ArraySlice<UInt8>) -> Bool {
        guard name.elementsEqual("code".utf8) else { return false }
        let isOAuth =
            mentionsOAuth
            ?? ((["grant_type", "redirect_uri", "?state=", "&state="] as [StaticString]).contains {
                TextScan.position(of: $0, in: bytes[...]) != nil
            } || bytes.starts(with: "state=".utf8))
        mentionsOAuth = isOAuth
        return isOAuth
    }

    /// Where a text stands first.
    static func position(of text: StaticString, in bytes: ArraySlice<UInt8>) -> Int? {
        let sought = Array(text.description.utf8)
        guard bytes.count >= sought.count else { return nil }
        var at = bytes.startIndex
        while at + sought.count <= bytes.endIndex {
            if bytes[at] == sought[0], bytes[at...].starts(with: sought) { return at }
            at += 1
        }
        return nil
    }

    package func isKept(_ position: Int) -> Bool { keptRegions.contains { $0.contains(position) } }

    // MARK: Bytes

    /// What begins something: 1 a string, 2 a word, 3 a private key.
    static let classes: [UInt8] = (0..<256).map { byte in
        switch UInt8(byte) {
        case UInt8(ascii: "\""): 1
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "_"): 2
        case UInt8(ascii: "-"): 3
        default: 0
        }
    }

    /// Letters, digits and what stands within tokens.
    package static let words: [Bool] = (0..<256).map { byte in
        switch UInt8(byte) {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "~"), UInt8(ascii: "%"),
            UInt8(ascii: "+"), UInt8(ascii: "/"):
            true
        default: false
        }
    }

    func wordEnd(_ from: Int, _ limit: Int) -> Int {
        var at = from
        while at < limit, TextScan.words[Int(bytes[at])] { at += 1 }
        return at
    }

    /// The end of the word at `from`. A long word may be asked for from many places of it.
    mutating func measuredWordEnd(_ from: Int, _ limit: Int) -> Int {
        if measured.word.contains(from), measured.limit == limit { return measured.word.upperBound }
        let end = wordEnd(from, limit)
        measured = (from..<end, limit)
        return end
    }

    enum Equals {
        case at(Int)
        case none
        /// The text ends too early to decide.
        case torn
    }

    /// The equals sign after the name of an item that ends at `end`: `name=`, `user[name]=`, `name[]=`.
    func equals(behind end: Int, _ limit: Int) -> Equals {
        var at = end
        while at < limit, at < end + 3, bytes[at] == UInt8(ascii: "[") || bytes[at] == UInt8(ascii: "]") { at += 1 }
        guard at < limit else { return at > end && !isWhole && limit == bytes.count ? .torn : .none }
        return bytes[at] == UInt8(ascii: "=") ? .at(at) : .none
    }

    /// Whether nothing but hyphens is between the start of a line, or of the text, and `at`.
    func beginsLine(at: Int) -> Bool {
        var at = at
        while at > 0, bytes[at - 1] == UInt8(ascii: "-") { at -= 1 }
        return at == 0 || bytes[at - 1] == 0x0a || bytes[at - 1] == 0x0d
    }

    /// Whether a word stands where a parameter of a header field does: `form-data; name`.
    func isParameter(at: Int) -> Bool {
        let before = at > 0 && bytes[at - 1] == 0x20 ? at - 1 : at
        // The semicolon may have come in an earlier piece.
        return before == 0 || bytes[before - 1] == UInt8(ascii: ";")
    }

    enum Closing {
        case at(Int)
        /// A control character comes before: this is no string of JSON.
        case none(Int)
        /// The text ends before.
        case torn
    }

    /// The quote that ends the string whose text begins at `from`.
    func closing(_ from: Int, _ limit: Int) -> Closing {
        var at = from
        while at < limit {
            switch bytes[at] {
            case UInt8(ascii: "\""): return .at(at)
            case UInt8(ascii: "\\"): at += 2
            case 0..<0x20: return .none(at)
            default: at += 1
            }
        }
        return .torn
    }

    /// Behind blanks and behind the line breaks of an event stream's data.
    package func skipBlanks(_ from: Int) -> Int {
        var at = from
        while at < bytes.count {
            switch bytes[at] {
            case 0x20, 0x09: at += 1
            case 0x0a, 0x0d:
                at += 1
                if bytes[at...].starts(with: "data:".utf8) { at += 5 }
            default: return at
            }
        }
        return at
    }

    /// What ends the value of an item of a query, a form or a list of parameters.
    /// - Parameter name: the start of the item's name; nil if it is unknown. If the name is at the start of the text, or after `?` or
    ///   `&`, then a `,`, `'` or `)` before a letter or digit is part of the value.
    func itemEnd(_ from: Int, _ limit: Int, of name: Int? = nil) -> Int {
        // `/path;jsessionid=…?query`: RFC 3986, section 3.3, and the Java Servlet Specification.
        let before = name.map { $0 == 0 ? UInt8(ascii: "&") : bytes[$0 - 1] }
        let mayGoOn = before == UInt8(ascii: "?") || before == UInt8(ascii: "&")
        let isInPath = before == UInt8(ascii: ";") && name.map { isNamed("jsessionid", at: $0) } ?? false
        var at = from
        while at < limit {
            switch bytes[at] {
            case UInt8(ascii: ","), UInt8(ascii: "'"), UInt8(ascii: ")"):
                if mayGoOn, at + 1 == bytes.count, !isWhole { return at + 1 }
                guard mayGoOn, at + 1 < limit, TextScan.isLetterOrDigit(bytes[at + 1]) else { return at }
                at += 1
            case 0...0x20, UInt8(ascii: "&"), UInt8(ascii: ";"), UInt8(ascii: "\""), UInt8(ascii: "<"),
                UInt8(ascii: ">"),
                UInt8(ascii: "\\"), UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: "#"), UInt8(ascii: "|"):
                return at
            case UInt8(ascii: "?") where isInPath, UInt8(ascii: "/") where isInPath: return at
            default: at += 1
            }
        }
        return at
    }

    /// Whether a name stands there, in lower or upper case.
    private func isNamed(_ name: StaticString, at: Int) -> Bool {
        let name = name.description.utf8
        return bytes.count - at >= name.count && zip(bytes[at...], name).allSatisfy { $0 | 0x20 == $1 }
    }

    /// Whether the place of a `name=` is in a line of `form-data`. Pages have such attributes, too.
    func isInDisposition(_ equals: Int) -> Bool {
        let reach = bytes[max(0, equals - 256)..<equals]
        if TextScan.position(of: "form-data", in: reach) != nil { return true }
        // The line may have begun in an earlier piece.
        return equals < 256 && !reach.contains(0x0a)
    }

    /// Whether a place is the name of a member of JSON.
    func isName(_ range: Range<Int>) -> Bool {
        guard range.lowerBound > 0, bytes[range.lowerBound - 1] == UInt8(ascii: "\""), range.upperBound < bytes.count,
            bytes[range.upperBound] == UInt8(ascii: "\"")
        else { return false }
        let after = skipBlanks(range.upperBound + 1)
        return after < bytes.count && bytes[after] == UInt8(ascii: ":")
    }

    /// Whether letters or digits are next to a place.
    func isWithinWord(_ range: Range<Int>) -> Bool {
        range.lowerBound > 0 && TextScan.isLetterOrDigit(bytes[range.lowerBound - 1])
            || range.upperBound < bytes.count && TextScan.isLetterOrDigit(bytes[range.upperBound])
    }

    static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: false
        }
    }

    /// Whether a word is the name of an event's data at the beginning of a line, or what has come of it.
    func beginsEvent(_ word: Range<Int>) -> Bool {
        guard word.lowerBound == 0 || bytes[word.lowerBound - 1] == 0x0a || bytes[word.lowerBound - 1] == 0x0d else {
            return false
        }
        guard !keepsPieces, bytes[word.lowerBound] == UInt8(ascii: "d") else { return false }
        return LengthPrefixedEvent.name.starts(with: bytes[word])
    }

    // MARK: JSON strings

    /// What a string's text means; nil when it is no JSON.
    static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.contains(UInt8(ascii: "\\")) else { return Array(text) }
        guard case .string(let plain)? = try? JSONValue(parsing: [UInt8(ascii: "\"")] + text + [UInt8(ascii: "\"")])
        else {
            return nil
        }
        return Array(plain.utf8)
    }

    /// The same for a text of a script, too (``JSONUnescape/takeOfScript(_:_:into:)``).
    package static func unescapedScript(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let bytes = Array(text)
        var out: [UInt8] = []
        var at = 0
        while at < bytes.count {
            guard bytes[at] == UInt8(ascii: "\\") else {
                out.append(bytes[at])
                at += 1
                continue
            }
            guard (try? JSONUnescape.takeOfScript(bytes.span, &at, into: &out)) != nil else { return nil }
        }
        return out
    }

    package static func escaped(_ text: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        guard JSONEscape.appendString(text.span, into: &out) else { return text }
        return Array(out.dropFirst().dropLast())
    }
}
