internal import WiretapeBytes
package import WiretapeMessages
package import WiretapeWire

/// A message as it stands on a tape: what `inspect` shows.
package struct DecodedMessage: Hashable, Sendable {
    /// The number of the event that completed it.
    package var event: UInt64
    /// On the tape's clock; of later takes, behind the last time of the earlier ones.
    package var time: UInt64
    package var connection: UInt32
    /// The session's number.
    package var session: Int
    package var transport: Transport
    /// The codec's id.
    package var codec: String
    /// Messages of one frame share this number: the frame's ordinal in the session.
    package var frame: Int
    package var message: Message
    /// The whole payload that carried it, perhaps with others.
    package var payload: [UInt8]

    package init(
        event: UInt64, time: UInt64, connection: UInt32, session: Int, transport: Transport, codec: String, frame: Int,
        message: Message, payload: [UInt8]
    ) {
        self.event = event
        self.time = time
        self.connection = connection
        self.session = session
        self.transport = transport
        self.codec = codec
        self.frame = frame
        self.message = message
        self.payload = payload
    }
}

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
