internal import WiretapeBytes

extension JSONValue {
    /// Parses exactly one value (RFC 8259) with white space around it.
    /// - Throws: ``JSONError`` for anything else, for invalid UTF-8 in a string, for a nesting deeper than 256, and for more
    ///   than `most`. An escaped lone surrogate becomes U+FFFD: JavaScript writes them.
    package init(parsing bytes: Span<UInt8>, most: Int = JSONValue.mostValues) throws(JSONError) {
        var at = 0
        var left = most
        do throws(JSONError) {
            self = try JSONReading.value(bytes, &at, depth: 0, &left)
        } catch {
            guard error.reason == JSONReading.tooMany else { throw error }
            throw JSONError(reason: "more than \(most) values", offset: error.offset)
        }
        JSONReading.skipBlanks(bytes, &at)
        guard at == bytes.count else { throw JSONError(reason: "more after the value", offset: at) }
    }

    package init(parsing bytes: [UInt8]) throws(JSONError) { try self.init(parsing: bytes.span) }

    package init(parsing text: String) throws(JSONError) { try self.init(parsing: Array(text.utf8).span) }

    /// Most values in one text, names of members among them: two bytes of text can be a value of 64. A text of 2 MiB
    /// never has more.
    package static let mostValues = 1 << 20
}

/// The steps of the parser: each starts at `at` and leaves it behind what it read.
private enum JSONReading {
    static let deepest = 256
    static let tooMany = "too many values"

    static func skipBlanks(_ b: Span<UInt8>, _ at: inout Int) {
        while at < b.count, b[at] == 0x20 || b[at] == 0x0a || b[at] == 0x0d || b[at] == 0x09 { at += 1 }
    }

    static func value(
        _ b: Span<UInt8>, _ at: inout Int, depth: Int, _ left: inout Int
    ) throws(JSONError) -> JSONValue {
        guard depth < deepest else { throw JSONError(reason: "nested too deeply", offset: at) }
        try count(&left, at)
        skipBlanks(b, &at)
        guard at < b.count else { throw JSONError(reason: "ends too early", offset: at) }
        switch b[at] {
        case UInt8(ascii: "{"): return try object(b, &at, depth: depth, &left)
        case UInt8(ascii: "["): return try array(b, &at, depth: depth, &left)
        case UInt8(ascii: "\""): return .string(try string(b, &at))
        case UInt8(ascii: "t"): return try word("true", .bool(true), b, &at)
        case UInt8(ascii: "f"): return try word("false", .bool(false), b, &at)
        case UInt8(ascii: "n"): return try word("null", .null, b, &at)
        default: return .number(try number(b, &at))
        }
    }

    static func count(_ left: inout Int, _ at: Int) throws(JSONError) {
        guard left > 0 else { throw JSONError(reason: tooMany, offset: at) }
        left -= 1
    }

    static func word(_ text: StaticString, _ value: JSONValue, _ b: Span<UInt8>, _ at: inout Int) throws(JSONError)
        -> JSONValue
    {
        let start = at
        for byte in "\(text)".utf8 {
            guard at < b.count, b[at] == byte else { throw JSONError(reason: "unknown word", offset: start) }
            at += 1
        }
        return value
    }

    static func object(
        _ b: Span<UInt8>, _ at: inout Int, depth: Int, _ left: inout Int
    ) throws(JSONError) -> JSONValue {
        at += 1
        var members: [JSONValue.Member] = []
        skipBlanks(b, &at)
        if at < b.count, b[at] == UInt8(ascii: "}") {
            at += 1
            return .object(members)
        }
        while true {
            skipBlanks(b, &at)
            guard at < b.count, b[at] == UInt8(ascii: "\"") else {
                throw JSONError(reason: "expected a name", offset: at)
            }
            try count(&left, at)
            let name = try string(b, &at)
            skipBlanks(b, &at)
            guard at < b.count, b[at] == UInt8(ascii: ":") else { throw JSONError(reason: "expected ':'", offset: at) }
            at += 1
            members.append(.init(name, try value(b, &at, depth: depth + 1, &left)))
            skipBlanks(b, &at)
            guard at < b.count else { throw JSONError(reason: "ends too early", offset: at) }
            at += 1
            if b[at - 1] == UInt8(ascii: "}") { return .object(members) }
            guard b[at - 1] == UInt8(ascii: ",") else { throw JSONError(reason: "expected ',' or '}'", offset: at - 1) }
        }
    }

