extension JSONValue {
    /// The same meaning with the members of every object in one order: those named in `first` in its order, then the others
    /// by name. Nil when an object has two members of one name: what that means is the reader's to say.
    package func ordered(first: [String]) -> JSONValue? {
        switch self {
        case .array(let items):
            var out: [JSONValue] = []
            for item in items {
                guard let item = item.ordered(first: first) else { return nil }
                out.append(item)
            }
            return .array(out)
        case .object(let members):
            var out: [(rank: Int, member: Member)] = []
            for member in members {
                guard let value = member.value.ordered(first: first) else { return nil }
                out.append((first.firstIndex(of: member.name) ?? first.count, Member(member.name, value)))
            }
            out.sort { ($0.rank, $0.member.name) < ($1.rank, $1.member.name) }
            for (a, b) in zip(out, out.dropFirst()) where a.member.name == b.member.name { return nil }
            return .object(out.map(\.member))
        case .null, .bool, .number, .string: return self
        }
    }

    /// With every text replaced by what `change` makes of it.
    package func mappingTexts(_ change: (String) -> String) -> JSONValue {
        switch self {
        case .string(let text): .string(change(text))
        case .array(let items): .array(items.map { $0.mappingTexts(change) })
        case .object(let members): .object(members.map { Member($0.name, $0.value.mappingTexts(change)) })
        case .null, .bool, .number: self
        }
    }

    /// Whether there is a text that is one of those meant.
    package func hasText(_ isMeant: (String) -> Bool) -> Bool {
        switch self {
        case .string(let text): isMeant(text)
        case .array(let items): items.contains { $0.hasText(isMeant) }
        case .object(let members): members.contains { $0.value.hasText(isMeant) }
        case .null, .bool, .number: false
        }
    }

    /// Whether a text holds U+FFFD, which may stand for half a surrogate pair that could not be read.
    package var hasReplacementCharacter: Bool {
        switch self {
        case .string(let text): text.unicodeScalars.contains("\u{fffd}")
        case .array(let items): items.contains { $0.hasReplacementCharacter }
        case .object(let members):
            members.contains { $0.value.hasReplacementCharacter || $0.name.unicodeScalars.contains("\u{fffd}") }
        case .null, .bool, .number: false
        }
    }
}
