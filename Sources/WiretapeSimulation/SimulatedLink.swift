internal import WiretapeRuntime

/// One connection: two ends and a pipe each way.
final class SimulatedLink {
    // Lifetime: the test keeps the loop until all is over.
    unowned let loop: SimulatedLoop
    let connector: SimulatedStream
    let acceptor: SimulatedStream
    private let address: Address

    init(_ loop: SimulatedLoop, _ number: Int, to address: Address) {
        self.loop = loop
        self.address = address
        let there = SimulatedPipe(loop, number, to: address.port, fromConnector: true)
        let back = SimulatedPipe(loop, number, to: address.port, fromConnector: false)
        let local = Address(host: address.host, port: UInt16(1_024 + number % 30_000))
        connector = SimulatedStream(loop, out: there, in: back, peer: address)
        acceptor = SimulatedStream(loop, out: back, in: there, peer: local)
        there.source = connector
        there.target = acceptor
        back.source = acceptor
        back.target = connector
        there.other = back
        back.other = there
    }

    func start(_ handler: any StreamHandler) {
        connector.open(handler)
        let there = loop.random.draw(in: loop.conditions.latency)
        loop.after(there) { [self] in arrive() }
    }

    /// The SYN arrives.
    private func arrive() {
        guard !connector.isOver else { return }
        let back = loop.random.draw(in: loop.conditions.latency)
        guard loop.listener(at: address) != nil else {
            return loop.after(back) { [self] in connector.finish(.failed("connection refused")) }
        }
        loop.after(back) { [self] in connector.connected() }
        // The accepting process gets to it before or after the other side hears of it.
        loop.after(loop.random.draw(in: loop.conditions.latency)) { [self] in accept() }
    }

    private func accept() {
        guard let accept = loop.listener(at: address)?.accept else {
            if !connector.isOver { connector.hearReset() }
            return
        }
        // It may be reset or over already on the other side: it is accepted all the same, and hears of it then.
        acceptor.accepted(accept)
    }
}
