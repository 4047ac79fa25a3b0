internal import WiretapeProxy
internal import WiretapeRecorder
internal import WiretapeRuntime

/// The relays of one loop, one for each upstream, and the recorder's end on that loop. Confined to the loop's thread.
final class LoopRelays {
    typealias Connect = (Upstream, Address, any StreamHandler) -> any ByteStream

    private let nodes: [RelayNode]
    private let tap: Tap?
    private let faults: FaultControl?
    private let admission: Admission
    private var open = 0

    /// - Parameter failed: called once when the recording failed and the traffic must stop.
    init(
        _ loop: any Loop, _ upstreams: [Upstream], tap: Tap?, numbers: ConnectionNumbers, options: RelayOptions,
        admission: Admission, faults: FaultControl? = nil, ledger: UpstreamLedger, connect: @escaping Connect,
        failed: @escaping () -> Void
    ) {
        self.tap = tap
        self.faults = faults
        self.admission = admission
        nodes = upstreams.map { upstream in
            RelayNode(
                loop, upstream: upstream, tap: tap, numbers: numbers, options: options, faults: faults,
                ledger: ledger, admission: admission
            ) { connect(upstream, $0, $1) }
        }
        // Lifetime: the relays keep the tap, which calls this on their thread until `close()`.
        tap?.onHold = { [unowned self] in for node in nodes { node.hold() } }
        // Lifetime: as above.
        tap?.onRelease = { [unowned self] in for node in nodes { node.release() } }
        tap?.onFailure = failed
    }

    /// Accepts clients of the n-th upstream at the n-th address.
    /// - Parameter doors: of the n-th listener; nil for one that speaks plain HTTP.
    /// - Returns: the addresses with their real ports.
    func listen(on addresses: [Address], doors: [TLSDoor?], reusePort: Bool) throws(NetError) -> [Address] {
        var real: [Address] = []
        for (index, node) in nodes.enumerated() {
            real.append(try node.listen(on: addresses[index], reusePort: reusePort, door: doors[index]))
        }
        return real
    }

    /// Ends all connections; `done` is called once, when the recorder has all of them.
    func stop(_ done: @escaping () -> Void) {
        open = nodes.count
        for node in nodes {
            node.stop { [self] in
                open -= 1
                if open > 0 { return }
                tap?.close()
                faults?.close()
                admission.close()
                done()
            }
        }
    }
}
