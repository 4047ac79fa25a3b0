internal import WiretapeBytes

/// Text for one line of a terminal.
package enum Summary {
    /// Longest summary in characters.
    package static let limit = 120

    /// The text on one line, without control characters, at most `limit` characters and then an ellipsis.
    package static func line(_ text: String, limit: Int = Summary.limit) -> String {
        // Plain text is most of it, and live messages wait for this: characters are counted only where there may be others.
        let count = text.utf8.count
        guard isPrintableASCII(text.utf8.span.extracting(first: limit + 1)), limit > 0 || count == 0 else {
            return fitted(text, limit)
        }
        guard count > limit else { return text }
        var cut = ""
        cut.reserveCapacity(limit + 2)
        cut += text[..<text.utf8.index(text.startIndex, offsetBy: limit - 1)]
        return cut + "…"
    }

    private static func fitted(_ text: String, _ limit: Int) -> String {
        var kept = ""
        if let end = text.index(text.startIndex, offsetBy: limit, limitedBy: text.endIndex), end < text.endIndex {
            kept = String(text.prefix(max(0, limit - 1))) + "…"
        } else {
            kept = String(text)
        }
        return TerminalText.line(kept)
    }

    /// The text on one line, whole: for names, places and other parts of sentences that came from outside.
    package static func part(_ text: String) -> String { TerminalText.line(text) }

    /// How many bytes these are, and the first of them in hexadecimal.
    package static func bytes(_ bytes: [UInt8]) -> String {
        line("\(bytes.count) bytes \(hexText(bytes.prefix(32)))\(bytes.count > 32 ? "…" : "")")
    }

    /// The text as one word of a shell's command line that people may copy: `'ReceiveMessage:/arguments/1'`.
    package static func shellWord(_ text: String) -> String {
        "'\(part(text).replacing("'", with: #"'\''"#))'"
    }

    /// The value's text; of a long one as much as a line can show.
    private static func beginning(of value: JSONValue) -> String {
        value.beginning(limit * 16)
    }

    /// `name(1, "two")`: a call as people write it.
    package static func call(_ name: String, _ arguments: [JSONValue]) -> String {
        var text = name + "("
        for (i, argument) in arguments.enumerated() {
            if text.utf8.count > limit * 4 { break }
            text += (i == 0 ? "" : ", ") + beginning(of: argument)
        }
        return line(text + ")")
    }
}
