internal import WiretapeBytes
internal import WiretapeWire

/// Texts: JSON, event streams, forms, scripts, or anything else. One pass looks for names with values in whatever form,
/// so that a text needs to be neither whole nor valid.
extension Redactor {
    /// A whole text without its secrets; nil when it has none.
    package mutating func text(_ bytes: [UInt8]) -> [UInt8]? { text(bytes, depth: 0) }

    /// Removes the secrets from a text for people.
    /// - Parameter words: texts of the user, such as rule names, that stay as they are.
    package mutating func text(_ text: String, sparing words: [String] = []) -> String {
        let bytes = Array(text.utf8)
        let kept = words.flatMap { Redactor.ranges(of: Array($0.utf8), in: bytes) }
        guard !kept.isEmpty else { return self.text(bytes).map { String(decoding: $0, as: UTF8.self) } ?? text }
        var scan = TextScan(bytes, isWhole: true, depth: 0)
        scan.keptRegions = kept
        guard run(&scan) else { return String(decoding: Pseudonym.text(Pseudonym.overflow), as: UTF8.self) }
        return scan.result().map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    private static func ranges(of word: [UInt8], in bytes: [UInt8]) -> [Range<Int>] {
        guard let first = word.first, bytes.count >= word.count else { return [] }
        return (0...bytes.count - word.count).compactMap { at in
            bytes[at] == first && bytes[at...].starts(with: word) ? at..<at + word.count : nil
        }
    }

    package mutating func text(_ bytes: [UInt8], depth: Int) -> [UInt8]? {
        guard LengthPrefixedTexts.mayBegin(bytes) else { return plain(bytes, depth: depth) }
        var reader = LengthPrefixReader()
        let found = LengthPrefixedTexts(bytes, &reader, isWhole: true)
        let (records, rest) = (bytes[..<found.next], Array(bytes[found.next...]))
        let new = LengthPrefixedTexts.replacing(found.records, in: records) { plain($0, depth: depth) }
        let newRest = rest.isEmpty ? nil : plain(rest, depth: depth)
        return new == nil && newRest == nil ? nil : (new ?? Array(records)) + (newRest ?? rest)
    }

    /// A whole text that has no length before it.
    mutating func plain(_ bytes: [UInt8], depth: Int) -> [UInt8]? {
        var scan = TextScan(bytes, isWhole: true, depth: depth)
        return run(&scan) ? scan.result() : Pseudonym.text(Pseudonym.overflow)
    }

    /// - Returns: false when the bytes must not be shown.
    package mutating func run(_ scan: inout TextScan) -> Bool {
        if let renumbering {
            renumber(&scan, renumbering)
            return true
        }
        if scan.hasNames { markRegions(&scan) }
        look(&scan, 0..<scan.bytes.count)
        if !rules.patterns.isEmpty { lookForPatterns(&scan) }
        switch known(in: scan.bytes) {
        case .tooMuch:
            withhold()
            return false
        case .found(let places):
            for place in places where !scan.isEdited(place.range) && !scan.isKept(place.range.lowerBound) {
                let secret = Array(scan.bytes[place.range])
                // Longer ones are hexadecimal digits.
                let isNumber = secret.count < 16 && secret.allSatisfy { (0x30...0x39).contains($0) }
                // The name of a member, or digits of a longer number, are the same by chance.
                if scan.isName(place.range) || isNumber && scan.isWithinWord(place.range) { continue }
                noteKnown(secret)
                let new =
                    isNumber ? Array(Pseudonym.number(place.number).utf8) : Pseudonym.make(place.number, for: secret)
                scan.edit(place.range, new)
            }
        }
        if !scan.isWhole, scan.unended == nil {
            let begun = begun(atEndOf: scan.bytes[...])
            if begun > (scan.keepsPieces ? 2 : 0) { scan.hold(from: scan.bytes.count - begun) }
        }
        scan.settle()
        return true
    }

    /// Strings and words between `range`'s ends.
    private mutating func look(_ scan: inout TextScan, _ range: Range<Int>) {
        var at = range.lowerBound
        // The name of the item ended the piece before.
        if at == 0, scan.bytes.first == UInt8(ascii: "="), let next = coded(from: 1, of: 0, &scan, range.upperBound) {
            at = next
        }
        while at < range.upperBound {
            switch TextScan.classes[Int(scan.bytes[at])] {
            case 1 where scan.hasNames: at = string(at, &scan, range.upperBound)
            case 2: at = word(at, &scan, range.upperBound)
            case 3: at = dashes(at, &scan, range.upperBound)
            default: at += 1
            }
        }
    }

    // MARK: Strings

    /// A string, or the name of a member with its value. Returns where to go on.
    private mutating func string(_ at: Int, _ scan: inout TextScan, _ limit: Int) -> Int {
        guard at >= scan.plainUntil else { return at + 1 }
        let close: Int
        switch scan.closing(at + 1, limit) {
        case .at(let end): close = end
        case .none(let end):
            scan.plainUntil = end
            return at + 1
        case .torn:
            if !scan.isWhole, !scan.keepsPieces, scan.bytes.count - at <= Redactor.longestHeld {
                scan.hold(from: at)
                return limit
            }
            if !scan.isWhole, !scan.keepsPieces {
                withhold()
                scan.edit(at + 1..<limit, Pseudonym.text(Pseudonym.overflow))
                scan.unended = .string
                return limit
            }
            scan.plainUntil = limit
            return at + 1
        }
        let text = scan.bytes[at + 1..<close]
        let after = scan.skipBlanks(close + 1)
        if after < limit, scan.bytes[after] == UInt8(ascii: ":") {
            guard let name = TextScan.unescaped(text), !scan.isKept(at),
                rules.redacts(member: name[...]) || scan.isCode(name[...])
            else {
                return after + 1
            }
            return secretValue(
                of: String(decoding: name, as: UTF8.self), scan.skipBlanks(after + 1), from: at, .named, &scan)
        }
        if after >= limit, !scan.isWhole, let name = TextScan.unescaped(text), rules.redacts(member: name[...]) {
            scan.hold(from: at)
        }
        if let kind = scan.secretKind(at: at), !scan.isKept(at) {
            return secretValue(of: "", at, from: at, kind, &scan)
        }
        content(at + 1..<close, &scan)
        return close + 1
    }

    /// The value that begins at `at` is a secret. `start`: where it must be looked at again when it is not whole.
    private mutating func secretValue(
        of name: String, _ at: Int, from start: Int, _ kind: SecretKind, _ scan: inout TextScan
    ) -> Int {
        let limit = scan.bytes.count
        guard at < limit else {
            if !scan.isWhole { scan.hold(from: start) }
            return limit
        }
        switch scan.bytes[at] {
        case UInt8(ascii: "\""):
            let end: Int
            switch scan.closing(at + 1, limit) {
            case .at(let close): end = close
            case .none(let stop): end = stop
            case .torn:
                if !scan.isWhole {
                    if limit - start <= Redactor.longestHeld {
                        scan.hold(from: start)
                        return limit
                    }
                    scan.unended = .string
                }
                end = limit
            }
            let raw = scan.bytes[at + 1..<end]
            let plain = TextScan.unescaped(raw) ?? Array(raw)
            if let new = value(plain, kind, name) { scan.edit(at + 1..<end, TextScan.escaped(new)) }
            return min(end + 1, limit)
        case UInt8(ascii: "-"), 0x30...0x39:
            var end = at + 1
            while end < limit, (0x30...0x39).contains(scan.bytes[end]) || scan.bytes[end] == UInt8(ascii: ".") {
                end += 1
            }
            if end == limit, !scan.isWhole {
                scan.hold(from: start)
                return limit
            }
            if let new = pseudonym(ofNumber: Array(scan.bytes[at..<end]), kind, name) { scan.edit(at..<end, new) }
            return end
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard scan.secretKind(at: at) == nil else { return at + 1 }
            let end = JSONMembers.skipValue(scan.bytes, at)
            if end == limit, !scan.isWhole, limit - start <= Redactor.longestHeld {
                scan.hold(from: start)
                return limit
            }
            if end == limit, !scan.isWhole {
                withhold()
                scan.edit(at..<limit, Pseudonym.text(Pseudonym.overflow))
                scan.leavesOutRest = true
                return limit
            }
            // ``string(_:_:_:)`` and ``word(_:_:_:)`` take every text and number in it for a secret.
            if !Redactor.isDescription(scan.bytes[at..<end]) { scan.secretValue = at..<end }
            return at + 1
        default: return at
        }
    }

    /// Whether an object with the name of a secret has no secret in it. That is a JSON Schema, or a token of a language model with its
    /// probability.
    private static func isDescription(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.first == UInt8(ascii: "{"), bytes.count <= 16 << 10,
            case .object(let members)? = try? JSONValue(parsing: Array(bytes))
        else { return false }
        let names = Set(members.map(\.name))
        if names.contains("logprob") { return true }
        let keywords: Set = [
            "$ref", "additionalProperties", "allOf", "anyOf", "deprecated", "description", "enum", "format", "items",
            "maxLength",
            "minLength", "nullable", "oneOf", "pattern", "properties", "readOnly", "required", "title", "type",
            "writeOnly",
        ]
        return !names.isDisjoint(with: ["type", "$ref", "anyOf", "oneOf", "allOf"]) && names.isSubset(of: keywords)
    }

    /// The text of a string of JSON.
    private mutating func content(_ range: Range<Int>, _ scan: inout TextScan) {
        let raw = scan.bytes[range]
        guard raw.contains(UInt8(ascii: "\\")) || LengthPrefixedTexts.mayBegin(raw) else {
            return words(range, &scan)
        }
        guard scan.depth < Redactor.deepest, let plain = TextScan.unescapedScript(raw),
            isValidUTF8(plain.span)
        else {
            return words(range, &scan)
        }
        if let new = text(plain, depth: scan.depth + 1) { scan.edit(range, TextScan.escaped(new)) }
    }

    private mutating func words(_ range: Range<Int>, _ scan: inout TextScan) {
        var at = range.lowerBound
        while at < range.upperBound {
            switch TextScan.classes[Int(scan.bytes[at])] {
            case 2: at = word(at, &scan, range.upperBound)
            case 3: at = dashes(at, &scan, range.upperBound)
            default: at += 1
            }
        }
    }

    // MARK: Words

    /// A word: a name before `=`, a token, a scheme before a token. Returns where to go on.
    private mutating func word(_ at: Int, _ scan: inout TextScan, _ limit: Int) -> Int {
        let end = scan.measuredWordEnd(at, limit)
        guard scan.hasNames else { return looks(at..<end, &scan, limit) ?? end }
        if scan.beginsEvent(at..<end), let next = event(at, &scan, limit) { return next }
        if let kind = scan.secretKind(at: at), !scan.isKept(at), (0x30...0x39).contains(scan.bytes[at]) {
            return secretValue(of: "", at, from: at, kind, &scan)
        }
        switch scan.equals(behind: end, limit) {
        case .at(let equals): return item(at..<end, equals, &scan, limit)
        case .torn where !scan.keepsPieces:
            scan.hold(from: at)
            return limit
        case .torn, .none: break
        }
        if end < limit, scan.bytes[end] == UInt8(ascii: ":"), let next = labelled(at..<end, &scan, limit) {
            return next
        }
        if end == scan.bytes.count, !scan.isWhole, holdWord(at..<end, &scan) { return end }
        if let next = looks(at..<end, &scan, limit) { return next }
        if end == limit, !scan.isWhole, limit == scan.bytes.count, Schemes.isScheme(scan.bytes[at..<end]) {
            scan.hold(from: at)
        }
        return end
    }

    /// Redacts a secret that is known by its form: a token, a key, a password in a URL, or credentials after a scheme.
    /// - Returns: the offset after the secret. Nil if there is none at this word.
    private mutating func looks(_ word: Range<Int>, _ scan: inout TextScan, _ limit: Int) -> Int? {
        let end = word.upperBound
        if word.count >= 20, let next = token(word, &scan) { return next }
        if end + 2 < limit, scan.bytes[end] == UInt8(ascii: ":"), scan.bytes[end + 1] == UInt8(ascii: "/"),
            scan.bytes[end + 2] == UInt8(ascii: "/")
        {
            return userInfo(end + 3, &scan, limit)
        }
        if end < limit, scan.bytes[end] == 0x20, word.count <= 6 { return credentials(word, &scan, limit) }
        return nil
    }

    /// An event of an event stream whose data are messages behind their lengths. Returns where to go on behind it; nil when it is
    /// looked at as any other text.
    private mutating func event(_ at: Int, _ scan: inout TextScan, _ limit: Int) -> Int? {
        guard scan.depth < Redactor.deepest, limit == scan.bytes.count else { return nil }
        switch LengthPrefixedEvent.find(scan.bytes, at, isWhole: scan.isWhole) {
        case .none: return nil
        case .begun:
            guard limit - at <= Redactor.longestHeld else { return nil }
            scan.hold(from: at)
            return limit
        case .event(let event):
            if let new = text(event.text, depth: scan.depth + 1) { scan.edit(event.range, event.written(new)) }
            return event.range.upperBound
        }
    }

    /// Waits with a word at the end of a piece that may become a name or a token.
    private func holdWord(_ range: Range<Int>, _ scan: inout TextScan) -> Bool {
        let word = scan.bytes[range]
        let name = nameRange(before: range.upperBound, from: range.lowerBound, scan)
        let isToken = word.indices.contains { at in
            guard at == word.startIndex || !TextScan.isLetterOrDigit(word[at - 1]) else { return false }
            let rest = word[at...]
            return Keys.mayBegin(rest) || rest.starts(with: "eyJ".utf8) || "eyJ".utf8.starts(with: rest)
        }
        // `name="pin"` of a part of a form is one, too.
        let isName =
            scan.keepsPieces
            ? rules.redacts(item: scan.bytes[name])
            : rules.mayBegin(name: scan.bytes[name]) || "name".utf8.starts(with: scan.bytes[name])
                || scan.bytes[name].contains(UInt8(ascii: "%")) && name.count <= 3 * SecretNames.longest
        guard range.count <= Redactor.longestHeld, isToken && (!scan.keepsPieces || word.count > 2) || isName else {
            return false
        }
        scan.hold(from: range.lowerBound)
        return true
    }

    private func contains(_ text: StaticString, in bytes: ArraySlice<UInt8>) -> Bool {
        position(of: text, in: bytes) != nil
    }

    private func position(of text: StaticString, in bytes: ArraySlice<UInt8>) -> Int? {
        TextScan.position(of: text, in: bytes)
    }

    /// The name that ends at `end`: what stands before it in a path or behind a plus is none of it.
    private func nameRange(before end: Int, from start: Int, _ scan: TextScan) -> Range<Int> {
        var from = end
        while from > start {
            switch scan.bytes[from - 1] {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "%"):
                from -= 1
            default: return from..<end
            }
        }
        return from..<end
    }

