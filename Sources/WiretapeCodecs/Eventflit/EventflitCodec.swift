internal import WiretapeBytes
package import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

/// Eventflit and Pusher Channels, protocol 5 to 7: one protocol whose own events begin with `eventflit:` or `pusher:`. Over
/// WebSockets and over the HTTP fallbacks of the JavaScript clients. `docs/protocols/eventflit.md` is the reference.
///
/// A value sees both directions of a session in their order and keeps the prefix, the socket id that the server gave, and
/// which channels wait for their subscription. Bad input is never more than one `.opaque` message.
package struct EventflitCodec: FrameCodec {
    package static let id = "eventflit"
    private static let types = MessageTypes([
        "connection_established", "ping", "pong", "error", "subscribe", "unsubscribe", "subscription_succeeded",
        "subscription_error", "subscription_count", "member_added", "member_removed", "signin", "signin_success",
        "watchlist_events", "cache_miss", "open", "heartbeat", "close",
    ])
    package static func mayBeCalled(_ name: String) -> Bool {
        types.contains(name) || EventflitEvent(name).own != nil
    }

    /// How messages stand in their payloads.
    let carrier: EventflitCarrier
    /// `eventflit` or `pusher`: that of the protocol's latest event; before the first what the opening tells.
    var dialect: String
    /// Of a value that writes for a client: what the recorded session spoke, when the client speaks something else.
    var recordedDialect: String?
    /// Of the latest connection_established.
    var socketID: String?
    /// In seconds, as the server announced it.
    var activityTimeout: Double?
    var settings = CodecSettings()
    var subscriptions = EventflitSubscriptions()
    /// Bytes from the server that are no whole line yet, over HTTP streams.
    var begun: [UInt8] = []
    /// The server ended the session with a SockJS frame, which no WebSocket carries.
    var hasCloseFrame = false

    package init(_ opening: StreamOpening) {
        carrier = EventflitCarrier(opening.request)
        dialect = carrier.client.dialect ?? EventflitEvent.pusher
    }

    package static var chainsAreNames: Bool { true }

    package mutating func decode(
        _ payload: Span<UInt8>, _ opcode: Opcode, _ direction: Direction, into out: inout [Message]
    ) {
        var bytes: [UInt8] = []
        bytes.append(copying: payload)
        if carrier.isHTTP {
            decodeFrames(bytes, opcode, direction, into: &out)
        } else {
            out.append(message(bytes, opcode, direction))
        }
    }

    /// One message by itself.
    package mutating func message(_ bytes: [UInt8], _ opcode: Opcode, _ direction: Direction) -> Message {
        do throws(EventflitFault) {
            return try read(EventflitFrame(bytes, opcode, direction))
        } catch {
            return .opaque(bytes, direction, opcode: opcode, reason: error.reason)
        }
    }

    package mutating func configure(_ settings: CodecSettings) { self.settings = settings }

    package func withoutHistory() -> Self {
        var fresh = self
        fresh.subscriptions = EventflitSubscriptions()
        fresh.begun = []
        return fresh
    }

    package var obstacle: String? { nil }

    package static func sessionKey(_ opening: StreamOpening) -> String? { EventflitCarrier(opening.request).session }

    package static func serverIDs(_ opening: StreamOpening) -> ServerIDs? { nil }
}
