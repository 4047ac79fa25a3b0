package import WiretapeBytes
package import WiretapeMessages
package import WiretapeWire

/// `--ignore 'Send:/arguments/0/sentAt'`: a place of a message that takes no part in matching.
package struct IgnoreRule: Hashable, Sendable, CustomStringConvertible {
    /// A target, event, operation or type; `*` for all. Of a plain request the path, or method and path.
    package var label: String
    /// A JSON Pointer (RFC 6901) in which `*` stands for every member or item of its level. For a plain request also
    /// `?name`, an item of its query.
    package var pointer: String

    package init(label: String, pointer: String) {
        self.label = label
        self.pointer = pointer
    }

    /// - Throws: when `text` is not `LABEL:/pointer`.
    package init(parsing text: String) throws(OptionError) {
        guard
            let colon = [":/", ":?"].compactMap({ text.firstRange(of: $0) }).min(by: { $0.lowerBound < $1.lowerBound }),
            colon.lowerBound > text.startIndex
        else {
            throw OptionError(
                "'\(text)' is not an ignore rule; write LABEL:/pointer, for instance 'Send:/arguments/0/sentAt'")
        }
        label = String(text[..<colon.lowerBound])
        pointer = String(text[text.index(after: colon.lowerBound)...])
    }

    package var description: String { "\(label):\(pointer)" }

    package func applies(to message: Message) -> Bool {
        label == "*" || message.label == label || message.type == label
    }

    /// The meaning of a message without the place: a member goes away, an item becomes null.
    package func removed(from meaning: JSONValue) -> JSONValue { meaning.without(pointer, anyName: "*") }
}
