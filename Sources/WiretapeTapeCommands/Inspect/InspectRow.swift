package import WiretapeProtocol
package import WiretapeWire

/// One line of what happened on a tape: an event, or one of the messages that an event held.
package struct InspectRow: Hashable, Sendable {
    /// The event's number, from 1.
    package var event: UInt64
    package var time: UInt64
    /// 0: of no connection.
    package var connection: UInt32
    /// Nil for what has none: openings, ends, marks.
    package var direction: Direction?
    package var kind: Kind
    /// For people, on one line.
    package var text: String
    package var message: DecodedMessage?
    /// Of a request row.
    package var request: RequestHead?

    package init(
        event: UInt64, time: UInt64, connection: UInt32, direction: Direction? = nil, kind: Kind, text: String,
        message: DecodedMessage? = nil, request: RequestHead? = nil
    ) {
        self.event = event
        self.time = time
        self.connection = connection
        self.direction = direction
        self.kind = kind
        self.text = text
        self.message = message
        self.request = request
    }

    package enum Kind: Hashable, Sendable {
        case open
        case request
        /// `byProxy`: made by Wiretape, not by the server.
        case response(byProxy: Bool)
        /// A piece of a body or of a long message.
        case piece
        /// The end of a streamed body.
        case bodyEnd
        case message
        /// A keepalive of the protocol, or a WebSocket ping or pong.
        case keepalive
        case close
        case gone(TapeEvent.Party)
        case fault
        /// A mark, a later take, a gap, the end of the recording.
        case note
    }
}
