/// Text that came from outside, made harmless for a terminal. Escape sequences begin with a control character, and marks
/// of bidirectional writing show another text than the one that is there: both are written as their numbers.
package enum TerminalText {
    /// C0 and C1 controls, DEL, line and paragraph separators, and the marks that turn the direction of writing.
    package static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7f..<0xa0, 0x061c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }

    /// `ESC [` becomes `\u{1b}[`. Line feeds stay.
    package static func lines(_ text: String) -> String { escaped(text, as: .people) { _ in true } }

    /// As ``lines(_:)``, and a line feed becomes `\u{a}`: for what stands within one line.
    package static func line(_ text: String) -> String { escaped(text, as: .people) { _ in false } }

    /// As ``line(_:)``, but line feeds stay where an indented line follows: such a text can have further lines and cannot
    /// begin a line that looks like one of ours.
    package static func block(_ text: String) -> String { escaped(text, as: .people) { $0.starts(with: "    ".utf8) } }

    /// JSON that means the same: `\u009b` for a control character in one of its strings. Line feeds stay.
    package static func json(_ text: String) -> String { escaped(text, as: .json) { _ in true } }

    private enum Form { case people, json }

    /// - Parameter keepsBreak: gets what follows a line feed.
    private static func escaped(_ text: String, as form: Form, keepsBreak: (Substring.UTF8View) -> Bool) -> String {
        // Nearly all text is plain, and most of the rest has nothing harmful.
        guard text.utf8.contains(where: { $0 < 0x20 || $0 >= 0x7f }) else { return text }
        let scalars = text.unicodeScalars
        var out = String.UnicodeScalarView()
        var plain = scalars.startIndex
        var at = scalars.startIndex
        while at < scalars.endIndex {
            let scalar = scalars[at]
            let next = scalars.index(after: at)
            if isHarmful(scalar), scalar != "\n" || !keepsBreak(text[next...].utf8) {
                out.append(contentsOf: scalars[plain..<at])
                out.append(contentsOf: spelled(scalar, form).unicodeScalars)
                plain = next
            }
            at = next
        }
        guard plain > scalars.startIndex else { return text }
        out.append(contentsOf: scalars[plain...])
        return String(out)
    }

    private static func spelled(_ scalar: Unicode.Scalar, _ form: Form) -> String {
        let hex = String(scalar.value, radix: 16)
        switch form {
        case .people: return "\\u{\(hex)}"
        // None of them is above U+FFFF.
        case .json: return "\\u" + String(repeating: "0", count: max(0, 4 - hex.count)) + hex
        }
    }
}