    /// The item's percent-decoded name. For `user[password]` it is `password`.
    private static func itemName(_ raw: ArraySlice<UInt8>) -> [UInt8] {
        guard raw.contains(UInt8(ascii: "%")) else { return Array(raw) }
        var plain = Array(percentDecoded(String(decoding: raw, as: UTF8.self)).utf8)[...]
        let brackets = [UInt8(ascii: "["), UInt8(ascii: "]")]
        while let last = plain.last, brackets.contains(last) { plain.removeLast() }
        let before = plain.lastIndex { brackets.contains($0) || $0 <= 0x20 || $0 == UInt8(ascii: "/") }
        return Array(plain[(before.map { $0 + 1 } ?? plain.startIndex)...])
    }

    /// `name=value`.
    /// - Parameter equals: where the equals sign stands.
    private mutating func item(_ word: Range<Int>, _ equals: Int, _ scan: inout TextScan, _ limit: Int) -> Int {
        let name = nameRange(before: word.upperBound, from: word.lowerBound, scan)
        let plainName = Redactor.itemName(scan.bytes[name])
        let start = equals + 1
        let isQuoted = start < limit && scan.bytes[start] == UInt8(ascii: "\"")
        if plainName.elementsEqual("name".utf8) {
            if isQuoted || scan.isParameter(at: name.lowerBound) { return formPart(equals, &scan, limit) }
            if start == scan.bytes.count, !scan.isWhole, !scan.keepsPieces {
                scan.hold(from: name.lowerBound)
                return limit
            }
        }
        let isSecret =
            rules.redacts(item: plainName[...]) || scan.isCode(plainName[...])
            || plainName.elementsEqual("code".utf8)
                && Keys.isMixed(scan.bytes[start..<scan.itemEnd(start, min(limit, start + 512))])
        guard isSecret, !scan.isKept(name.lowerBound) else {
            if word.count >= 20 { _ = token(word, &scan) }
            return coded(from: start, of: name.lowerBound, &scan, limit) ?? start
        }
        let text = String(decoding: plainName, as: UTF8.self)
        if isQuoted { return secretValue(of: text, start, from: name.lowerBound, .named, &scan) }
        let end = scan.itemEnd(start, limit, of: name.lowerBound)
        if end == scan.bytes.count, !scan.isWhole {
            if end - name.lowerBound <= Redactor.longestHeld {
                scan.hold(from: name.lowerBound)
                return limit
            }
            scan.unended = .item
        }
        let raw = String(decoding: scan.bytes[start..<end], as: UTF8.self)
        let plain = Array(percentDecoded(raw.replacing("+", with: "%20")).utf8)
        if let new = value(plain, .named, text) {
            scan.edit(start..<end, Array(String(decoding: new, as: UTF8.self).replacing(" ", with: "%20").utf8))
            // Whoever does not read a plus as a blank says it again with the plus.
            if raw.contains("+") { learn(Array(percentDecoded(raw).utf8), as: plain) }
        }
        return end
    }

