internal import WiretapeBytes
package import WiretapeRuntime
package import WiretapeWire

/// The listeners of a transparent proxy on one loop: a rule of the system's firewall redirects connections here, and their
/// clients know nothing of it. Where one was to go the kernel tells; what the server is called there its client says, by TLS's
/// SNI, or in the `Host` of its first request.
package final class TransparentDoor: Listener {
    /// Where a client wanted to go.
    package struct Destination: Hashable, Sendable {
        /// What the client calls it, else its address.
        package let target: ForwardTarget
        package let address: Address
        package let isTLS: Bool

        /// What a tape calls it.
        package var name: String { target.tapeName(isTLS: isTLS) }
    }

    /// Serves a stream of a client that speaks HTTP on it.
    package typealias Serve = (_ stream: any ByteStream, _ seat: Seat?, _ to: Destination) -> any StreamHandler

    let loop: any Loop
    /// Of clients that speak TLS.
    let inner: TLSDoor
    let serve: Serve
    private let say: (String) -> Void
    private let admission: Admission?
    private let own: OwnStreams?
    package var handshakes: (any HandshakeWatch)?
    private var listeners: [any Listener] = []
    private var clients: [ObjectIdentifier: TransparentClient] = [:]

    /// - Parameters:
    ///   - inner: what clients are shown that speak TLS.
    ///   - admission: nil: everybody is let in and waited for.
    ///   - own: streams that this process opens to servers; one that comes back here is refused. Nil: it opens none.
    ///   - say: hears a line for people.
    package init(
        _ loop: any Loop, inner: TLSDoor, admission: Admission?, own: OwnStreams?, handshakes: RelayHandshakes? = nil,
        say: @escaping (String) -> Void, serve: @escaping Serve
    ) {
        self.loop = loop
        self.inner = inner
        self.admission = admission
        self.own = own
        self.handshakes = handshakes
        self.say = say
        self.serve = serve
    }

    /// Accepts redirected clients at `address`; port 0 picks one. May be called for several addresses.
    package func listen(on address: Address, reusePort: Bool) throws(NetError) -> Address {
        let listener = try loop.listen(on: address, reusePort: reusePort, door: nil, admission: admission) {
            [weak self] in
            guard let self, !listeners.isEmpty else { return nil }
            return accept($0, $1)
        }
        listeners.append(listener)
        return listener.address
    }

    private func accept(_ stream: any ByteStream, _ seat: Seat?) -> any StreamHandler {
        let client = TransparentClient(self, stream, seat)
        clients[ObjectIdentifier(client)] = client
        client.begin(destination(of: stream))
        return client
    }

    /// Why nobody serves a client; or where it wanted to go.
    private func destination(of stream: any ByteStream) -> Result<Address, TransparentRefusal> {
        if let peer = stream.peer, own?.contains(peer) == true { return .failure(.loop) }
        guard let original = stream.originalDestination, original != stream.local else { return .failure(.direct) }
        return .success(original)
    }

    /// The handshakes of those who speak TLS to a server.
    func handshakes(with address: Address) -> WatchedHandshakes? {
        handshakes.map { watch in
            WatchedHandshakes(watch: watch) { [weak self] in
                Handshake.Place("\(address)", to: self?.listeners.first?.address, upstream: "\(address)")
            }
        }
    }

    func tell(_ peer: Address?, _ why: String) { say("\(peer.map { "\($0)" } ?? "a client"): \(why)") }

    /// A client has gone, or is somebody else's.
    func forget(_ client: TransparentClient) { clients[ObjectIdentifier(client)] = nil }

    /// Where the first one listens, with the real port; nowhere before ``listen(on:reusePort:)``.
    package var address: Address { listeners.first?.address ?? Address(host: "", port: 0) }

    /// Accepts nobody any more and ends those that nobody serves. The others are for who serves them to end.
    package func close() {
        for listener in listeners { listener.close() }
        listeners = []
        handshakes?.close()
        for client in clients.values { client.stop() }
    }
}

/// Why a client of a transparent proxy is not served.
enum TransparentRefusal: Error {
    /// It has connected to the listener itself.
    case direct
    /// It is this process, on its way to a server.
    case loop

    var words: String {
        switch self {
        case .direct:
            "nothing was redirected: with --mode transparent this port takes connections that a rule of the firewall (nftables, "
                + "iptables) has redirected here, and docs/transparent.md shows such rules"
        case .loop:
            "the connection is Wiretape's own, on its way to a server: the rule that redirects has to leave out this user (nftables: "
                + "meta skuid != NAME), or what comes from other machines only is to be redirected"
        }
    }
}

/// Streams that this process has open to servers, on one loop.
package final class OwnStreams {
    private final class Weak {
        weak var stream: (any ByteStream)?
        init(_ stream: any ByteStream) { self.stream = stream }
    }

    private var streams: [Address: Weak] = [:]
    private var sweepAt = 1_024

    package init() {}

    package func add(_ stream: any ByteStream) {
        guard let local = stream.local else { return }
        streams[local] = Weak(stream)
        guard streams.count > sweepAt else { return }
        streams = streams.filter { $0.value.stream != nil }
        sweepAt = max(1_024, streams.count * 2)
    }

    /// Whether one of them comes from that address.
    func contains(_ address: Address) -> Bool { streams[address]?.stream != nil }
}
