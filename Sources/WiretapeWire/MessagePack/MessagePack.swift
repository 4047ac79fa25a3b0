internal import WiretapeBytes

/// MessagePack (github.com/msgpack/msgpack, spec.md) read as ``JSONValue``.
///
/// What JSON has no word for gets an object with one member: `{"$bin":base64}`, `{"$ext":[type,base64]}`, a timestamp
/// `{"$time":"2026-11-21T12:00:00Z"}`, `{"$float":"NaN"}`, `{"$text":hex}` for text that is not UTF-8, and
/// `{"$map":[[key,value],…]}` in the order of the keys for a map with keys that are no text. A map that would look like
/// one of these has one `$` more. So different values stay different, and the widths of integers, floats and lengths
/// leave no trace: floats are spelled as the double of their value.
package enum MessagePack {
    /// Deepest nesting.
    package static let deepest = 256
    /// Most values in one: a byte of input can be a value of many bytes.
    package static let mostValues = 1 << 20

    /// Reads the value at `at` and moves `at` behind it.
    /// - Throws: ``MessagePackError`` for a value that ends too early, nests deeper than `deepest`, has more than
    ///   `mostValues` parts, or begins with the byte 0xc1.
    package static func value(_ b: Span<UInt8>, _ at: inout Int) throws(MessagePackError) -> JSONValue {
        var left = mostValues
        return try value(b, &at, depth: 0, &left)
    }

    private static func value(
        _ b: Span<UInt8>, _ at: inout Int, depth: Int, _ left: inout Int
    ) throws(MessagePackError) -> JSONValue {
        let start = at
        guard depth < deepest else { throw MessagePackError(reason: "nested too deeply", offset: start) }
        guard left > 0 else { throw MessagePackError(reason: "more than \(mostValues) values", offset: start) }
        left -= 1
        switch try Head(b, &at) {
        case .scalar(let value): return value
        case .text(let range):
            let bytes = copy(b, range)
            return String(validUTF8: bytes).map(JSONValue.string) ?? tag("$text", .string(hexText(bytes)))
        case .bytes(let range): return tag("$bin", base64(b, range))
        case .typed(-1, let range):
            let bytes = copy(b, range)
            guard let text = MessagePackTime.text(of: bytes) else { return tag("$ext", extra(-1, b, range)) }
            return tag("$time", .string(text))
        case .typed(let type, let range): return tag("$ext", extra(type, b, range))
        case .array(let count):
            var items: [JSONValue] = []
            for _ in 0..<count { items.append(try value(b, &at, depth: depth + 1, &left)) }
            return .array(items)
        case .map(let count):
            var entries: [(key: JSONValue, value: JSONValue)] = []
            for _ in 0..<count {
                let key = try value(b, &at, depth: depth + 1, &left)
                entries.append((key, try value(b, &at, depth: depth + 1, &left)))
            }
            return object(entries)
        }
    }

    private static let tags: Set<String> = ["$bin", "$ext", "$time", "$float", "$text", "$map"]

    static func tag(_ name: String, _ value: JSONValue) -> JSONValue { .object([.init(name, value)]) }

    private static func extra(_ type: Int8, _ b: Span<UInt8>, _ range: Range<Int>) -> JSONValue {
        .array([.number(type), base64(b, range)])
    }

    private static func object(_ entries: [(key: JSONValue, value: JSONValue)]) -> JSONValue {
        guard entries.allSatisfy({ $0.key.string != nil }) else {
            let sorted = entries.map { ($0.key.canonicalText, $0.key, $0.value) }.sorted { $0.0 < $1.0 }
            return tag("$map", .array(sorted.map { .array([$0.1, $0.2]) }))
        }
        var members = entries.map { JSONValue.Member($0.key.string ?? "", $0.value) }
        if members.count == 1, looksLikeTag(members[0].name) { members[0].name = "$" + members[0].name }
        return .object(members)
    }

    /// A tag, or a tag behind more signs: `$bin`, `$$bin`.
    static func looksLikeTag(_ name: String) -> Bool {
        name.hasPrefix("$") && tags.contains("$" + name.drop { $0 == "$" })
    }

    private static func copy(_ b: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(copying: b.extracting(range))
        return bytes
    }

    private static func base64(_ b: Span<UInt8>, _ range: Range<Int>) -> JSONValue {
        .string(Base64.encode(b.extracting(range)))
    }
}

/// Why bytes are not MessagePack, and where.
package struct MessagePackError: Error, Hashable, Sendable, CustomStringConvertible {
    package var reason: String
    /// Offset of the offending byte.
    package var offset: Int

    package init(reason: String, offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    package var description: String { "\(reason) at byte \(offset)" }
}
