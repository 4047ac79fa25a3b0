extension JSONValue {
    /// The same meaning gives the same text: members sorted by name (the last of equal names wins, as in JavaScript),
    /// integers without fraction or exponent, other numbers as the shortest spelling of their double.
    package var canonical: JSONValue {
        switch self {
        case .array(let items): return .array(items.map(\.canonical))
        case .object(let members):
            var last: [String: JSONValue] = [:]
            for member in members { last[member.name] = member.value }
            return .object(last.keys.sorted().map { Member($0, last[$0]!.canonical) })
        case .number(let text): return .number(JSONValue.canonicalNumber(text))
        case .null, .bool, .string: return self
        }
    }

    package var canonicalText: String { canonical.text }

    private static func canonicalNumber(_ text: String) -> String {
        if text == "-0" { return "0" }
        if text.utf8.allSatisfy({ $0 != UInt8(ascii: ".") && $0 | 0x20 != UInt8(ascii: "e") }) { return text }
        guard let value = Double(text), value.isFinite else { return text }
        if let whole = Int64(exactly: value) { return String(whole) }
        if let whole = UInt64(exactly: value) { return String(whole) }
        return "\(value)"
    }
}
