package import WiretapeCore
package import WiretapeTLS

/// The TLS of a listener. Clients are accepted once their handshake is done.
package struct TLSDoor: Sendable {
    let context: TLSContext
    let refused: @Sendable (Address?, TLSError) -> Void

    /// - Parameter refused: hears of clients whose handshake failed, with their address where it is known.
    package init(_ context: TLSContext, refused: @escaping @Sendable (Address?, TLSError) -> Void) {
        self.context = context
        self.refused = refused
    }

    /// The handler of an accepted stream.
    /// - Parameter accept: called after the handshake; nil: nobody serves the listener's clients any more.
    func accepting(
        _ stream: any ByteStream, on loop: any Loop, _ accept: @escaping (any ByteStream) -> (any StreamHandler)?
    ) -> any StreamHandler {
        let peer = stream.peer
        return TLSStream.accepting(loop, stream, context, refused: { [refused] in refused(peer, $0) }) { stream in
            if let handler = accept(stream) { return handler }
            stream.reset()
            return Unserved()
        }
    }

    /// The handler of a stream that came too late. It was reset: nothing that it tells matters.
    private final class Unserved: StreamHandler {
        func connected() {}
        func received(_ bytes: Span<UInt8>) {}
        func receivedEnd() {}
        func drained() {}
        func ended(_ how: StreamEnd) {}
    }
}
