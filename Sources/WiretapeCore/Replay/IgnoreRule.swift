/// `--ignore 'Send:/arguments/0/sentAt'`: a place of a message that takes no part in matching.
package struct IgnoreRule: Hashable, Sendable, CustomStringConvertible {
    /// A target, event, operation or type.
    package var label: String
    /// A JSON Pointer (RFC 6901).
    package var pointer: String

    package init(label: String, pointer: String) {
        self.label = label
        self.pointer = pointer
    }

    /// - Throws: when `text` is not `LABEL:/pointer`.
    package init(parsing text: String) throws(OptionError) {
        guard let colon = text.firstRange(of: ":/"), colon.lowerBound > text.startIndex else {
            throw OptionError(
                "'\(text)' is not an ignore rule; write LABEL:/pointer, for instance 'Send:/arguments/0/sentAt'")
        }
        label = String(text[..<colon.lowerBound])
        pointer = String(text[text.index(after: colon.lowerBound)...])
    }

    package var description: String { "\(label):\(pointer)" }

    package func applies(to message: Message) -> Bool { message.label == label || message.type == label }
}
