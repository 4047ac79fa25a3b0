internal import WiretapeBytes
internal import WiretapeFaults
package import WiretapeRuntime
package import WiretapeTLS

/// The TLS of a listener. Clients are accepted once their handshake is done.
package struct TLSDoor: Sendable {
    let context: TLSContext
    let flawed: FlawedCertificates?
    let refused: @Sendable (Address?, TLSError) -> Void

    /// - Parameters:
    ///   - flawed: what clients are shown when a rule wants them to refuse it; nil: no rule can.
    ///   - refused: hears of clients whose handshake failed, with their address where it is known.
    package init(
        _ context: TLSContext, flawed: FlawedCertificates? = nil,
        refused: @escaping @Sendable (Address?, TLSError) -> Void
    ) {
        self.context = context
        self.flawed = flawed
        self.refused = refused
    }

    /// The handler of an accepted stream.
    /// - Parameters:
    ///   - seat: nil when it needs none.
    ///   - name: the host that the client believes to reach, for one that does not say it (SNI).
    ///   - handshakes: who hears of those that fail, and may make them fail; nil: nobody.
    ///   - accept: called after the handshake with the stream and its seat; nil: nobody serves the listener's clients any more.
    func accepting(
        _ stream: any ByteStream, _ seat: Seat?, on loop: any Loop, name: String? = nil,
        handshakes: WatchedHandshakes? = nil,
        _ accept: @escaping (any ByteStream, Seat?) -> (any StreamHandler)?
    ) -> any StreamHandler {
        let peer = stream.peer
        let newcomer = seat.map { Newcomer(stream, $0, at: loop.now) }
        guard let handshakes else {
            return TLSStream.accepting(
                loop, stream, context, name: name, refused: { [refused] in refused(peer, $0) }, gone: newcomer?.leave
            ) { accept($0, seat) ?? Unserved.end($0, seat) }
        }
        let watch = handshakes.watch
        let handshake = Handshake(peer: peer, place: handshakes.place())
        let door = self
        let serve = { (fate: HandshakeFate?) in
            TLSStream.accepting(
                loop, stream, door.shown(fate), name: name,
                refused: { error in
                    door.tell(peer, fate, error)
                    watch.failed(handshake, fate, why: error.message)
                }, gone: newcomer?.leave
            ) { stream in
                let serve = { accept(stream, seat) ?? Unserved.end(stream, seat) }
                guard let fate else { return serve() }
                let handler = watch.opened(fate, serve)
                guard fate.flaw != nil else { return handler }
                return JudgingClient(handler) { why in
                    door.tell(peer, fate, TLSError(.certificate, why))
                    watch.left(handshake, fate, why: why)
                }
            }
        }
        guard watch.judges else { return serve(nil) }
        return JudgedHandshake(
            loop, stream, watch, handshake, refused: { door.tell(peer, $0, TLSError(.violation, $1)) },
            gone: { newcomer?.leave() }, serve: serve)
    }

    private func shown(_ fate: HandshakeFate?) -> TLSContext { fate?.flaw.flatMap { flawed?.context($0) } ?? context }

    private func tell(_ peer: Address?, _ fate: HandshakeFate?, _ error: TLSError) {
        guard let fate else { return refused(peer, error) }
        refused(peer, TLSError(.wanted, "\(error.message), by rule '\(fate.rule)'"))
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
