internal import WiretapeBytes
internal import WiretapeWire

/// The MessagePack hub protocol: frames of a length and one array. ``SignalRPack/object(of:)`` gives a message the members
/// that it has in JSON, so that everything above reads both alike.
enum SignalRPack {
    /// Fewest items of each type's array; more are allowed everywhere.
    private static let fewest = [1: 5, 2: 4, 3: 4, 4: 5, 5: 3, 6: 1, 7: 2, 8: 2, 9: 2]

    /// Where the frame at `at` has its array.
    /// - Throws: when no whole frame begins there.
    static func body(_ payload: Span<UInt8>, at: Int) throws(SignalRFault) -> Range<Int> {
        var count = 0
        var next = at
        while true {
            guard next < payload.count else { throw SignalRFault("the length ends too early") }
            let byte = payload[next]
            // Five groups of seven bits, 31 bits in all.
            guard next - at < 4 || byte <= 7 else { throw SignalRFault("the length is no number of 31 bits") }
            count |= Int(byte & 0x7f) << (7 * (next - at))
            next += 1
            if byte & 0x80 == 0 { break }
        }
        guard count <= payload.count - next else {
            throw SignalRFault("\(count) bytes are announced, \(payload.count - next) are there")
        }
        return next..<next + count
    }

    /// Whether a payload begins with a whole frame that holds an array: no text does.
    static func begins(_ payload: Span<UInt8>) -> Bool {
        guard let body = try? body(payload, at: 0), !body.isEmpty else { return false }
        let mark = payload[body.lowerBound]
        return mark & 0xf0 == 0x90 || mark == 0xdc || mark == 0xdd
    }

    /// A frame that ``body(_:at:)`` has found.
    static func object(framed frame: [UInt8]) throws(SignalRFault) -> JSONValue {
        try object(of: frame.span.extracting(try body(frame.span, at: 0)))
    }

    /// The members of a message: `type`, `headers` when there are some, then those of the JSON hub protocol.
    static func object(of body: Span<UInt8>) throws(SignalRFault) -> JSONValue {
        var at = 0
        let value: JSONValue
        do throws(MessagePackError) {
            value = try MessagePack.value(body, &at)
        } catch {
            throw SignalRFault("not MessagePack: \(error)")
        }
        guard let items = value.array else { throw SignalRFault("not an array") }
        guard at == body.count else { throw SignalRFault("\(body.count - at) bytes more than the array") }
        guard let type = items.first?.int else { throw SignalRFault("the type is not an integer") }
        guard items.count >= fewest[type, default: 1] else {
            throw SignalRFault("type \(type) with \(items.count) items")
        }
        var members: [JSONValue.Member] = [.init("type", .number(type))]
        // Servers read a map here. aiosignalr writes the number 128, where it means the byte 0x80.
        if (1...5).contains(type), items[1].members?.isEmpty == false { members.append(.init("headers", items[1])) }
        for (name, value) in try fields(type, items) { members.append(.init(name, value)) }
        return .object(members)
    }

    private static func fields(_ type: Int, _ items: [JSONValue]) throws(SignalRFault) -> [(String, JSONValue)] {
        func optional(_ name: String, _ index: Int) -> [(String, JSONValue)] {
            index < items.count && items[index] != .null ? [(name, items[index])] : []
        }
        switch type {
        case 1, 4:
            return optional("invocationId", 2) + [("target", items[3]), ("arguments", items[4])]
                + optional("streamIds", 5).filter { $0.1 != .array([]) }
        case 2: return [("invocationId", items[2]), ("item", items[3])]
        case 3: return [("invocationId", items[2])] + (try outcome(items))
        case 5: return [("invocationId", items[2])]
        case 7: return optional("error", 1) + optional("allowReconnect", 2)
        case 8, 9: return [("sequenceId", items[1])]
        default: return []
        }
    }

    /// The fourth item says which: 1 is an error, 2 no value, 3 a value.
    private static func outcome(_ items: [JSONValue]) throws(SignalRFault) -> [(String, JSONValue)] {
        let kind = items[3].int
        if kind == 2 { return [] }
        guard kind == 1 || kind == 3 else { throw SignalRFault("unknown kind of completion \(items[3].text)") }
        guard items.count > 4 else { throw SignalRFault("the completion has no value") }
        guard kind == 1 else { return [("result", items[4])] }
        guard items[4].string != nil else { throw SignalRFault("error is not a string") }
        return [("error", items[4])]
    }
}
