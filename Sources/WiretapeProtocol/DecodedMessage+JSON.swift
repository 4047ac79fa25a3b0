internal import WiretapeBytes
internal import WiretapeMessages
package import WiretapeWire

extension DecodedMessage {
    /// What it says, without when and where, as `inspect --format json` and the events have it. `bytes` is the size of the message on
    /// the wire, with its own framing; `sha256` is of the payload that carried it, so messages of one frame have it in common.
    package var jsonMembers: [JSONValue.Member] {
        let hash = hexText(SHA256.hash(payload.span).prefix(8))
        return [
            .init("d", .string(message.direction.mark)), .init("transport", .string(transport.rawValue)),
            .init("protocol", .string(codec)), .init("type", .string(message.type)),
            .init("role", .string(message.role.rawValue)),
            .init("chain", message.chain.map { .string($0.id) } ?? .null),
            .init("target", message.label.map(JSONValue.string) ?? .null),
            .init("summary", .string(message.summary)), .init("bytes", .number(message.bytes.count)),
            .init("sha256", .string(hash)), .init("fields", message.content),
        ]
    }
}
