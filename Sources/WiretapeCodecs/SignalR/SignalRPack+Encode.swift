package import WiretapeMessages
internal import WiretapeProtocol
package import WiretapeWire

extension SignalRPack {
    /// The frame of a message with the members that ``object(of:)`` gives; nil when they are none.
    static func frame(_ content: JSONValue) -> [UInt8]? {
        guard let type = content["type"]?.int else { return nil }
        let headers = content["headers"] ?? .object([])
        let id = content["invocationId"] ?? .null
        let items: [JSONValue]
        switch type {
        case 1, 4:
            guard let target = content["target"], let arguments = content["arguments"] else { return nil }
            items = [headers, id, target, arguments, content["streamIds"] ?? .array([])]
        case 2: items = [headers, id, content["item"] ?? .null]
        case 3:
            if let error = content["error"] {
                items = [headers, id, .number(1), error]
            } else if let result = content["result"] {
                items = [headers, id, .number(3), result]
            } else {
                items = [headers, id, .number(2)]
            }
        case 5: items = [headers, id]
        case 6: items = []
        case 7: items = [content["error"] ?? .null] + [content["allowReconnect"]].compactMap(\.self)
        case 8, 9: items = [content["sequenceId"] ?? .null]
        default: return nil
        }
        var array: [UInt8] = []
        guard MessagePack.write(.array([.number(type)] + items), into: &array),
            // Whatever was written has to be a message again.
            (try? object(of: array.span)) != nil
        else { return nil }
        var out: [UInt8] = []
        append(array, to: &out)
        return out
    }
}

extension SignalRCodec {
    package static func encode(_ content: JSONValue, like message: Message) -> [UInt8]? {
        SignalRPack.begins(message.bytes.span) ? SignalRPack.frame(content) : nil
    }

    package func encoded(_ content: JSONValue) -> (payload: [UInt8], opcode: Opcode)? {
        guard hubProtocol == .messagePack else { return nil }
        return SignalRPack.frame(content).map { ($0, .binary) }
    }
}
