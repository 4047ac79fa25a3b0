package import WiretapeBytes
package import WiretapeRuntime
package import WiretapeWire

/// Finds the addresses of one upstream, or of the proxy that leads to it, for the connections of one loop, and opens streams to them.
package final class UpstreamDialer {
    package typealias Connect = (Address, any StreamHandler) -> any ByteStream

    package let upstream: Upstream
    /// Nil: it is reached by itself.
    package let via: ViaProxy?
    /// Nanoseconds to wait for each address.
    package let timeout: UInt64
    private let loop: any Loop
    private let connect: Connect
    private var addresses: [Address] = []
    private var waiting: [(Result<[Address], NetError>) -> Void] = []
    /// Those that wait for an address to answer.
    private var underWay: [Int: Dialing] = [:]
    private var last = 0
    private var timer: (any LoopTimer)?
    private var isArmedFor: WireInstant?

    package init(
        _ loop: any Loop, _ upstream: Upstream, via: ViaProxy? = nil, timeout: UInt64 = RelayOptions.connectTimeout,
        connect: @escaping Connect
    ) {
        self.loop = loop
        self.upstream = upstream
        self.via = via
        self.timeout = timeout
        self.connect = connect
    }

    /// Reaches the upstream for a connection. The outcome never comes before this returns.
    /// - Parameters:
    ///   - isTunnel: what is said may become something else than requests and answers.
    ///   - seat: of the client that it is for, which has to find a descriptor for it; nil: nobody counts.
    package func dial(isTunnel: Bool = true, for seat: Seat?, _ done: @escaping (Dialing.Outcome) -> Void) -> Dialing {
        last += 1
        let dialing = Dialing(self, last, isTunnel: isTunnel, done)
        underWay[last] = dialing
        dialing.begin(hasPlace: seat?.findOnward() ?? true)
        return dialing
    }

    /// Whether requests to it are said to a proxy, in absolute form.
    package func isAsked(isTunnel: Bool) -> Bool { via?.kind == .http && !upstream.isTLS && !isTunnel }

    /// Nobody is reached any more.
    package func close() {
        for dialing in underWay.values { dialing.cancel() }
        timer?.close()
        timer = nil
    }

    // MARK: For those that dial

    package var now: WireInstant { loop.now }

    /// All addresses in the order in which they should be tried. Asked once; again after ``forget()``.
    package func find(_ done: @escaping (Result<[Address], NetError>) -> Void) {
        if let address = upstream.address { return done(.success([address])) }
        guard addresses.isEmpty else { return done(.success(addresses)) }
        waiting.append(done)
        guard waiting.count == 1 else { return }
        loop.resolve(via?.host ?? upstream.host, port: via?.port ?? upstream.port) { [self] result in
            if case .success(let found) = result { addresses = found }
            let asked = waiting
            waiting = []
            for answer in asked { answer(result) }
        }
    }

    /// None of the addresses answered: ask for them anew the next time.
    package func forget() { addresses = [] }

    /// The address that answered is tried first from now on.
    package func prefer(_ address: Address) {
        guard let at = addresses.firstIndex(of: address), at > 0 else { return }
        addresses.remove(at: at)
        addresses.insert(address, at: 0)
    }

    package func open(_ address: Address, _ handler: any StreamHandler, isTunnel: Bool) -> any ByteStream {
        // The proxy itself is spoken to.
        isAsked(isTunnel: isTunnel) ? loop.connect(to: address, handler) : connect(address, handler)
    }

    package func forget(_ dialing: Dialing) { underWay[dialing.number] = nil }

    /// Something falls due. The timer is armed at most once for all that are under way: a churn of connections costs no timer calls.
    package func look(_ dialing: Dialing) {
        guard let due = dialing.due else { return }
        if let isArmedFor, isArmedFor <= due { return }
        isArmedFor = due
        // Lifetime: `close()` closes it.
        if timer == nil { timer = loop.timer { [unowned self] in fired() } }
        timer?.arm(at: due)
    }

    private func fired() {
        isArmedFor = nil
        let now = loop.now
        // In the order in which they began, so that a run is the same each time.
        let due = underWay.values.filter { $0.due.map { $0 <= now } ?? false }
        for dialing in due.sorted(by: { $0.number < $1.number }) { dialing.wake(at: now) }
        guard let next = underWay.values.compactMap(\.due).min() else { return }
        isArmedFor = next
        timer?.arm(at: next)
    }
}
