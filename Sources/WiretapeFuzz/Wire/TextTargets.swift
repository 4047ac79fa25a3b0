internal import WiretapeWire

/// JSON and MessagePack: what was read and written again reads as the same.
enum TextTargets {
    static let all = [
        FuzzTarget("json") { json($0) },
        FuzzTarget("messagepack") { messagePack($0) },
    ]

    private static func json(_ bytes: [UInt8]) -> String? {
        _ = JSONValue(plain: bytes)
        _ = JSONMembers(of: bytes)
        guard let value = try? JSONValue(parsing: bytes) else { return nil }
        guard let again = try? JSONValue(parsing: value.text) else { return "cannot be read again: \(value.text)" }
        guard again == value else { return "reads otherwise when written again: \(value.text)" }
        let canonical = value.canonical
        guard canonical.canonicalText == value.canonicalText else { return "two canonical texts: \(canonical.text)" }
        var text = JSONText(bytes)
        // Of members of one name the text's pointers mean the last and the value's the first: nothing is said of those.
        guard !hasDoubles(value) else { return nil }
        for pointer in ["", "/0", "/a", "/a/0", "/arguments/0"] {
            guard let range = text.range(at: pointer) else { continue }
            guard let there = value.value(at: pointer) else { return "\(pointer) is in the text and not in the value" }
            guard (try? JSONValue(parsing: Array(bytes[range]))) == there else { return "\(pointer) is another value" }
        }
        if value.members != nil {
            do throws(JSONText.Fault) {
                try text.set("/a", to: Array("1".utf8))
            } catch {
                return nil
            }
            guard let changed = try? JSONValue(parsing: text.bytes) else { return "no JSON any more after a change" }
            guard changed.value(at: "/a") == .number("1") else { return "the change is not there" }
        }
        return nil
    }

    private static func hasDoubles(_ value: JSONValue) -> Bool {
        if let items = value.array { return items.contains(where: hasDoubles) }
        guard let members = value.members else { return false }
        return Set(members.map(\.name)).count < members.count || members.contains { hasDoubles($0.value) }
    }

    private static func messagePack(_ bytes: [UInt8]) -> String? {
        var skipped = 0
        let isWhole = (try? MessagePack.skip(bytes.span, &skipped)) != nil
        var at = 0
        guard let value = try? MessagePack.value(bytes.span, &at) else { return nil }
        guard isWhole, skipped == at else { return "read up to \(at), skipped up to \(skipped)" }
        var out: [UInt8] = []
        guard MessagePack.write(value, into: &out) else { return nil }
        var end = 0
        guard let again = try? MessagePack.value(out.span, &end), end == out.count else {
            return "cannot be read again: \(out)"
        }
        return again == value ? nil : "reads otherwise when written again: \(value.text) and \(again.text)"
    }
}
