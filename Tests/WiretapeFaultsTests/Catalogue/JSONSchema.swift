import WiretapeFaults
import WiretapeWire

/// As much of JSON Schema 2020-12 as the schemas of this project use.
struct JSONSchema {
    let root: JSONValue

    /// What of `value` is not as the schema wants it, as paths and keywords.
    func problems(_ value: JSONValue) -> [String] { check(value, root, at: "") }

    private func check(_ value: JSONValue, _ schema: JSONValue, at path: String) -> [String] {
        var found: [String] = []
        for keyword in schema.members ?? [] {
            let fits = holds(keyword.name, keyword.value, value, schema, path, &found)
            if !fits { found.append("\(path): \(keyword.name)") }
        }
        return found
    }

    private func holds(
        _ keyword: String, _ wanted: JSONValue, _ value: JSONValue, _ schema: JSONValue, _ path: String,
        _ found: inout [String]
    ) -> Bool {
        switch keyword {
        case "$ref": found += check(value, target(wanted.string ?? ""), at: path)
        case "type": return (wanted.array ?? [wanted]).contains { isA($0.string ?? "", value) }
        case "enum": return wanted.array?.contains { $0.canonicalText == value.canonicalText } ?? false
        case "oneOf": return wanted.array?.count { check(value, $0, at: path).isEmpty } == 1
        case "not": return !check(value, wanted, at: path).isEmpty
        case "pattern": return value.string.map { isFound(wanted.string ?? "", in: $0) } ?? true
        case "minLength": return value.string.map { $0.count >= number(wanted) } ?? true
        case "minimum": return isNumber(value) ? double(value) >= double(wanted) : true
        case "maximum": return isNumber(value) ? double(value) <= double(wanted) : true
        case "minItems": return value.array.map { $0.count >= number(wanted) } ?? true
        case "maxItems": return value.array.map { $0.count <= number(wanted) } ?? true
        case "minProperties": return value.members.map { $0.count >= number(wanted) } ?? true
        case "maxProperties": return value.members.map { $0.count <= number(wanted) } ?? true
        case "required":
            return value.members.map { members in
                wanted.array?.allSatisfy { name in members.contains { $0.name == name.string } } ?? false
            } ?? true
        case "items":
            for (i, item) in (value.array ?? []).enumerated() { found += check(item, wanted, at: "\(path)/\(i)") }
        case "properties":
            for member in value.members ?? [] {
                if let own = wanted[member.name] { found += check(member.value, own, at: "\(path)/\(member.name)") }
            }
        case "patternProperties":
            for member in value.members ?? [] {
                for rule in wanted.members ?? [] where isFound(rule.name, in: member.name) {
                    found += check(member.value, rule.value, at: "\(path)/\(member.name)")
                }
            }
        case "additionalProperties":
            let patterns = schema["patternProperties"]?.members?.map(\.name) ?? []
            for member in value.members ?? [] where schema["properties"]?[member.name] == nil {
                guard !patterns.contains(where: { isFound($0, in: member.name) }) else { continue }
                if wanted.bool == false { return false }
                found += check(member.value, wanted, at: "\(path)/\(member.name)")
            }
        default: break
        }
        return true
    }

    private func target(_ reference: String) -> JSONValue {
        reference.split(separator: "/").dropFirst().reduce(root) { $0[String($1)] ?? .null }
    }

    private func isA(_ type: String, _ value: JSONValue) -> Bool {
        switch (type, value) {
        case ("object", .object), ("array", .array), ("string", .string), ("boolean", .bool), ("null", .null): true
        case ("number", .number): true
        case ("integer", .number): double(value).rounded() == double(value)
        default: false
        }
    }

    private func isNumber(_ value: JSONValue) -> Bool { if case .number = value { true } else { false } }

    private func double(_ value: JSONValue) -> Double {
        if case .number(let text) = value { Double(text) ?? 0 } else { 0 }
    }

    private func number(_ value: JSONValue) -> Int { Int(double(value)) }

    private func isFound(_ pattern: String, in text: String) -> Bool {
        guard let regex = try? Regex(pattern) else { return false }
        return text.firstMatch(of: regex) != nil
    }
}

extension PlanNode {
    /// As a JSON parser would give it.
    var json: JSONValue {
        switch kind {
        case .scalar(let text, let isQuoted):
            if isQuoted { return .string(text) }
            return isNothing ? .null : (try? JSONValue(parsing: text)) ?? .string(text)
        case .list(let items): return .array(items.map(\.json))
        case .map(let pairs): return .object(pairs.map { JSONValue.Member($0.key.text ?? "", $0.value.json) })
        }
    }
}