    /// `name: value`, as a line of a head has it (HTTP, STOMP), or `name: "value"`, as a literal of GraphQL or a script has it. Returns
    /// the offset after the value; nil if this is not a secret in one of these forms.
    private mutating func labelled(_ word: Range<Int>, _ scan: inout TextScan, _ limit: Int) -> Int? {
        let name = nameRange(before: word.upperBound, from: word.lowerBound, scan)
        let title = String(decoding: scan.bytes[name], as: UTF8.self)
        let isCookie = ["cookie", "set-cookie"].contains(title.lowercased())
        guard isCookie || rules.redacts(member: scan.bytes[name]), !scan.isKept(name.lowerBound) else { return nil }
        var start = word.upperBound + 1
        while start < limit, scan.bytes[start] == 0x20 || scan.bytes[start] == 0x09 { start += 1 }
        if start == scan.bytes.count, !scan.isWhole, !scan.keepsPieces {
            scan.hold(from: name.lowerBound)
            return limit
        }
        if start < limit, scan.bytes[start] == UInt8(ascii: "\"") {
            return secretValue(of: title, start, from: name.lowerBound, .named, &scan)
        }
        guard scan.beginsLine(at: name.lowerBound) else { return nil }
        var end = start
        while end < limit, scan.bytes[end] != 0x0a, scan.bytes[end] != 0x0d, scan.bytes[end] != 0 { end += 1 }
        if end == scan.bytes.count, !scan.isWhole {
            guard !scan.keepsPieces, end - name.lowerBound <= Redactor.longestHeld else { return nil }
            scan.hold(from: name.lowerBound)
            return limit
        }
        let value = scan.bytes[start..<end]
        // `auth://callback` is a URL, and `secret: true` says whether there is one.
        if value.starts(with: "//".utf8) || ["true", "false", "null"].contains(where: { value.elementsEqual($0.utf8) })
        {
            return nil
        }
        let first = value.prefix { $0 != 0x20 }
        // Several words are prose (`token: see below`), unless the name is that of a header field.
        let isField = isCookie || title.contains("-") || equalIgnoringCase(title, "authorization")
        guard isField || first.count == value.count || Schemes.isScheme(first) else { return nil }
        let text = String(decoding: value, as: UTF8.self)
        if isCookie {
            let new = equalIgnoringCase(title, "cookie") ? cookies(text) : setCookie(text)
            if new != text { scan.edit(start..<end, Array(new.utf8)) }
        } else if let new = self.value(Array(value), .named, title) {
            scan.edit(start..<end, new)
        }
        return end
    }

