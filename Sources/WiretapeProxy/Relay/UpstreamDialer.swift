internal import WiretapeBytes
internal import WiretapeRuntime

/// Finds the addresses of one upstream for the connections of one loop and opens streams to them.
final class UpstreamDialer {
    typealias Connect = (Address, any StreamHandler) -> any ByteStream

    let upstream: Upstream
    private let loop: any Loop
    private let connect: Connect
    private var addresses: [Address] = []
    private var waiting: [(Result<[Address], NetError>) -> Void] = []

    init(_ loop: any Loop, _ upstream: Upstream, connect: @escaping Connect) {
        self.loop = loop
        self.upstream = upstream
        self.connect = connect
    }

    /// All addresses in the order in which they should be tried. Asked once; again after ``forget()``.
    func find(_ done: @escaping (Result<[Address], NetError>) -> Void) {
        if let address = upstream.address { return done(.success([address])) }
        guard addresses.isEmpty else { return done(.success(addresses)) }
        waiting.append(done)
        guard waiting.count == 1 else { return }
        loop.resolve(upstream.host, port: upstream.port) { [self] result in
            if case .success(let found) = result { addresses = found }
            let asked = waiting
            waiting = []
            for answer in asked { answer(result) }
        }
    }

    /// None of the addresses answered: ask for them anew the next time.
    func forget() { addresses = [] }

    /// The address that answered is tried first from now on.
    func prefer(_ address: Address) {
        guard let at = addresses.firstIndex(of: address), at > 0 else { return }
        addresses.remove(at: at)
        addresses.insert(address, at: 0)
    }

    func open(_ address: Address, _ handler: any StreamHandler) -> any ByteStream { connect(address, handler) }
}
