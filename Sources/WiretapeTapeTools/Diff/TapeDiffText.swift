internal import WiretapeProtocol
internal import WiretapeWire

/// Differences in words.
package enum TapeDiffText {
    /// A heading and two lines, in the manner of the divergences of a replay:
    ///
    ///     session 1 (/chat): client message 2 differs
    ///         chat.tape:13    Invocation Send("ada", "hi")
    ///         new.tape:14     Invocation Send("ada", "hi!")            /arguments/1
    ///         accept:         --ignore 'Send:/arguments/1'
    package static func text(_ difference: TapeDifference, _ first: String, _ second: String) -> String {
        var text = Summary.part(heading(difference, first, second)) + "\n"
        let labels = (label(difference.first, first), label(difference.second, second))
        let column = max(labels.0.count, labels.1.count, 7) + 2
        func line(_ label: String, _ content: String) -> String {
            "    \(label)\(String(repeating: " ", count: column - label.count))\(Summary.part(content))\n"
        }
        if let side = difference.first { text += line(labels.0, side.text) }
        if let side = difference.second {
            let where_ = places(difference.pointers)
            let padding = String(repeating: " ", count: where_.isEmpty ? 0 : max(4, 41 - side.text.count))
            text += line(labels.1, side.text + padding + where_)
        }
        if !difference.ignore.isEmpty {
            text += line(
                "accept:",
                difference.ignore.map { "--ignore \(Summary.shellWord($0.description))" }.joined(separator: " "))
        }
        return text
    }

    /// A row of the table of ``markdownHead(_:_:)``.
    package static func markdown(_ difference: TapeDifference, _ first: String, _ second: String) -> String {
        func cell(_ side: TapeDifference.Side?) -> String {
            side.map { "\($0.line > 0 ? "\($0.line): " : "")\(code($0.text))" } ?? ""
        }
        let pointer = difference.pointers.isEmpty ? "" : code(places(difference.pointers))
        return
            "| \(escaped(difference.place)) | \(difference.what) \(word(difference.kind)) | \(cell(difference.first)) | \(cell(difference.second)) | \(pointer) |\n"
    }

    package static func markdownHead(_ first: String, _ second: String) -> String {
        "| | | \(escaped(first)) | \(escaped(second)) | where |\n|---|---|---|---|---|\n"
    }

    package static func heading(_ difference: TapeDifference, _ first: String, _ second: String) -> String {
        let place = difference.place.isEmpty ? "" : "\(difference.place): "
        switch difference.kind {
        case .changed: return "\(place)\(difference.what) differs"
        case .missing: return "\(place)\(difference.what) is on \(first) only"
        case .added: return "\(place)\(difference.what) is on \(second) only"
        case .moved: return "\(place)\(difference.what) has another place in the order"
        }
    }

    private static func places(_ pointers: [String]) -> String {
        let shown = pointers.prefix(TapeDifference.most).map { $0.isEmpty ? "(whole message)" : $0 }
        let more = pointers.count - shown.count
        return (shown + (more > 0 ? ["and \(more) more"] : [])).joined(separator: " ")
    }

    private static func word(_ kind: TapeDifference.Kind) -> String { kind == .changed ? "differs" : kind.rawValue }

    private static func label(_ side: TapeDifference.Side?, _ name: String) -> String {
        guard let side else { return "" }
        return side.line > 0 ? "\(name):\(side.line)" : name
    }

    private static func escaped(_ text: String) -> String { Summary.part(text).replacing("|", with: "\\|") }

    /// In backquotes, more of them than the text has.
    private static func code(_ text: String) -> String {
        var longest = 0
        var run = 0
        for character in text {
            run = character == "`" ? run + 1 : 0
            longest = max(longest, run)
        }
        let fence = String(repeating: "`", count: longest + 1)
        let gap = longest > 0 ? " " : ""
        return "\(fence)\(gap)\(escaped(text))\(gap)\(fence)"
    }
}
