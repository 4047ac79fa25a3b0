internal import WiretapeWire

/// A lexical token of a GraphQL document (GraphQL specification, October 2021, section 2.1.6).
enum GraphQLToken: Hashable, Sendable {
    /// A punctuator: `{`, `...`, `$` …
    case mark(String)
    case name(String)
    /// As it was spelled.
    case number(String)
    /// The value of a string or a block string.
    case string(String)

    /// The token's own text; of strings of equal value the same one.
    func write(into out: inout String) {
        switch self {
        case .mark(let text), .name(let text), .number(let text): out += text
        case .string(let text):
            var quoted: [UInt8] = []
            JSONValue.writeString(text, into: &quoted)
            out += String(decoding: quoted, as: UTF8.self)
        }
    }

    var isMark: Bool { if case .mark = self { true } else { false } }
    var name: String? { if case .name(let text) = self { text } else { nil } }
}
