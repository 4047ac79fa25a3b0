internal import WiretapeBytes
package import WiretapeMessages
internal import WiretapeRedaction
package import WiretapeWire

/// The pseudonyms in what a tape's clients said, and where they stand. At replay each is a variable: a live message that is
/// equal to a recorded one but for the values in these places is that message, and its values are what the pseudonyms
/// stand for.
package struct TapeVariables: Sendable {
    /// A text that has pseudonyms in it, and where it stands: names and indices.
    package struct Place: Hashable, Sendable {
        package var path: [String]
        package var recorded: JSONValue
    }

    /// A recorded message or body with pseudonyms.
    package struct Template: Hashable, Sendable {
        /// In what is compared.
        package var meaning: [Place]
        /// In all of it.
        package var content: [Place]
    }

    private var byKey: [UInt64: [Template]] = [:]
    /// The sets of places that messages of a kind have.
    private var paths: [String: Set<[[String]]>] = [:]
    private var count = 0

    /// More different ones are not told apart: their messages are compared as they stand.
    package static let most = 4096

    package init() {}

    package var isEmpty: Bool { byKey.isEmpty }

    /// A message of the tape's client.
    package mutating func add(_ message: Message) {
        // Numbers in MessagePack are not spelled.
        guard message.opcode == .binary || Pseudonym.mayStand(in: message.bytes) else { return }
        add(kind: TapeVariables.kind(message), meaning: message.meaning, content: message.content)
    }

    /// - Parameter kind: what is compared beside the meaning.
    package mutating func add(kind: String, meaning: JSONValue, content: JSONValue) {
        guard count < TapeVariables.most else { return }
        let inContent = TapeVariables.places(content)
        let inMeaning = TapeVariables.places(meaning)
        guard !inContent.isEmpty || !inMeaning.isEmpty else { return }
        let set = inMeaning.map(\.path)
        guard let key = TapeVariables.key(kind, meaning, set) else { return }
        let template = Template(meaning: inMeaning, content: inContent)
        guard byKey[key]?.contains(template) != true else { return }
        byKey[key, default: []].append(template)
        paths[kind, default: []].insert(set)
        count += 1
    }

    package mutating func add(_ other: TapeVariables) {
        guard !other.isEmpty else { return }
        for (key, templates) in other.byKey {
            for template in templates where byKey[key]?.contains(template) != true {
                byKey[key, default: []].append(template)
                count += 1
            }
        }
        for (kind, sets) in other.paths { paths[kind, default: []].formUnion(sets) }
    }

    /// The recorded messages that differ from this one in the places of pseudonyms only, in recorded order.
    package func templates(kind: String, meaning: JSONValue) -> [Template] {
        var found: [Template] = []
        for set in (paths[kind] ?? []).sorted(by: { $0.count < $1.count || $0.count == $1.count && "\($0)" < "\($1)" })
        {
            guard let key = TapeVariables.key(kind, meaning, set) else { continue }
            found += byKey[key] ?? []
        }
        return found
    }

    package static func kind(_ message: Message) -> String {
        "\(message.role.rawValue) \(message.kind) \(message.label ?? "")"
    }

    // MARK: Values

    /// Texts and numbers with pseudonyms in them.
    package static func places(_ value: JSONValue) -> [Place] {
        var found: [Place] = []
        visit(value, []) { path, leaf in
            switch leaf {
            case .string(let text):
                if text.utf8.count >= 4, hasPseudonym(text) { found.append(Place(path: path, recorded: leaf)) }
            case .number(let text):
                if Pseudonym.number(of: text) != nil { found.append(Place(path: path, recorded: leaf)) }
            case .null, .bool, .array, .object: break
            }
        }
        return found
    }

    private static func hasPseudonym(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return Pseudonym.mayStand(in: bytes) && !Pseudonym.ranges(in: bytes).isEmpty
    }

    private static func visit(_ value: JSONValue, _ path: [String], _ body: ([String], JSONValue) -> Void) {
        guard path.count < 64 else { return }
        switch value {
        case .array(let items): for (i, item) in items.enumerated() { visit(item, path + ["\(i)"], body) }
        case .object(let members): for member in members { visit(member.value, path + [member.name], body) }
        case .null, .bool, .number, .string: body(path, value)
        }
    }

    /// The value with other texts in those places; places that are not there change nothing.
    package static func setting(_ places: [Place], in value: JSONValue) -> JSONValue {
        places.reduce(value) { set($0, $1.path[...], to: $1.recorded) }
    }

    private static func set(_ value: JSONValue, _ path: ArraySlice<String>, to new: JSONValue) -> JSONValue {
        guard let first = path.first else { return new }
        switch value {
        case .array(var items):
            guard let index = Int(first), items.indices.contains(index) else { return value }
            items[index] = set(items[index], path.dropFirst(), to: new)
            return .array(items)
        case .object(var members):
            guard let index = members.firstIndex(where: { $0.name == first }) else { return value }
            members[index].value = set(members[index].value, path.dropFirst(), to: new)
            return .object(members)
        case .null, .bool, .number, .string: return value
        }
    }

    package static func value(_ value: JSONValue, at path: [String]) -> JSONValue? {
        path.reduce(Optional(value)) { value, token in
            switch value {
            case .array(let items)?: Int(token).flatMap { items.indices.contains($0) ? items[$0] : nil }
            case .object?: value?[token]
            case .null?, .bool?, .number?, .string?, nil: nil
            }
        }
    }

    /// Equal for messages that differ in those places only; nil when one of them has something else than a text or a number
    /// of that kind.
    private static func key(_ kind: String, _ meaning: JSONValue, _ paths: [[String]]) -> UInt64? {
        var masked = meaning
        for path in paths {
            switch value(masked, at: path) {
            case .string?: masked = set(masked, path[...], to: .string("td"))
            case .number?: masked = set(masked, path[...], to: .number("0"))
            case .null?, .bool?, .array?, .object?, nil: return nil
            }
        }
        var hash = StableHash()
        hash.combine(kind)
        hash.combine(masked.canonicalText)
        return hash.value
    }
}
