package import WiretapeMessages
internal import WiretapeWire

/// What the client of a recorded session took its time for, and how much it said at once, while its server put up with
/// that: a replay is not stricter.
package struct ClientConduct: Hashable, Sendable {
    /// From the opening of a connection to the client's handshake, at most.
    package private(set) var handshake: UInt64 = 0
    /// Without anything from the client while the server went on.
    package private(set) var silence: UInt64 = 0
    /// The same on connections on which it had sent a keepalive.
    package private(set) var silenceBehindKeepalive: UInt64 = 0
    /// Bytes of the largest message.
    package private(set) var message = 0

    /// The connection that is looked at: on WebSockets the tape's, over HTTP all are one.
    private var carrier: UInt32?
    private var heard: UInt64 = 0
    private var hasPinged = false

    package init() {}

    /// - Parameters:
    ///   - carrier: the WebSocket's connection; 0 for requests.
    ///   - opened: when that was opened, where the tape tells.
    package mutating func note(_ message: Message, on carrier: UInt32, opened: UInt64?, at time: UInt64) {
        guard message.direction == .toServer else { return went(on: carrier, at: time) }
        if message.role == .handshake, let opened { handshake = max(handshake, time - min(time, opened)) }
        self.message = max(self.message, message.bytes.count)
        sign(on: carrier, at: time)
        if message.role == .keepalive { hasPinged = true }
    }

    /// Something came from the client, a WebSocket's ping or pong for instance.
    mutating func sign(on carrier: UInt32, at time: UInt64) {
        went(on: carrier, at: time)
        heard = time
    }

    /// The server went on.
    mutating func went(on carrier: UInt32, at time: UInt64) {
        if self.carrier != carrier { (self.carrier, heard, hasPinged) = (carrier, time, false) }
        let quiet = time - min(time, heard)
        silence = max(silence, quiet)
        if hasPinged { silenceBehindKeepalive = max(silenceBehindKeepalive, quiet) }
    }
}

extension ServerLimits {
    /// The same, no stricter than the server of the tape was. Nobody is as punctual as a tape: times get a quarter more.
    /// - Parameter stretch: how much longer recorded gaps last at this replay.
    package func atLeast(_ conduct: ClientConduct, stretch: Double) -> ServerLimits {
        func longer(_ time: UInt64) -> UInt64 { UInt64(min(Double(time) * 1.25 * max(1, stretch), 9e18)) }
        var limits = self
        if let handshake, conduct.handshake >= handshake { limits.handshake = longer(conduct.handshake) }
        let recorded = countsFromKeepalive ? conduct.silenceBehindKeepalive : conduct.silence
        if let silence, recorded >= silence.addingReportingOverflow(pong ?? 0).partialValue {
            limits.silence = longer(recorded) - min(longer(recorded), pong ?? 0)
        }
        if let message { limits.message = max(message, conduct.message) }
        return limits
    }
}