    /// The value of an item whose name tells nothing, when it is percent-encoded: what it says is looked at. Returns where to
    /// go on behind it; nil when it is looked at as it stands.
    private mutating func coded(from start: Int, of name: Int, _ scan: inout TextScan, _ limit: Int) -> Int? {
        // The items within a value were looked at with it.
        guard scan.depth < Redactor.deepest, start >= scan.decodedUntil else { return nil }
        let end = scan.itemEnd(start, limit)
        // What is percent-encoded may come with the next piece.
        if end == scan.bytes.count, !scan.isWhole {
            guard !scan.keepsPieces, end - name <= Redactor.longestHeld else { return nil }
            scan.hold(from: name)
            return limit
        }
        scan.decodedUntil = end
        let raw = scan.bytes[start..<end]
        let hasPlus = raw.contains(UInt8(ascii: "+"))
        guard hasPlus || raw.contains(UInt8(ascii: "%")), raw.count >= 8 else { return nil }
        let plain = percentDecoded(String(decoding: raw, as: UTF8.self).replacing("+", with: "%20"))
        guard let new = text(Array(plain.utf8), depth: scan.depth + 1) else { return nil }
        scan.edit(start..<end, Redactor.percentEncoded(new, blank: hasPlus ? "+" : "%20"))
        return end
    }

