internal import WiretapeFaults
package import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

extension MessageEdit {
    /// The payload that this makes of a message's.
    /// - Parameters:
    ///   - payload: the message as it would go out, with live ids and the protocol's framing; empty for one that is added.
    ///   - opcode: its kind; changed for binary ones.
    ///   - codec: frames texts and writes what is no JSON text.
    ///   - message: what the payload says; nil for one that is added.
    ///   - session: the session's codec, which encodes a message that is added. Nil: it is written as JSON.
    package func apply(
        to payload: [UInt8], _ opcode: inout Opcode, _ codec: any FrameCodec.Type, like message: Message?,
        in session: (any FrameCodec)? = nil
    ) -> [UInt8] {
        switch self {
        case .bytes(let bytes):
            opcode = .binary
            return bytes
        case .text(let text):
            let bytes = Array(text.utf8)
            let known = try? JSONValue(parsing: text)
            if codec.encodesTexts, let message, let encoded = codec.encode(known ?? .string(text), like: message) {
                return encoded
            }
            guard let value = known else { return bytes }
            if opcode == .binary, let message, let encoded = codec.encode(value, like: message) { return encoded }
            if message == nil, let encoded = session?.encoded(value) {
                opcode = encoded.opcode
                return encoded.payload
            }
            opcode = .text
            return codec.framed(bytes)
        case .members(let members):
            if let message, opcode == .binary || codec.encodesTexts {
                guard let changed = try? MessageEdit.changed(message.content, members) else { return payload }
                return codec.encode(changed, like: message) ?? payload
            }
            var text = JSONText(payload)
            // A pointer that leads nowhere in this message changes nothing.
            for member in members { try? text.set(member.pointer, to: Array(member.value.text.utf8)) }
            return text.bytes
        }
    }

    private static func changed(_ content: JSONValue, _ members: [Member]) throws -> JSONValue {
        var text = JSONText(Array(content.text.utf8))
        for member in members { try? text.set(member.pointer, to: Array(member.value.text.utf8)) }
        return try JSONValue(parsing: text.bytes)
    }
}
