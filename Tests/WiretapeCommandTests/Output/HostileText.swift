import Foundation
import WiretapeWire

/// Text as a hostile peer or a stranger's tape has it, and tapes that have it everywhere.
enum HostileText {
    /// A title, a colour by a C1 control, marks of bidirectional writing, and a line that looks like our own.
    static let poison =
        "\u{1B}]0;x\u{07}\u{9B}31m\u{202E}\u{200F}\u{2066}\u{61C}\u{7F}\u{8}\t\r\nwiretape: pass (exit 0): FORGED"

    /// What must not be in text that a command printed: harmful characters, and a line that is not ours.
    static func complaint(_ text: String, where place: String) -> String? {
        for line in text.split(separator: "\n", omittingEmptySubsequences: true) {
            for scalar in line.unicodeScalars where isForbidden(scalar) {
                return "\(place): U+\(String(scalar.value, radix: 16)) in \(line.debugDescription)"
            }
            if line.hasPrefix("wiretape: pass (exit 0): FORGED") { return "\(place): a forged line" }
        }
        return nil
    }

    /// Written out once more, so that the list of the program is not its own witness.
    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control
            || [0x61c, 0x200e, 0x200f].contains(scalar.value) || (0x202a...0x202e).contains(scalar.value)
            || (0x2066...0x2069).contains(scalar.value)
    }

    /// The tape once for each place of a text in its lines and in the messages they carry, with the poison there.
    static func tapes(_ lines: [String]) throws -> [(place: String, lines: [String])] {
        var places: [String] = []
        let values = try lines.map { try JSONValue(parsing: Array($0.utf8)) }
        for value in values { collect(value, "", into: &places) }
        return places.map { place in (place, values.map { poisoned($0, "", place).text }) }
    }

    private static func collect(_ value: JSONValue, _ path: String, into places: inout [String]) {
        func note(_ place: String) { if !places.contains(place) { places.append(place) } }
        switch value {
        case .string(let text):
            note(path)
            for part in messages(text) ?? [] { collect(part, path + "!", into: &places) }
        case .array(let items): for item in items { collect(item, path + "/*", into: &places) }
        case .object(let members):
            for member in members {
                if !path.isEmpty { note("\(path)/\(member.name)?") }
                collect(member.value, "\(path)/\(member.name)", into: &places)
            }
        case .null, .bool, .number: break
        }
    }

    /// A place ends in `?` for a member's name; `!` leads into the messages within a text.
    private static func poisoned(_ value: JSONValue, _ path: String, _ place: String) -> JSONValue {
        switch value {
        case .string(let text):
            if path == place { return .string(text + poison) }
            guard place.hasPrefix(path + "!"), let parts = messages(text) else { return value }
            let end = text.hasSuffix("\u{1e}") ? "\u{1e}" : ""
            let inner = parts.map { poisoned($0, path + "!", place).text }
            return .string(inner.joined(separator: "\u{1e}") + end)
        case .array(let items): return .array(items.map { poisoned($0, path + "/*", place) })
        case .object(let members):
            return .object(
                members.map { member in
                    let name = "\(path)/\(member.name)?" == place ? member.name + poison : member.name
                    return .init(name, poisoned(member.value, "\(path)/\(member.name)", place))
                })
        case .null, .bool, .number: return value
        }
    }

    /// The JSON objects that the text of a message or body consists of.
    private static func messages(_ text: String) -> [JSONValue]? {
        guard text.hasPrefix("{") else { return nil }
        let parts = text.split(separator: "\u{1e}").map { try? JSONValue(parsing: Array($0.utf8)) }
        return parts.contains { $0 == nil } ? nil : parts.compactMap { $0 }
    }
}
