internal import WiretapeFaults
package import WiretapeRuntime

/// A TLS handshake of a client, as reports and tapes tell it.
package struct Handshake {
    package let peer: Address?
    package let place: Place

    /// Where clients shake hands.
    package struct Place {
        /// By which handshakes are counted, and rules name them.
        package let listener: String
        /// Where it listens.
        package let to: String?
        /// Who stands behind it, where that is known before anything is asked.
        package let upstream: String?

        package init(_ listener: String, to: Address?, upstream: String?) {
            self.listener = listener
            self.to = to?.description
            self.upstream = upstream
        }
    }
}

/// Hears of the TLS handshakes of one loop's clients, and says what is to become of them.
package protocol HandshakeWatch: AnyObject {
    /// Whether anything but the right thing may be to become of one that begins now.
    var judges: Bool { get }
    /// A client has said its hello. `then` is called once, perhaps later; with nil the handshake goes on as ever.
    func judge(_ handshake: Handshake, _ then: @escaping (HandshakeFate?) -> Void)
    /// The handshake is done: whoever is told of a connection within `accept` is told of the one that it has led to.
    func opened(_ fate: HandshakeFate, _ accept: () -> any StreamHandler) -> any StreamHandler
    /// Nobody is served any more: what becomes of handshakes that are under way is told nobody.
    func close()
    /// No connection comes of it.
    /// - Parameter why: in people's words: `TLS handshake: sslv3 alert certificate expired`.
    func failed(_ handshake: Handshake, _ fate: HandshakeFate?, why: String)
    /// The connection is there, and its client has left without a word: it has judged the certificate behind the handshake.
    func left(_ handshake: Handshake, _ fate: HandshakeFate, why: String)
}

/// The handshakes of one listener's clients.
package struct WatchedHandshakes {
    package let watch: any HandshakeWatch
    /// Asked for each client: the port of a listener is known once it listens.
    package let place: () -> Handshake.Place

    package init(watch: any HandshakeWatch, place: @escaping () -> Handshake.Place) {
        self.watch = watch
        self.place = place
    }
}
