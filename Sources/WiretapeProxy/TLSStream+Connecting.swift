internal import WiretapeBytes
package import WiretapeRuntime
package import WiretapeTLS

extension TLSStream {
    /// Opens a TLS connection to `address`. As ``Loop/connect(to:_:)``: `connected()` or `ended(_:)` follows, never before
    /// this call returns. A refused certificate is `ended(.failed("certificate verify failed: …"))`.
    /// - Parameters:
    ///   - context: nil: the stream fails.
    ///   - serverName: the name or address that the certificate must be for, sent as SNI when it is a name.
    package static func connect(
        _ loop: any Loop, to address: Address, serverName: String, _ context: TLSContext?, _ handler: any StreamHandler
    ) -> TLSStream {
        let machine = context.flatMap { try? TLSMachine($0, connectingTo: serverName) }
        let stream = TLSStream(loop, machine)
        stream.handler = handler
        stream.inner = loop.connect(to: address, stream)
        return stream
    }

    /// The handler for an accepted stream that speaks TLS: `accept` is called with the decrypted stream when the handshake is
    /// done, `refused` when it fails or takes longer than `patience` nanoseconds. A client that speaks plain HTTP is told so in HTTP.
    /// - Parameter gone: called when a stream whose handshake has not come to its end is closed, some time after `refused`.
    package static func accepting(
        _ loop: any Loop, _ inner: any ByteStream, _ context: TLSContext, name: String? = nil,
        patience: UInt64 = 60_000_000_000, refused: @escaping (TLSError) -> Void = { _ in },
        gone: (() -> Void)? = nil,
        _ accept: @escaping (TLSStream) -> any StreamHandler
    ) -> any StreamHandler {
        let stream = TLSStream(loop, try? TLSMachine(accepting: context, as: name))
        stream.accept = accept
        stream.gone = gone
        stream.refused = refused
        stream.inner = inner
        stream.phase = .handshake
        stream.ring(.handshake, at: loop.now.advanced(by: patience))
        inner.isReading = true
        return stream
    }
}
