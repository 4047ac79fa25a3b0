package import WiretapeBytes

extension JSONValue {
    /// The same meaning gives the same text: members sorted by name (the last of equal names wins, as in JavaScript),
    /// integers without fraction or exponent, other numbers as the shortest spelling of their double.
    package var canonical: JSONValue {
        switch self {
        case .array(let items): return .array(items.map(\.canonical))
        case .object(let members):
            // As most are, for one: nothing to sort, and nothing twice.
            if JSONValue.isSorted(members) { return .object(members.map { Member($0.name, $0.value.canonical) }) }
            var last: [String: JSONValue] = [:]
            for member in members { last[member.name] = member.value }
            return .object(last.keys.sorted().map { Member($0, last[$0]!.canonical) })
        case .number(let text): return .number(JSONValue.canonicalNumber(text))
        case .null, .bool, .string: return self
        }
    }

    package var canonicalText: String { canonical.text }

    /// Equal values have equal canonical forms: what ``canonicalText`` says goes into the hash, without the text being made.
    package func combineCanonical(into hash: inout StableHash) {
        switch self {
        case .null: hash.combine(UInt8(0))
        case .bool(let value): hash.combine(UInt8(value ? 2 : 1))
        case .number(let text):
            hash.combine(UInt8(3))
            hash.combine(JSONValue.canonicalNumber(text))
        case .string(let text):
            hash.combine(UInt8(4))
            hash.combine(text)
        case .array(let items):
            hash.combine(UInt8(5))
            for item in items { item.combineCanonical(into: &hash) }
            hash.combine(UInt8(7))
        case .object(let members):
            guard JSONValue.isSorted(members) else { return canonical.combineCanonical(into: &hash) }
            hash.combine(UInt8(6))
            for member in members {
                hash.combine(UInt8(8))
                hash.combine(member.name)
                member.value.combineCanonical(into: &hash)
            }
            hash.combine(UInt8(7))
        }
    }

    /// Whether each name stands behind the one before it.
    private static func isSorted(_ members: [Member]) -> Bool {
        members.indices.dropFirst().allSatisfy { members[$0 - 1].name < members[$0].name }
    }

    private static func canonicalNumber(_ text: String) -> String {
        if text == "-0" { return "0" }
        if text.utf8.allSatisfy({ $0 != UInt8(ascii: ".") && $0 | 0x20 != UInt8(ascii: "e") }) { return text }
        guard let value = Double(text), value.isFinite else { return text }
        if let whole = Int64(exactly: value) { return String(whole) }
        if let whole = UInt64(exactly: value) { return String(whole) }
        return "\(value)"
    }
}
