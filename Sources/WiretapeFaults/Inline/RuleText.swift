internal import WiretapeBytes
internal import WiretapeWire

/// A cursor over a rule's text that knows where it stands, for errors that point at the word.
struct RuleText {
    private let characters: [Character]
    package private(set) var at = 0
    private let source: RuleSource

    init(_ text: String, from source: RuleSource) {
        characters = Array(text)
        self.source = source
    }

    package var isAtEnd: Bool { at == characters.count }

    package var next: Character? { at < characters.count ? characters[at] : nil }

    /// An error at a place, by default here.
    package func error(_ message: String, at place: Int? = nil) -> PlanError {
        PlanError(message, at: position(place ?? at))
    }

    package func position(_ place: Int) -> RuleSource {
        RuleSource(file: source.file, line: source.line, column: source.column + place)
    }

    package mutating func skipBlanks() {
        while let c = next, c.isWhitespace { at += 1 }
    }

    /// Takes the character when it comes next, after blanks.
    package mutating func take(_ wanted: Character) -> Bool {
        skipBlanks()
        guard next == wanted else { return false }
        at += 1
        return true
    }

    mutating func require(_ wanted: Character, after what: String) throws(PlanError) {
        guard !take(wanted) else { return }
        let found = next.map { "'\($0)'" } ?? "the end"
        throw error("expected '\(wanted)' after \(what), found \(found)")
    }

    /// The longest run of characters for which `belongs` holds.
    package mutating func run(_ belongs: (Character) -> Bool) -> String {
        let start = at
        while let c = next, belongs(c) { at += 1 }
        return String(characters[start..<at])
    }

    /// What is left, for errors: the word ahead, or everything where there is none.
    package var rest: String {
        let word = peekWord()
        return word.isEmpty ? String(characters[at...].prefix(20)) : word
    }

    /// Looks at the word ahead without taking it.
    func peekWord() -> String {
        var copy = self
        copy.skipBlanks()
        return copy.word()
    }

    /// Letters, digits, `_` and `-`.
    package mutating func word() -> String {
        run { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
    }

    /// `word { ("." | "-" | "/" | ":") word }`: a label without quotes.
    package mutating func label() -> String {
        run { $0.isLetter || $0.isNumber || "_-./:$#".contains($0) }
    }

    /// Up to one of the characters of `ends`; brackets and quotes of JSON within are passed over.
    package mutating func json(until ends: String) -> String {
        var depth = 0
        var inText = false
        var escaped = false
        return run { c in
            if inText {
                if !escaped, c == "\"" { inText = false }
                escaped = !escaped && c == "\\"
                return true
            }
            if depth == 0, ends.contains(c) { return false }
            if c == "\"" { inText = true }
            if c == "[" || c == "{" { depth += 1 }
            if c == "]" || c == "}" { depth -= 1 }
            return true
        }.trimmingBlanks()
    }

    /// Text in double quotes with the escapes of JSON.
    package mutating func quoted() throws(PlanError) -> String {
        let start = at
        at += 1
        while let c = next, c != "\"" { at += c == "\\" ? 2 : 1 }
        guard next == "\"" else {
            at = characters.count
            throw error("the quote is never closed", at: start)
        }
        at += 1
        guard let text = try? JSONValue(parsing: String(characters[start..<at])).string else {
            throw error("the text in quotes has a bad escape", at: start)
        }
        return text
    }
}
