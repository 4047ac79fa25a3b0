/// A JSON value that keeps what a rewrite must not change: the order of members, double members, and the text of numbers.
///
/// It takes 24 bytes, and what texts of more than 15 bytes, items and members hold: values nest in arrays only, and a box
/// around each would cost more than the value.
package enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    /// The number as it was spelled: `1`, `1.0` and `1e0` differ here and agree in ``canonicalText``.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([Member])

    package struct Member: Hashable, Sendable {
        package var name: String
        package var value: JSONValue

        package init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    package static func number(_ value: some BinaryInteger) -> JSONValue { .number(String(value)) }

    /// The first member of that name; nil for anything but an object.
    package subscript(_ name: String) -> JSONValue? {
        get {
            guard case .object(let members) = self else { return nil }
            return members.first { $0.name == name }?.value
        }
        set {
            guard case .object(var members) = self else { return }
            if let at = members.firstIndex(where: { $0.name == name }) {
                if let newValue { members[at].value = newValue } else { members.remove(at: at) }
            } else if let newValue {
                members.append(Member(name, newValue))
            }
            self = .object(members)
        }
    }

    package var string: String? { if case .string(let text) = self { text } else { nil } }
    package var array: [JSONValue]? { if case .array(let items) = self { items } else { nil } }
    package var members: [Member]? { if case .object(let members) = self { members } else { nil } }
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The number when it is an integer that fits.
    package var int: Int? { if case .number(let text) = self { Int(text) } else { nil } }

    /// The value at a JSON Pointer (RFC 6901), `""` for the whole.
    package func value(at pointer: String) -> JSONValue? {
        guard !pointer.isEmpty else { return self }
        guard pointer.hasPrefix("/") else { return nil }
        var value = self
        for token in pointer.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            let name = String(token).replacing("~1", with: "/").replacing("~0", with: "~")
            switch value {
            case .object:
                guard let next = value[name] else { return nil }
                value = next
            case .array(let items):
                guard let index = Int(name), items.indices.contains(index) else { return nil }
                value = items[index]
            case .null, .bool, .number, .string: return nil
            }
        }
        return value
    }
}
