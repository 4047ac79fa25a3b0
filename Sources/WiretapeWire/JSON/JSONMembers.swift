/// Where the members of one JSON object stand in its text, for rewrites that leave every other byte as it was.
///
/// Made for text that has been parsed before. Of anything else it finds what it can and never traps.
package struct JSONMembers: Hashable, Sendable {
    package struct Place: Hashable, Sendable {
        /// Decoded.
        package var name: String
        /// The bytes of the value, without blanks around it.
        package var value: Range<Int>
    }

    package private(set) var places: [Place] = []

    /// - Parameter from: where the object begins; blanks before it are skipped.
    package init(of text: [UInt8], from: Int = 0) {
        var at = JSONMembers.skipBlanks(text, from)
        guard at < text.count, text[at] == UInt8(ascii: "{") else { return }
        at += 1
        while true {
            at = JSONMembers.skipBlanks(text, at)
            guard at < text.count, text[at] == UInt8(ascii: "\"") else { return }
            let nameEnd = JSONMembers.skipValue(text, at)
            guard case .string(let name)? = try? JSONValue(parsing: Array(text[at..<nameEnd])) else { return }
            at = JSONMembers.skipBlanks(text, nameEnd)
            guard at < text.count, text[at] == UInt8(ascii: ":") else { return }
            let start = JSONMembers.skipBlanks(text, at + 1)
            let end = JSONMembers.skipValue(text, start)
            guard end > start else { return }
            places.append(Place(name: name, value: start..<end))
            at = JSONMembers.skipBlanks(text, end)
            guard at < text.count, text[at] == UInt8(ascii: ",") else { return }
            at += 1
        }
    }

    package static func skipBlanks(_ text: [UInt8], _ from: Int) -> Int {
        var at = from
        while at < text.count, text[at] == 0x20 || (0x09...0x0d).contains(text[at]) { at += 1 }
        return at
    }

    /// Behind the value that begins at `from`: to its closing quote or bracket, or to what ends a bare word.
    package static func skipValue(_ text: [UInt8], _ from: Int) -> Int {
        var at = from
        var depth = 0
        while at < text.count {
            switch text[at] {
            case UInt8(ascii: "\""):
                at += 1
                while at < text.count, text[at] != UInt8(ascii: "\"") { at += text[at] == UInt8(ascii: "\\") ? 2 : 1 }
                at = min(at + 1, text.count)
                if depth == 0 { return at }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return at }
                depth -= 1
                if depth == 0 { return at + 1 }
            case UInt8(ascii: ","), 0x20, 0x09...0x0d:
                if depth == 0 { return at }
            default: break
            }
            at += 1
        }
        return at
    }
}