    private static func percentEncoded(_ text: [UInt8], blank: StaticString) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return text.flatMap { byte -> [UInt8] in
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "~"):
                [byte]
            case 0x20: Array(blank.description.utf8)
            default: [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }

    /// The part of a form whose name ends here: `name="pin"` CR LF CR LF value CR LF `--boundary`. The quotes may be missing.
    private mutating func formPart(_ equals: Int, _ scan: inout TextScan, _ limit: Int) -> Int {
        guard scan.isInDisposition(equals) else { return equals + 1 }
        let isQuoted = equals + 1 < limit && scan.bytes[equals + 1] == UInt8(ascii: "\"")
        // With the semicolon before the name.
        let hold = max(0, equals - 6)
        let longest = min(limit, equals + SecretNames.longest + 2)
        let begin = equals + (isQuoted ? 2 : 1)
        let close: Int
        if isQuoted, case .at(let end) = scan.closing(begin, longest) {
            close = end
        } else {
            let end = isQuoted ? longest : scan.wordEnd(begin, longest)
            guard !isQuoted, end < longest else {
                if !scan.isWhole, !scan.keepsPieces, end == scan.bytes.count { scan.hold(from: hold) }
                return equals + 1
            }
            close = end
        }
        let name = Redactor.partName(scan.bytes[begin..<close])
        guard rules.redacts(item: name) else { return equals + 1 }
        let reach = scan.bytes[close..<min(limit, close + 1024)]
        guard let blank = position(of: "\r\n\r\n", in: reach) else {
            if !scan.isWhole, reach.endIndex == scan.bytes.count { scan.hold(from: hold) }
            return close + 1
        }
        let start = blank + 4
        let end = position(of: "\r\n--", in: scan.bytes[start..<limit])
        if end == nil, !scan.isWhole {
            if scan.bytes.count - equals <= Redactor.longestHeld {
                scan.hold(from: hold)
                return limit
            }
        }
        let value = start..<(end ?? limit)
        if let new = self.value(Array(scan.bytes[value]), .named, String(decoding: name, as: UTF8.self)) {
            scan.edit(value, new)
        }
        return value.upperBound
    }

