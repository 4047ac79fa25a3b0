package import WiretapeProtocol
package import WiretapeWire

extension GraphQLCodec {
    /// graphql-ws's server waits for `connection_init` and for nothing else; the legacy one does not wait.
    package func limits(on transport: Transport) -> ServerLimits {
        ServerLimits(handshake: transport == .ws && dialect == .transportWS ? 3_000_000_000 : nil)
    }

    /// A client that is silent is dropped without a close frame.
    package func end(over limit: ServerLimits.Limit, isOpen: Bool) -> ServerLimits.End {
        switch limit {
        case .handshake: ServerLimits.End(4408, "Connection initialisation timeout")
        case .silence, .pong: ServerLimits.End(nil)
        case .message: ServerLimits.End(1009)
        }
    }
}
