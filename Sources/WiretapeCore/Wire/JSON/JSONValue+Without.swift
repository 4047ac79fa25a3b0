extension JSONValue {
    /// The value without what stands at a JSON Pointer: a member goes away, an item becomes null so that the others keep
    /// their places. Unchanged when nothing stands there.
    package func without(_ pointer: String) -> JSONValue {
        guard pointer.hasPrefix("/") else { return self }
        let names = pointer.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map {
            String($0).replacing("~1", with: "/").replacing("~0", with: "~")
        }
        return without(names[...])
    }

    private func without(_ names: ArraySlice<String>) -> JSONValue {
        guard let name = names.first else { return self }
        let rest = names.dropFirst()
        switch self {
        case .object(var members):
            guard let at = members.firstIndex(where: { $0.name == name }) else { return self }
            if rest.isEmpty { members.remove(at: at) } else { members[at].value = members[at].value.without(rest) }
            return .object(members)
        case .array(var items):
            guard let at = Int(name), items.indices.contains(at) else { return self }
            items[at] = rest.isEmpty ? .null : items[at].without(rest)
            return .array(items)
        default: return self
        }
    }
}