    /// The last name of `user[password]`.
    private static func partName(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard name.last == UInt8(ascii: "]"), let open = name.lastIndex(of: UInt8(ascii: "[")) else { return name }
        return name[(open + 1)...].dropLast()
    }

    /// JSON Web Tokens and keys of well-known services within a word. Returns where to go on behind one.
    private mutating func token(_ word: Range<Int>, _ scan: inout TextScan) -> Int? {
        if let start = position(of: "eyJ", in: scan.bytes[word]) {
            var end = start
            var dots = 0
            while end < word.upperBound {
                if scan.bytes[end] == UInt8(ascii: ".") {
                    dots += 1
                    if dots == 3 { break }
                } else if !JSONWebToken.isLetter(scan.bytes[end]) {
                    break
                }
                end += 1
            }
            let text = Array(scan.bytes[start..<end])
            if dots >= 2, JSONWebToken(text) != nil {
                if !scan.isKept(start), let new = pseudonym(text, .token, "") { scan.edit(start..<end, new) }
                return end
            }
        }
        let text = Array(scan.bytes[word])
        if let range = Keys.range(in: text) {
            let place = word.lowerBound + range.lowerBound..<word.lowerBound + range.upperBound
            if !scan.isKept(place.lowerBound), let new = pseudonym(Array(scan.bytes[place]), .key, "") {
                scan.edit(place, new)
            }
            return place.upperBound
        }
        if isLookingForSuspects, Keys.isRandom(text), !Redactor.wasRedacted(text) { suspect(text, "") }
        return nil
    }

