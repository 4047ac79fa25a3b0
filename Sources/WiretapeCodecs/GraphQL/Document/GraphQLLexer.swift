internal import WiretapeWire

/// Cuts a GraphQL document into tokens. White space, line ends, commas, comments and byte order marks mean nothing there
/// and are left out (GraphQL specification, section 2.1.7).
struct GraphQLLexer {
    private let bytes: [UInt8]
    private var at = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    /// All tokens of the text.
    static func tokens(of text: String) throws(GraphQLFault) -> [GraphQLToken] {
        var lexer = GraphQLLexer(text)
        var tokens: [GraphQLToken] = []
        while let token = try lexer.next() { tokens.append(token) }
        return tokens
    }

    /// Nil at the end.
    mutating func next() throws(GraphQLFault) -> GraphQLToken? {
        skipIgnored()
        guard at < bytes.count else { return nil }
        switch bytes[at] {
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "("), UInt8(ascii: ")"),
            UInt8(ascii: ":"), UInt8(ascii: "="), UInt8(ascii: "@"), UInt8(ascii: "["), UInt8(ascii: "]"),
            UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            at += 1
            return .mark(text(at - 1..<at))
        case UInt8(ascii: "."):
            guard at + 2 < bytes.count, bytes[at + 1] == UInt8(ascii: "."), bytes[at + 2] == UInt8(ascii: ".") else {
                throw GraphQLFault("a single '.' at byte \(at)")
            }
            at += 3
            return .mark("...")
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(number())
        case let byte where GraphQLLexer.isNameByte(byte): return .name(run(while: GraphQLLexer.isNameByte))
        default: throw GraphQLFault("an unexpected character at byte \(at)")
        }
    }

    private mutating func skipIgnored() {
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), 0x0a, 0x0d, UInt8(ascii: ","): at += 1
            case UInt8(ascii: "#"):
                while at < bytes.count, bytes[at] != 0x0a, bytes[at] != 0x0d { at += 1 }
            case 0xef where bytes[at...].starts(with: [0xef, 0xbb, 0xbf]): at += 3
            default: return
            }
        }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private mutating func run(while belongs: (UInt8) -> Bool) -> String {
        let start = at
        while at < bytes.count, belongs(bytes[at]) { at += 1 }
        return text(start..<at)
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// Digits, sign, fraction and exponent. What servers would refuse (`01`) is one number here, too.
    private mutating func number() -> String {
        var before: UInt8 = 0
        return run { byte in
            defer { before = byte | 0x20 }
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "e"), UInt8(ascii: "E"): return true
            case UInt8(ascii: "."): return before != UInt8(ascii: ".") | 0x20
            case UInt8(ascii: "-"), UInt8(ascii: "+"): return before == 0 || before == UInt8(ascii: "e")
            default: return false
            }
        }
    }

    // MARK: Strings

    private mutating func string() throws(GraphQLFault) -> String {
        let start = at
        if bytes[at...].starts(with: GraphQLLexer.blockQuote) { return try blockString() }
        at += 1
        var value: [UInt8] = []
        while true {
            guard at < bytes.count, bytes[at] != 0x0a, bytes[at] != 0x0d else {
                throw GraphQLFault("the string at byte \(start) has no end")
            }
            let byte = bytes[at]
            at += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: value, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &value)
            default: value.append(byte)
            }
        }
    }

    /// Behind a backslash.
    private mutating func escape(into value: inout [UInt8]) throws(GraphQLFault) {
        guard at < bytes.count else { throw GraphQLFault("the text ends within an escape") }
        let letter = bytes[at]
        at += 1
        guard letter == UInt8(ascii: "u") else {
            guard let byte = JSONUnescape.byte(of: letter) else {
                throw GraphQLFault("an unknown escape at byte \(at - 2)")
            }
            return value.append(byte)
        }
        var point = try scalarValue()
        if JSONUnescape.isHighSurrogate(point), bytes[at...].starts(with: Array("\\u".utf8)) {
            let back = at
            at += 2
            if let whole = JSONUnescape.joined(point, try scalarValue()) { point = whole } else { at = back }
        }
        JSONUnescape.append(point, into: &value)
    }

    /// Four hexadecimal digits, or up to six in braces.
    private mutating func scalarValue() throws(GraphQLFault) -> UInt32 {
        let isBraced = at < bytes.count && bytes[at] == UInt8(ascii: "{")
        if isBraced { at += 1 }
        let start = at
        var value: UInt32 = 0
        while at < bytes.count, at - start < (isBraced ? 6 : 4), let digit = hexDigit(bytes[at]) {
            value = value << 4 | UInt32(digit)
            at += 1
        }
        guard isBraced ? at > start && at < bytes.count && bytes[at] == UInt8(ascii: "}") : at - start == 4 else {
            throw GraphQLFault("a bad \\u escape at byte \(start)")
        }
        if isBraced { at += 1 }
        return value
    }

    private static let blockQuote = Array("\"\"\"".utf8)

    private mutating func blockString() throws(GraphQLFault) -> String {
        let start = at
        at += 3
        var raw: [UInt8] = []
        while at < bytes.count {
            if bytes[at] == UInt8(ascii: "\""), bytes[at...].starts(with: GraphQLLexer.blockQuote) {
                at += 3
                return GraphQLBlockString.value(of: raw)
            }
            if bytes[at] == UInt8(ascii: "\\"), bytes[(at + 1)...].starts(with: GraphQLLexer.blockQuote) {
                raw += GraphQLLexer.blockQuote
                at += 4
            } else {
                raw.append(bytes[at])
                at += 1
            }
        }
        throw GraphQLFault("the block string at byte \(start) has no end")
    }
}

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
