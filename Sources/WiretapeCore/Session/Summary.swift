/// Text for one line of a terminal.
package enum Summary {
    /// Longest summary in characters.
    package static let limit = 120

    /// The text on one line, without control characters, at most `limit` characters and then an ellipsis.
    package static func line(_ text: String, limit: Int = Summary.limit) -> String {
        // Plain text is most of it, and live messages wait for this: characters are counted only where there may be others.
        var count = 0
        for byte in text.utf8 {
            guard byte >= 0x20, byte < 0x7f else { return fitted(text, limit) }
            count += 1
            guard count > limit else { continue }
            guard limit > 0 else { break }
            return String(text[..<text.utf8.index(text.startIndex, offsetBy: limit - 1)]) + "…"
        }
        return count <= limit ? text : fitted(text, limit)
    }

    private static func fitted(_ text: String, _ limit: Int) -> String {
        var kept = ""
        if let end = text.index(text.startIndex, offsetBy: limit, limitedBy: text.endIndex), end < text.endIndex {
            kept = String(text.prefix(max(0, limit - 1))) + "…"
        } else {
            kept = String(text)
        }
        guard kept.unicodeScalars.contains(where: isUnprintable) else { return kept }
        var out = String.UnicodeScalarView()
        for scalar in kept.unicodeScalars {
            if isUnprintable(scalar) {
                out.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
            } else {
                out.append(scalar)
            }
        }
        return String(out)
    }

    /// Controls, line and paragraph separators, and the marks that turn the direction of writing.
    private static func isUnprintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7f..<0xa0, 0x2028, 0x2029, 0x202a...0x202e, 0x2066...0x2069: true
        default: false
        }
    }

    /// The value's text; of a long string as much as a line can show.
    private static func beginning(of value: JSONValue) -> String {
        guard case .string(let text) = value, text.utf8.count > limit * 16 else { return value.text }
        return JSONValue.string(String(text.prefix(limit * 2))).text
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
