internal import WiretapeWire

/// The ids of operations as texts: strings are themselves, and the numbers that lenient servers take keep apart from them.
enum GraphQLID {
    private static let mark = "#"

    /// `"1"` is `1`, the number 1 is `#1`, and `"#1"` is `##1`. Nil for any other value.
    static func text(_ id: JSONValue) -> String? {
        switch id {
        case .string(let text): text.hasPrefix(mark) ? mark + text : text
        case .number(let text): mark + text
        case .null, .bool, .array, .object: nil
        }
    }

    static func value(_ text: String) -> JSONValue {
        guard text.hasPrefix(mark) else { return .string(text) }
        let rest = String(text.dropFirst())
        return rest.hasPrefix(mark) ? .string(rest) : .number(rest)
    }
}
