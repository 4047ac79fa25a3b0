package import WiretapeProtocol
package import WiretapeWire

extension EventflitCodec {
    /// After the announced time without anything from the client the server pings, and wants a sign of life within 30 s.
    package func limits(on transport: Transport) -> ServerLimits {
        ServerLimits(silence: keepalive?.every, pong: 30_000_000_000)
    }

    package func end(over limit: ServerLimits.Limit, isOpen: Bool) -> ServerLimits.End {
        switch limit {
        case .pong:
            ServerLimits.End(4201, "Pong reply not received: ping was sent to the client, but no reply was received")
        case .silence: ServerLimits.End(4202, "Closed after inactivity")
        case .handshake: ServerLimits.End(1000)
        case .message: ServerLimits.End(1009)
        }
    }
}
