internal import WiretapeBytes
package import WiretapeRuntime
package import WiretapeWire

/// The listener of a forward proxy on one loop: clients name the host that they want to reach, by `CONNECT`, by requests in
/// absolute form, or by SOCKS 5. What they say to it is served as if they had connected to it: TLS within is terminated with
/// a certificate of that name. Hosts that are not looked at are tunnelled untouched.
package final class ForwardDoor: Listener {
    /// Serves a stream of a client that wants to reach a host, which speaks HTTP on it.
    package typealias Serve = (
        _ stream: any ByteStream, _ seat: Seat?, _ target: ForwardTarget, _ isTLS: Bool
    ) -> any StreamHandler

    /// Which hosts are looked at.
    package struct Scope: Sendable {
        /// Nothing else; all when empty.
        package var only: HostPatterns
        /// Not these.
        package var bypass: HostPatterns

        package init(only: HostPatterns, bypass: HostPatterns) {
            self.only = only
            self.bypass = bypass
        }

        func isTunnelled(_ target: ForwardTarget) -> Bool {
            bypass.matches(target) || !only.isEmpty && !only.matches(target)
        }
    }

    /// The host that answers with what a client needs to trust the authority: nobody can own it (RFC 6761).
    package static let magicHost = "wiretape.test"

    let loop: any Loop
    let scope: Scope
    let pressure: RelayPressure
    /// Of TLS within.
    let inner: TLSDoor
    private let connectTimeout: UInt64
    private let via: ViaProxy?
    /// Hears of TLS handshakes, with the proxy and within.
    package var handshakes: (any HandshakeWatch)?
    let serve: Serve
    /// Relays plain requests to hosts that are not looked at.
    let unseen: ForwardRelays
    /// What ``magicHost`` answers.
    let page: (RequestHead) -> HTTPAnswer
    /// A line for people.
    let say: (String) -> Void
    private let admission: Admission?
    private var listener: (any Listener)?
    private var clients: [ObjectIdentifier: ForwardClient] = [:]

    /// - Parameters:
    ///   - admission: nil: everybody is let in and waited for.
    ///   - inner: what clients are shown that speak TLS to a host.
    ///   - pressure: of the loop, shared by all that relays there.
    package init(
        _ loop: any Loop, scope: Scope, inner: TLSDoor, admission: Admission?, pressure: RelayPressure,
        unseen: ForwardRelays,
        connectTimeout: UInt64 = RelayOptions.connectTimeout, via: ViaProxy? = nil, handshakes: RelayHandshakes? = nil,
        page: @escaping (RequestHead) -> HTTPAnswer,
        say: @escaping (String) -> Void, serve: @escaping Serve
    ) {
        self.loop = loop
        self.scope = scope
        self.pressure = pressure
        self.inner = inner
        self.admission = admission
        self.unseen = unseen
        self.connectTimeout = connectTimeout
        self.handshakes = handshakes
        self.via = via
        self.page = page
        self.say = say
        self.serve = serve
    }

    /// Accepts clients at `address`; port 0 picks one.
    /// - Parameter door: nil for clients that speak plain HTTP to the proxy itself.
    package func listen(on address: Address, reusePort: Bool, door: TLSDoor? = nil) throws(NetError) -> Address {
        // Lifetime: the door outlives its listener, which it closes.
        let watched = handshakes.map { watch in
            WatchedHandshakes(watch: watch) { [unowned self] in
                Handshake.Place(self.address.description, to: self.address, upstream: nil)
            }
        }
        let listener = try loop.listen(
            on: address, reusePort: reusePort, door: door, admission: admission, handshakes: watched
        ) { [weak self] in
            guard let self, self.listener != nil else { return nil }
            return accept($0, $1)
        }
        self.listener = listener
        return listener.address
    }

    /// The handshakes of those who speak TLS to a host.
    func handshakes(with target: ForwardTarget) -> WatchedHandshakes? {
        let name = target.name(isTLS: true)
        return handshakes.map { watch in
            WatchedHandshakes(watch: watch) { [address] in Handshake.Place(name, to: address, upstream: name) }
        }
    }

    private func accept(_ stream: any ByteStream, _ seat: Seat?) -> any StreamHandler {
        let client = ForwardClient(self, stream, seat)
        clients[ObjectIdentifier(client)] = client
        client.begin()
        return client
    }

    /// The way to a host that is not looked at.
    func dialer(of target: ForwardTarget) -> UpstreamDialer {
        let name = target.name(isTLS: true)
        let upstream = Upstream(name: name, url: name, host: target.host, port: target.port, isTLS: false)
        let (loop, via) = (loop, via)
        return UpstreamDialer(loop, upstream, via: via, timeout: connectTimeout) { address, handler in
            guard let via else { return loop.connect(to: address, handler) }
            return ViaLoop(loop, via, to: target).connect(to: address, handler)
        }
    }

    /// A client has gone.
    func forget(_ client: ForwardClient) { clients[ObjectIdentifier(client)] = nil }

    /// Where it listens, with the real port; nowhere before ``listen(on:reusePort:door:)``.
    package var address: Address { listener?.address ?? Address(host: "", port: 0) }

    /// Accepts nobody any more and ends those that nobody serves. The others are for who serves them to end.
    package func close() {
        listener?.close()
        listener = nil
        handshakes?.close()
        for client in clients.values { client.stop() }
    }
}
