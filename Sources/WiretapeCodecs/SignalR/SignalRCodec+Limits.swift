internal import WiretapeBytes
package import WiretapeProtocol
package import WiretapeWire

/// As an ASP.NET Core server has them by default: ClientTimeoutInterval, HandshakeTimeout, MaximumReceiveMessageSize.
extension SignalRCodec {
    /// Silence counts from a client's first ping on: there are clients that do not know of pings. It does not count while
    /// a call is being answered, since the server reads nothing meanwhile.
    package func limits(on transport: Transport) -> ServerLimits {
        ServerLimits(
            handshake: 15_000_000_000, silence: 30_000_000_000, message: 32_768, countsFromKeepalive: true,
            waitsForAnswers: true)
    }

    /// A Close that allows to reconnect, in the server's words without detailed errors; before the handshake its error.
    package func end(over limit: ServerLimits.Limit, isOpen: Bool) -> ServerLimits.End {
        guard isOpen else {
            let text = SignalRCodec.record([.init("error", .string("Handshake was canceled."))])
            return ServerLimits.End(1000, saying: (text, .text))
        }
        let members: [JSONValue.Member] = [
            .init("type", .number(7)), .init("error", .string("Connection closed with an error.")),
            .init("allowReconnect", .bool(true)),
        ]
        if hubProtocol == .messagePack, let frame = SignalRPack.frame(.object(members)) {
            return ServerLimits.End(1000, saying: (frame, .binary))
        }
        return ServerLimits.End(1000, saying: (SignalRCodec.record(members), .text))
    }
}
