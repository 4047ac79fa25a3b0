extension JSONValue {
    /// The value with what stands at a JSON Pointer as `change` has it. Unchanged when nothing stands there.
    /// - Parameter anyName: a name that stands for every member and item of its level.
    package func mapping(_ pointer: String, anyName: String, _ change: (JSONValue) -> JSONValue) -> JSONValue {
        guard !pointer.isEmpty else { return change(self) }
        guard pointer.hasPrefix("/") else { return self }
        let names = pointer.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map {
            String($0).replacing("~1", with: "/").replacing("~0", with: "~")
        }
        return mapping(names[...], anyName, change)
    }

    private func mapping(
        _ names: ArraySlice<String>, _ anyName: String, _ change: (JSONValue) -> JSONValue
    ) -> JSONValue {
        guard let name = names.first else { return change(self) }
        let rest = names.dropFirst()
        switch self {
        case .object(var members):
            for at in members.indices where name == anyName || members[at].name == name {
                members[at].value = members[at].value.mapping(rest, anyName, change)
                if name != anyName { break }
            }
            return .object(members)
        case .array(var items):
            for at in items.indices where name == anyName || Int(name) == at {
                items[at] = items[at].mapping(rest, anyName, change)
            }
            return .array(items)
        case .null, .bool, .number, .string: return self
        }
    }
}