    static func array(
        _ b: Span<UInt8>, _ at: inout Int, depth: Int, _ left: inout Int
    ) throws(JSONError) -> JSONValue {
        at += 1
        var items: [JSONValue] = []
        skipBlanks(b, &at)
        if at < b.count, b[at] == UInt8(ascii: "]") {
            at += 1
            return .array(items)
        }
        while true {
            items.append(try value(b, &at, depth: depth + 1, &left))
            skipBlanks(b, &at)
            guard at < b.count else { throw JSONError(reason: "ends too early", offset: at) }
            at += 1
            if b[at - 1] == UInt8(ascii: "]") { return .array(items) }
            guard b[at - 1] == UInt8(ascii: ",") else { throw JSONError(reason: "expected ',' or ']'", offset: at - 1) }
        }
    }

    static func number(_ b: Span<UInt8>, _ at: inout Int) throws(JSONError) -> String {
        let start = at
        func digits() -> Int {
            let from = at
            while at < b.count, b[at] >= 0x30, b[at] <= 0x39 { at += 1 }
            return at - from
        }
        if at < b.count, b[at] == UInt8(ascii: "-") { at += 1 }
        let leadingZero = at < b.count && b[at] == 0x30
        let whole = digits()
        guard whole > 0, !(leadingZero && whole > 1) else { throw JSONError(reason: "not a value", offset: start) }
        if at < b.count, b[at] == UInt8(ascii: ".") {
            at += 1
            guard digits() > 0 else { throw JSONError(reason: "digits missing", offset: at) }
        }
        if at < b.count, b[at] | 0x20 == UInt8(ascii: "e") {
            at += 1
            if at < b.count, b[at] == UInt8(ascii: "+") || b[at] == UInt8(ascii: "-") { at += 1 }
            guard digits() > 0 else { throw JSONError(reason: "digits missing", offset: at) }
        }
        return try copy(b.extracting(start..<at), at: start)
    }

    /// Copies the bytes once: a text may be as long as a message.
    static func copy(_ bytes: Span<UInt8>, at start: Int) throws(JSONError) -> String {
        do throws(UTF8.ValidationError) {
            return String(copying: try UTF8Span(validating: bytes))
        } catch {
            throw JSONError(reason: "invalid UTF-8", offset: start)
        }
    }

    static func string(_ b: Span<UInt8>, _ at: inout Int) throws(JSONError) -> String {
        let start = at
        at += 1
        var text: [UInt8] = []
        while true {
            let from = at
            while at < b.count, b[at] != UInt8(ascii: "\""), b[at] != UInt8(ascii: "\\"), b[at] >= 0x20 { at += 1 }
            if text.isEmpty, at < b.count, b[at] == UInt8(ascii: "\"") {
                at += 1
                return try copy(b.extracting(from..<at - 1), at: start)
            }
            if at > from { text.append(copying: b.extracting(from..<at)) }
            guard at < b.count else { throw JSONError(reason: "string without end", offset: start) }
            if b[at] == UInt8(ascii: "\"") {
                at += 1
                guard let value = String(validUTF8: text) else {
                    throw JSONError(reason: "invalid UTF-8", offset: start)
                }
                return value
            }
            guard b[at] == UInt8(ascii: "\\") else {
                throw JSONError(reason: "control character in a string", offset: at)
            }
            try escape(b, &at, into: &text)
        }
    }

    private static func escape(_ b: Span<UInt8>, _ at: inout Int, into text: inout [UInt8]) throws(JSONError) {
        do throws(JSONUnescape.Fault) {
            try JSONUnescape.take(b, &at, into: &text)
        } catch {
            switch error {
            case .end(let at): throw JSONError(reason: "string without end", offset: at)
            case .digit(let at): throw JSONError(reason: "bad \\u escape", offset: at)
            case .letter(_, let at): throw JSONError(reason: "unknown escape", offset: at)
            }
        }
    }
}

/// Why bytes are not JSON, and where.
package struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    package var reason: String
    /// Offset of the offending byte.
    package var offset: Int

    package var description: String { "\(reason) at byte \(offset)" }
}
