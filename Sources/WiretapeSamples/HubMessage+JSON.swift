internal import WiretapeBytes
internal import WiretapeWire

/// The hub protocol in JSON: records that each end with 0x1E.
extension HubMessage {
    package static let separator: UInt8 = 0x1e

    /// What is wrong with bytes that claim to be hub messages.
    package struct Malformed: Error, Hashable, Sendable {
        package var reason: String
    }

    /// The records of a payload without their ends. A client's transport always has whole records.
    package static func records(_ payload: Span<UInt8>) throws(Malformed) -> [Range<Int>] {
        var records: [Range<Int>] = []
        var start = 0
        while start < payload.count {
            guard let end = firstIndex(of: separator, in: payload, from: start) else {
                throw Malformed(reason: "message is incomplete")
            }
            records.append(start..<end)
            start = end + 1
        }
        return records
    }

    /// Reads one record.
    package init(reading record: Span<UInt8>) throws(Malformed) {
        let json: JSONValue
        do throws(JSONError) { json = try JSONValue(parsing: record) } catch {
            throw Malformed(reason: "not JSON: \(error.reason)")
        }
        guard let type = json["type"]?.int else { throw Malformed(reason: "a message without a type") }
        func id() throws(Malformed) -> String {
            guard let id = json["invocationId"]?.string else {
                throw Malformed(reason: "type \(type) without invocationId")
            }
            return id
        }
        let target = json["target"]?.string, arguments = json["arguments"]?.array
        let streams = (json["streamIds"]?.array ?? []).compactMap(\.string)
        switch type {
        case 1, 4:
            guard let target, let arguments else { throw Malformed(reason: "type \(type) without target or arguments") }
            self =
                type == 1
                ? .invocation(id: json["invocationId"]?.string, target: target, arguments: arguments, streams: streams)
                : .streamInvocation(id: try id(), target: target, arguments: arguments, streams: streams)
        case 2: self = .streamItem(id: try id(), item: json["item"] ?? .null)
        case 3: self = .completion(id: try id(), json["error"]?.string.map { .error($0) } ?? .value(json["result"]))
        case 5: self = .cancel(id: try id())
        case 6: self = .ping
        case 7: self = .close(error: json["error"]?.string, allowReconnect: json["allowReconnect"]?.bool ?? false)
        default: self = .other(type)
        }
    }

    /// Appends the record with its end.
    package func write(into out: inout [UInt8]) {
        var members: [JSONValue.Member] = []
        func add(_ name: String, _ value: JSONValue?) {
            if let value { members.append(.init(name, value)) }
        }
        func call(_ type: Int, _ id: String?, _ target: String, _ arguments: [JSONValue], _ streams: [String]) {
            add("type", .number(type))
            add("invocationId", id.map { .string($0) })
            add("target", .string(target))
            add("arguments", .array(arguments))
            if !streams.isEmpty { add("streamIds", .array(streams.map { .string($0) })) }
        }
        switch self {
        case .invocation(let id, let target, let arguments, let streams): call(1, id, target, arguments, streams)
        case .streamInvocation(let id, let target, let arguments, let streams): call(4, id, target, arguments, streams)
        case .streamItem(let id, let item):
            add("type", .number(2))
            add("invocationId", .string(id))
            add("item", item)
        case .completion(let id, let result):
            add("type", .number(3))
            add("invocationId", .string(id))
            switch result {
            case .value(let value): add("result", value)
            case .error(let text): add("error", .string(text))
            }
        case .cancel(let id):
            add("type", .number(5))
            add("invocationId", .string(id))
        case .ping: add("type", .number(6))
        case .close(let error, let allowReconnect):
            add("type", .number(7))
            add("error", error.map { .string($0) })
            if allowReconnect { add("allowReconnect", .bool(true)) }
        case .other(let type): add("type", .number(type))
        }
        JSONValue.object(members).write(into: &out)
        out.append(HubMessage.separator)
    }
}
