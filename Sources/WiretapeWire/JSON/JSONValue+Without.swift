extension JSONValue {
    /// The value without what stands at a JSON Pointer: a member goes away, an item becomes null so that the others keep
    /// their places. Unchanged when nothing stands there.
    /// - Parameter anyName: a name that stands for every member and item of its level; nil: none does.
    package func without(_ pointer: String, anyName: String? = nil) -> JSONValue {
        guard pointer.hasPrefix("/") else { return self }
        let names = pointer.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map {
            String($0).replacing("~1", with: "/").replacing("~0", with: "~")
        }
        return without(names[...], anyName)
    }

    private func without(_ names: ArraySlice<String>, _ anyName: String?) -> JSONValue {
        guard let name = names.first else { return self }
        let rest = names.dropFirst()
        switch self {
        case .object(var members):
            if rest.isEmpty {
                // The first of that name is meant; with `anyName` all are.
                if name == anyName { return .object([]) }
                if let at = members.firstIndex(where: { $0.name == name }) { members.remove(at: at) }
                return .object(members)
            }
            for at in members.indices where name == anyName || members[at].name == name {
                members[at].value = members[at].value.without(rest, anyName)
                if name != anyName { break }
            }
            return .object(members)
        case .array(var items):
            for at in items.indices where name == anyName || Int(name) == at {
                items[at] = rest.isEmpty ? .null : items[at].without(rest, anyName)
            }
            return .array(items)
        case .null, .bool, .number, .string: return self
        }
    }
}