    /// Whether it is a pseudonym, or JSON in base64 that has some: ``packedJSON(_:)``.
    private static func wasRedacted(_ word: [UInt8]) -> Bool {
        if Pseudonym.number(of: word) != nil { return true }
        guard let start = TextScan.position(of: "ey", in: word[...]),
            let plain = Base64URL.decode(Array(word[start...]))
        else {
            return false
        }
        return !Pseudonym.ranges(in: plain).isEmpty
    }

    /// `https://ada:secret@host`: the password.
    private mutating func userInfo(_ at: Int, _ scan: inout TextScan, _ limit: Int) -> Int {
        var end = at
        var colon: Int?
        while end < limit {
            switch scan.bytes[end] {
            case UInt8(ascii: "@"):
                guard let colon, colon + 1 < end else { return end }
                if let new = pseudonym(Array(scan.bytes[colon + 1..<end]), .userInfo, "") {
                    scan.edit(colon + 1..<end, new)
                }
                return end
            case UInt8(ascii: ":"): colon = colon ?? end
            case 0...0x20, UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "\""),
                UInt8(ascii: "\\"):
                return at
            default: break
            }
            end += 1
        }
        if end == scan.bytes.count, !scan.isWhole, end - at < 512 { scan.mayHold(from: at - 3) }
        return at
    }

    /// `Bearer …` and `Basic …` in the middle of a text.
    private mutating func credentials(_ word: Range<Int>, _ scan: inout TextScan, _ limit: Int) -> Int {
        let scheme = scan.bytes[word]
        let isBasic = Schemes.isBasic(scheme)
        guard isBasic || Schemes.isBearer(scheme) else { return word.upperBound }
        var start = word.upperBound
        while start < limit, scan.bytes[start] == 0x20 { start += 1 }
        var end = scan.wordEnd(start, limit)
        while end < limit, scan.bytes[end] == UInt8(ascii: "=") { end += 1 }
        if end == scan.bytes.count, !scan.isWhole, end - word.lowerBound <= Redactor.longestHeld {
            scan.hold(from: word.lowerBound)
            return limit
        }
        let text = Array(scan.bytes[start..<end])
        let isSecret =
            isBasic
            ? Base64URL.decode(text)?.contains(UInt8(ascii: ":")) == true
            : text.count >= 24 || text.count >= 8 && text.contains { (0x30...0x39).contains($0) }
        guard isSecret, !scan.isKept(start) else { return word.upperBound }
        if let new = value(Array(scan.bytes[word]) + [0x20] + text, .bearer, "") {
            scan.edit(start..<end, Array(new.dropFirst(word.count + 1)))
        }
        return end
    }

    /// A private key between its armour.
    private mutating func dashes(_ at: Int, _ scan: inout TextScan, _ limit: Int) -> Int {
        let start = scan.bytes[at..<limit]
        guard start.starts(with: "-----BEGIN ".utf8) else {
            if limit == scan.bytes.count, !scan.isWhole, start.count < 11, "-----BEGIN ".utf8.starts(with: start) {
                scan.mayHold(from: at)
            }
            return at + 1
        }
        let line = start.prefix(64)
        guard let mark = position(of: "PRIVATE KEY-----", in: line) else {
            if limit == scan.bytes.count, !scan.isWhole, Redactor.mayBeginKey(line.dropFirst(11)) {
                scan.hold(from: at)
                return limit
            }
            return at + 11
        }
        let from = mark + 16
        let end = position(of: "-----END", in: scan.bytes[from..<limit]) ?? limit
        if end == limit, !scan.isWhole, limit - at <= Redactor.longestHeld {
            scan.hold(from: at)
            return limit
        }
        let body = Redactor.withoutBreaks(from..<end, scan.bytes)
        if let new = pseudonym(Array(scan.bytes[body]), .privateKey, "") { scan.edit(body, new) }
        return end
    }

    /// Whether the next bytes may complete the first line of a private key.
    /// - Parameter text: the text after `-----BEGIN `.
    private static func mayBeginKey(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.count < 53 else { return false }
        let words = text.prefix { $0 != UInt8(ascii: "-") }
        let isUpperCase = words.allSatisfy { $0 == 0x20 || (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) }
        let hyphens = text.dropFirst(words.count)
        guard isUpperCase, hyphens.count < 5, hyphens.allSatisfy({ $0 == UInt8(ascii: "-") }) else { return false }
        return hyphens.isEmpty || words.reversed().starts(with: "PRIVATE KEY".utf8.reversed())
    }

    /// Without the line breaks at both ends, those that are written as `\n` too.
    private static func withoutBreaks(_ range: Range<Int>, _ bytes: [UInt8]) -> Range<Int> {
        func isBreak(_ at: Int) -> Bool { bytes[at] == UInt8(ascii: "n") || bytes[at] == UInt8(ascii: "r") }
        var (from, end) = (range.lowerBound, range.upperBound)
        while from < end {
            if bytes[from] <= 0x20 {
                from += 1
            } else if from + 1 < end, bytes[from] == UInt8(ascii: "\\"), isBreak(from + 1) {
                from += 2
            } else {
                break
            }
        }
        while from < end {
            if bytes[end - 1] <= 0x20 {
                end -= 1
            } else if from + 1 < end, bytes[end - 2] == UInt8(ascii: "\\"), isBreak(end - 1) {
                end -= 2
            } else {
                break
            }
        }
        return from..<end
    }

    // MARK: Rules

    private mutating func lookForPatterns(_ scan: inout TextScan) {
        for pattern in rules.patterns {
            for range in pattern.ranges(in: scan.bytes) where !scan.isEdited(range) && !scan.isKept(range.lowerBound) {
                // A match at the end of a piece may go on in the next one.
                if range.upperBound == scan.bytes.count, !scan.isWhole, range.count <= Redactor.longestHeld {
                    scan.hold(from: range.lowerBound)
                } else if let new = pseudonym(Array(scan.bytes[range]), .rule, "regex:\(pattern.text)") {
                    scan.edit(range, new)
                }
            }
        }
    }

    /// The places that JSON Pointers name, and the payload of GraphQL's `connection_init`.
    private func markRegions(_ scan: inout TextScan) {
        defer { if !rules.pointers.isEmpty { waitForDocument(&scan) } }
        let mayBeInit = scan.bytes.count < Redactor.longestUnit && isInit(scan.bytes)
        guard mayBeInit || !rules.pointers.isEmpty || !rules.keptPointers.isEmpty else { return }
        for document in documents(scan.bytes) {
            let json = JSONText(Array(scan.bytes[document]))
            func places(_ pointer: String) -> [Range<Int>] {
                json.ranges(at: pointer).map {
                    $0.lowerBound + document.lowerBound..<$0.upperBound + document.lowerBound
                }
            }
            for pointer in rules.pointers { for place in places(pointer) { scan.secretRegions.append((place, .rule)) } }
            for pointer in rules.keptPointers { scan.keptRegions += places(pointer) }
            guard mayBeInit, let type = json.range(at: "/type"), type.count <= 20,
                ["\"connection_init\"", "\"init\""].contains(String(decoding: json.bytes[type], as: UTF8.self))
            else { continue }
            for place in places("/payload") { scan.secretRegions.append((place, .connectionInit)) }
        }
    }

    /// The places that a pointer names are found in a whole document: the one at the end of a piece waits for its rest. What
    /// goes on behind a blank line is none: so events end.
    private func waitForDocument(_ scan: inout TextScan) {
        guard !scan.isWhole, !scan.keepsPieces, let last = documents(scan.bytes).last,
            last.upperBound == scan.bytes.count, last.count <= Redactor.longestHeld
        else { return }
        let bytes = Array(scan.bytes[last])
        guard position(of: "\n\n", in: bytes[...]) == nil, position(of: "\r\n\r\n", in: bytes[...]) == nil,
            (try? JSONValue(parsing: bytes)) == nil
        else { return }
        scan.hold(from: last.lowerBound)
    }

    private func isInit(_ bytes: [UInt8]) -> Bool {
        let first = bytes.first { $0 > 0x20 }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return false }
        return contains("connection_init", in: bytes[...])
            || bytes.count < 16 << 10 && contains("\"init\"", in: bytes[...])
    }

    /// The JSON documents of a text: all of it, or those between record separators, lines and the fields of events.
    private func documents(_ bytes: [UInt8]) -> [Range<Int>] {
        var documents: [Range<Int>] = []
        var at = 0
        while at < bytes.count {
            guard bytes[at] == UInt8(ascii: "{") || bytes[at] == UInt8(ascii: "[") else {
                at += 1
                continue
            }
            let end = JSONMembers.skipValue(bytes, at)
            documents.append(at..<end)
            at = max(end, at + 1)
        }
        return documents
    }
}
