internal import WiretapeBytes
internal import WiretapeWire

/// A request of the control API, taken apart: what its path names, its query and its body.
struct ControlRequest {
    let operation: ControlOperation
    /// The values of the path's `{…}`, percent-decoded.
    let names: [String: String]
    private let query: [String: String]
    let body: [UInt8]

    /// - Throws: 400 for a query with an item that the operation does not have, or has twice.
    init(_ operation: ControlOperation, _ names: [String: String], _ head: RequestHead, _ body: [UInt8])
        throws(ControlError)
    {
        self.operation = operation
        self.names = names
        self.body = body
        var query: [String: String] = [:]
        for (name, value) in head.query where !name.isEmpty || !value.isEmpty {
            guard operation.queryNames.contains(name) else {
                throw .bad(
                    "\(operation.method) \(operation.path) has no query item '\(name)'"
                        + NearestName.hint(name, among: operation.queryNames))
            }
            guard query.updateValue(value, forKey: name) == nil else {
                throw .bad("'\(name)' stands in the query twice")
            }
        }
        self.query = query
    }

    func name(_ key: String) -> String { names[key] ?? "" }

    func queryText(_ name: String) -> String? { query[name] }

    /// - Throws: 400 when it is no whole number from 0 to 2^53.
    func queryNumber(_ name: String) throws(ControlError) -> UInt64? {
        guard let text = query[name] else { return nil }
        guard let number = UInt64(text), number <= 1 << 53, "\(number)" == text else {
            throw .bad("'\(name)' is a whole number from 0, found '\(text)'")
        }
        return number
    }

    /// The members of the body, which is a JSON object; none when there is no body.
    /// - Parameter known: what it may have.
    /// - Throws: 400 with what is wrong with it.
    func members(_ known: [String]) throws(ControlError) -> ControlBody {
        if body.isEmpty { return ControlBody(members: [:]) }
        let value = try json()
        guard let members = value.members else { throw .bad("the body is a JSON object, found \(value.kindName)") }
        var found: [String: JSONValue] = [:]
        for member in members {
            guard known.contains(member.name) else {
                let list = known.isEmpty ? "" : "; it has \(known.joined(separator: ", "))"
                throw .bad(
                    "the body of \(operation.method) \(operation.path) has no '\(member.name)'"
                        + (NearestName.find(member.name, among: known).map { "; did you mean '\($0)'?" } ?? list))
            }
            guard found.updateValue(member.value, forKey: member.name) == nil else {
                throw .bad("'\(member.name)' stands in the body twice")
            }
        }
        return ControlBody(members: found)
    }

    private func json() throws(ControlError) -> JSONValue {
        do {
            return try JSONValue(parsing: body)
        } catch {
            throw .bad("the body is no JSON: \(error)")
        }
    }
}

/// The members of a body, read as what they have to be.
struct ControlBody {
    let members: [String: JSONValue]

    subscript(_ name: String) -> JSONValue? { members[name] }

    func text(_ name: String) throws(ControlError) -> String? {
        guard let value = members[name] else { return nil }
        guard let text = value.string else { throw .bad("'\(name)' is a text, found \(value.kindName)") }
        return text
    }

    func required(_ name: String) throws(ControlError) -> String {
        guard let text = try text(name) else { throw .bad("the body needs '\(name)'") }
        return text
    }

    func number(_ name: String, _ range: ClosedRange<Int>) throws(ControlError) -> Int? {
        guard let value = members[name] else { return nil }
        guard let number = value.wholeNumber, range.contains(number) else {
            throw .bad(
                "'\(name)' is a whole number from \(range.lowerBound) to \(range.upperBound), found \(value.shortText)")
        }
        return number
    }

    /// A duration such as `250ms`, `2s`, `1m`, in nanoseconds.
    func duration(_ name: String) throws(ControlError) -> UInt64? {
        guard let text = try text(name) else { return nil }
        guard let time = DurationText.parse(text) else {
            throw .bad("'\(name)' is a duration such as 250ms, 2s or 1m, found '\(Summary.line(text))'")
        }
        return time
    }
}

extension JSONValue {
    /// What people call it.
    var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a truth value"
        case .number: "a number"
        case .string: "a text"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// The number when it is whole, however it is spelled: `2`, `2.0`, `2e0`.
    var wholeNumber: Int? {
        guard case .number(let text) = self else { return nil }
        return Int(text) ?? Double(text).flatMap { Int(exactly: $0) }
    }

    var shortText: String { Summary.line(beginning(60)) }
}
