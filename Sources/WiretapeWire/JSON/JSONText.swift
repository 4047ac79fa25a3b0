internal import WiretapeBytes

/// A JSON text that is changed at places named by JSON Pointers; every other byte stays as it was, white space too.
package struct JSONText: Hashable, Sendable {
    package private(set) var bytes: [UInt8]

    /// - Parameter bytes: a text that ``JSONValue/init(parsing:)-(Span<UInt8>)`` takes. Of anything else it finds what it can.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Why a change cannot be made, as a sentence without its full stop.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        package var reason: String

        package init(reason: String) { self.reason = reason }

        package var description: String { reason }
    }

    /// A member or an item.
    private struct Child {
        /// Nil for an item.
        var name: String?
        /// With the name.
        var whole: Range<Int>
        var value: Range<Int>
    }

    /// Where the value stands, without blanks around it; nil when there is none.
    package func range(at pointer: String) -> Range<Int>? {
        guard pointer.isEmpty || pointer.hasPrefix("/") else { return nil }
        let start = JSONMembers.skipBlanks(bytes, 0)
        var range = start..<JSONMembers.skipValue(bytes, start)
        for token in JSONText.tokens(pointer) {
            let children = children(of: range)
            guard let at = JSONText.find(token, in: children) else { return nil }
            range = children[at].value
        }
        return range
    }

    /// Where the values stand that a pointer names in which `*` is every member or item of its level, in order.
    package func ranges(at pointer: String) -> [Range<Int>] {
        guard pointer.isEmpty || pointer.hasPrefix("/") else { return [] }
        let start = JSONMembers.skipBlanks(bytes, 0)
        var ranges = [start..<JSONMembers.skipValue(bytes, start)]
        for token in JSONText.tokens(pointer) {
            ranges = ranges.flatMap { range -> [Range<Int>] in
                let children = children(of: range)
                if token == "*" { return children.map(\.value) }
                return JSONText.find(token, in: children).map { [children[$0].value] } ?? []
            }
        }
        return ranges
    }

    /// Puts `value` in the place of what stands at `pointer`. A member that is not there is added to its object, an item
    /// behind the last one (its index, or `-`) to its array.
    package mutating func set(_ pointer: String, to value: [UInt8]) throws(Fault) {
        if let range = range(at: pointer) { return bytes.replaceSubrange(range, with: value) }
        guard pointer.hasPrefix("/") else {
            throw Fault(reason: "'\(pointer)' is no JSON Pointer; it begins with '/', as in /arguments/0")
        }
        let (parent, name) = try place(of: pointer)
        let children = children(of: parent)
        let behind = children.last?.value.upperBound ?? parent.lowerBound + 1
        var added: [UInt8] = children.isEmpty ? [] : [UInt8(ascii: ",")]
        if bytes[parent.lowerBound] == UInt8(ascii: "{") {
            JSONValue.writeString(name, into: &added)
            added.append(UInt8(ascii: ":"))
        } else if name != "-", Int(name) != children.count {
            throw Fault(reason: "'\(pointer)' is beyond the end: there are \(children.count) items")
        }
        bytes.insert(contentsOf: added + value, at: behind)
    }

    /// Takes the member or item away.
    package mutating func remove(_ pointer: String) throws(Fault) {
        guard range(at: pointer) != nil, !pointer.isEmpty else { throw Fault(reason: "nothing stands at '\(pointer)'") }
        let (parent, name) = try place(of: pointer)
        let children = children(of: parent)
        guard let at = JSONText.find(name, in: children) else { return }
        if at + 1 < children.count {
            bytes.removeSubrange(children[at].whole.lowerBound..<children[at + 1].whole.lowerBound)
        } else {
            let from = at > 0 ? children[at - 1].value.upperBound : children[at].whole.lowerBound
            bytes.removeSubrange(from..<children[at].value.upperBound)
        }
    }

    /// The container that holds, or would hold, what the pointer names.
    private func place(of pointer: String) throws(Fault) -> (parent: Range<Int>, name: String) {
        let cut = pointer.lastIndex(of: "/") ?? pointer.startIndex
        let above = String(pointer[..<cut])
        guard let parent = range(at: above), !parent.isEmpty else {
            throw Fault(reason: "nothing stands at '\(above)'")
        }
        guard bytes[parent.lowerBound] == UInt8(ascii: "{") || bytes[parent.lowerBound] == UInt8(ascii: "[") else {
            throw Fault(reason: "'\(above)' is neither an object nor an array: it has no '\(pointer[cut...])'")
        }
        return (parent, JSONText.tokens(String(pointer[cut...])).first ?? "")
    }

    /// As servers and clients read it: the last of equal names counts.
    private static func find(_ token: String, in children: [Child]) -> Int? {
        if children.first?.name != nil { return children.lastIndex { $0.name == token } }
        return Int(token).flatMap { children.indices.contains($0) ? $0 : nil }
    }

    /// The names in a JSON Pointer (RFC 6901).
    package static func tokens(_ pointer: String) -> [String] {
        guard !pointer.isEmpty else { return [] }
        return pointer.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map {
            String($0).replacing("~1", with: "/").replacing("~0", with: "~")
        }
    }

    /// The members or items of the container that stands at `range`; empty for anything else.
    private func children(of range: Range<Int>) -> [Child] {
        guard !range.isEmpty else { return [] }
        let isObject = bytes[range.lowerBound] == UInt8(ascii: "{")
        guard isObject || bytes[range.lowerBound] == UInt8(ascii: "[") else { return [] }
        var children: [Child] = []
        var at = range.lowerBound + 1
        while true {
            at = JSONMembers.skipBlanks(bytes, at)
            let start = at
            var name: String?
            if isObject {
                let end = JSONMembers.skipValue(bytes, at)
                guard end > at, case .string(let text)? = try? JSONValue(parsing: Array(bytes[at..<end])) else {
                    return children
                }
                name = text
                at = JSONMembers.skipBlanks(bytes, end)
                guard at < range.upperBound, bytes[at] == UInt8(ascii: ":") else { return children }
                at = JSONMembers.skipBlanks(bytes, at + 1)
            }
            let end = JSONMembers.skipValue(bytes, at)
            guard end > at, end <= range.upperBound else { return children }
            children.append(Child(name: name, whole: start..<end, value: at..<end))
            at = JSONMembers.skipBlanks(bytes, end)
            guard at < range.upperBound, bytes[at] == UInt8(ascii: ",") else { return children }
            at += 1
        }
    }
}
