internal import WiretapeBytes
package import WiretapeWire

/// What a protocol's servers put up with of a client on one connection. Times are nanoseconds of the client's time; nil:
/// there is no such limit.
package struct ServerLimits: Hashable, Sendable {
    /// From the opening of the connection to the client's handshake.
    package var handshake: UInt64?
    /// Without anything from the client.
    package var silence: UInt64?
    /// Beyond ``silence``, once the server has sent a ping into it. Nil: silence alone is enough.
    package var pong: UInt64?
    /// Bytes of one message with its framing.
    package var message: Int?
    /// Silence counts only for clients that have sent a keepalive on the connection.
    package var countsFromKeepalive = false
    /// The client owes nothing while a call of its is being answered.
    package var waitsForAnswers = false

    package init(
        handshake: UInt64? = nil, silence: UInt64? = nil, pong: UInt64? = nil, message: Int? = nil,
        countsFromKeepalive: Bool = false, waitsForAnswers: Bool = false
    ) {
        self.handshake = handshake
        self.silence = silence
        self.pong = pong
        self.message = message
        self.countsFromKeepalive = countsFromKeepalive
        self.waitsForAnswers = waitsForAnswers
    }

    package enum Limit: String, Hashable, Sendable, CaseIterable { case handshake, silence, pong, message }

    /// How a server ends the connection of a client that went over a limit.
    package struct End: Hashable, Sendable {
        /// What it says before.
        package var payload: (bytes: [UInt8], opcode: Opcode)?
        /// Of the WebSocket; nil: it sends FIN without a close frame.
        package var code: UInt16?
        package var reason: String

        package init(_ code: UInt16?, _ reason: String = "", saying payload: (bytes: [UInt8], opcode: Opcode)? = nil) {
            self.code = code
            self.reason = reason
            self.payload = payload
        }

        package static func == (a: Self, b: Self) -> Bool {
            a.code == b.code && a.reason == b.reason && a.payload?.bytes == b.payload?.bytes
        }

        package func hash(into hasher: inout Hasher) { hasher.combine(code) }
    }

    /// In words, as reports have it: `client timeout 30s`.
    package func words(for limit: Limit) -> String {
        switch limit {
        case .handshake: "handshake timeout \(DurationText.describe(handshake ?? 0))"
        case .silence: "client timeout \(DurationText.describe(silence ?? 0))"
        case .pong: "no pong within \(DurationText.describe(pong ?? 0))"
        case .message: "message of more than \(message ?? 0) bytes"
        }
    }
}

/// What a codec says of its servers' limits. All of it has defaults: no limits.
package protocol LimitedCodec: Sendable {
    /// The limits of the session that this value has seen, for a connection over that transport.
    func limits(on transport: Transport) -> ServerLimits
    /// What the server does to a client that went over one.
    /// - Parameter isOpen: whether the client's handshake had come.
    func end(over limit: ServerLimits.Limit, isOpen: Bool) -> ServerLimits.End
}

extension LimitedCodec {
    package func limits(on transport: Transport) -> ServerLimits { ServerLimits() }
    package func end(over limit: ServerLimits.Limit, isOpen: Bool) -> ServerLimits.End {
        ServerLimits.End(limit == .message ? 1009 : 1000)
    }
}
