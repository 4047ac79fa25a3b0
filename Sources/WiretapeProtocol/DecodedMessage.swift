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
