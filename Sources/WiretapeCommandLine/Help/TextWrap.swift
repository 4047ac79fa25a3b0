/// Breaks text into lines for a terminal.
package enum TextWrap {
    /// Lines of at most `width` characters, broken at spaces. A longer word stands alone.
    package static func lines(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
            var line = ""
            for word in paragraph.split(separator: " ") {
                if !line.isEmpty, line.count + 1 + word.count > width {
                    lines.append(line)
                    line = ""
                }
                line += (line.isEmpty ? "" : " ") + word
            }
            lines.append(line)
        }
        return lines
    }

    /// The text as lines that begin with `indent` spaces, each ended.
    package static func block(_ text: String, indent: Int, width: Int) -> String {
        let margin = String(repeating: " ", count: indent)
        return lines(text, width: max(20, width - indent)).map { ($0.isEmpty ? "" : margin + $0) + "\n" }.joined()
    }

    /// `term` and its explanation in a second column; below the term when that is too long.
    package static func entry(_ term: String, _ text: String, column: Int, width: Int) -> String {
        let margin = String(repeating: " ", count: column)
        var lines = lines(text, width: max(20, width - column))
        if lines.isEmpty { lines = [""] }
        var out = "  " + term
        if out.count + 2 <= column {
            out += String(repeating: " ", count: column - out.count) + lines.removeFirst()
        }
        return out + "\n" + lines.map { margin + $0 + "\n" }.joined()
    }
}
