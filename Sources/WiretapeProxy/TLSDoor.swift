internal import WiretapeBytes
package import WiretapeRuntime
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
    /// - Parameters:
    ///   - seat: nil when it needs none.
    ///   - name: the host that the client believes to reach, for one that does not say it (SNI).
    ///   - accept: called after the handshake with the stream and its seat; nil: nobody serves the listener's clients any more.
    func accepting(
        _ stream: any ByteStream, _ seat: Seat?, on loop: any Loop, name: String? = nil,
        _ accept: @escaping (any ByteStream, Seat?) -> (any StreamHandler)?
    ) -> any StreamHandler {
        let peer = stream.peer
        let newcomer = seat.map { Newcomer(stream, $0, at: loop.now) }
        return TLSStream.accepting(
            loop, stream, context, name: name, refused: { [refused] in refused(peer, $0) }, gone: newcomer?.leave
        ) { stream in
            accept(stream, seat) ?? Unserved.end(stream, seat)
        }
    }

    /// A client whose handshake is not done yet. It gives its seat to whoever serves the client then.
    private final class Newcomer: SeatedClient {
        private var stream: (any ByteStream)?
        private let seat: Seat

        init(_ stream: any ByteStream, _ seat: Seat, at now: WireInstant) {
            self.stream = stream
            self.seat = seat
            seat.sit(self, .handshake, at: now)
        }

        var isAwaited: Bool { true }
        /// The stream limits the time of a handshake.
        func timedOut(_ phase: Seat.Phase, at now: WireInstant) {}
        func giveWay(_ phase: Seat.Phase, at now: WireInstant) { stream?.reset() }

        func leave() {
            stream = nil
            seat.leave()
        }
    }
}
