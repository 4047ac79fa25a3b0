internal import WiretapeWire

/// A message of SignalR's JSON protocol in its MessagePack protocol, written down from the protocol's page and not from
/// the codec that is under test.
enum HubPack {
    static func bytes(of message: JSONValue) -> [UInt8] {
        var body: [UInt8] = []
        pack(.array(fields(message)), &body)
        // The length in groups of seven bits, the lowest first.
        var length = body.count
        var framed: [UInt8] = []
        repeat {
            framed.append(UInt8(length & 0x7f) | (length > 0x7f ? 0x80 : 0))
            length >>= 7
        } while length > 0
        return framed + body
    }

    private static func fields(_ message: JSONValue) -> [JSONValue] {
        let type = message["type"] ?? .null
        let id = message["invocationId"] ?? .null
        let headers = JSONValue.object([])
        switch type.int {
        case 1, 4:
            let streams = message["streamIds"] ?? .array([])
            return [
                type, headers, id, message["target"] ?? .null, message["arguments"] ?? .array([]), streams,
            ]
        case 2: return [type, headers, id, message["item"] ?? .null]
        case 3:
            if let error = message["error"] { return [type, headers, id, .number(1), error] }
            guard let result = message["result"] else { return [type, headers, id, .number(2)] }
            return [type, headers, id, .number(3), result]
        case 5: return [type, headers, id]
        default: return [type, .null, message["allowReconnect"] ?? .bool(false)]
        }
    }

    private static func pack(_ value: JSONValue, _ out: inout [UInt8]) {
        switch value {
        case .null: out.append(0xc0)
        case .bool(let flag): out.append(flag ? 0xc3 : 0xc2)
        case .number:
            let number = UInt64(max(0, value.int ?? 0))
            guard number > 0x7f else { return out.append(UInt8(number)) }
            out.append(0xcd)
            out += [UInt8(number >> 8 & 0xff), UInt8(number & 0xff)]
        case .string(let text):
            let bytes = Array(text.utf8)
            out += bytes.count < 32 ? [0xa0 | UInt8(bytes.count)] : [0xd9, UInt8(min(255, bytes.count))]
            out += bytes.prefix(255)
        case .array(let items):
            out.append(0x90 | UInt8(min(15, items.count)))
            for item in items.prefix(15) { pack(item, &out) }
        case .object: out.append(0x80)
        }
    }
}
