package import WiretapeBytes
package import WiretapeRuntime

/// The network of `WiretapeRuntime` in virtual time: one thread, no sockets, every draw from one seed. The same seed and the same program
/// above it give the same run, step by step.
///
/// What an owner does wrong (a timer used after its close, a write after a half-close …) is noted in ``violations``; what
/// it left open is in ``leaks``. Tests want both empty.
package final class SimulatedLoop: Loop {
    package private(set) var now = WireInstant(nanoseconds: 0)
    /// Of connections made from now on.
    package var conditions: NetworkConditions
    /// Addresses of names, in the order in which they should be tried. A numeric host resolves to itself.
    package var names: [String: [String]] = ["localhost": ["::1", "127.0.0.1"]]
    /// Faults at exact places, by the connection's number.
    package var faults: [SimulatedFault] = []
    /// How long a stream that does not read takes to notice an RST (the real one looks now and then).
    package var slowLook: UInt64 = 1_000_000_000
    package var readLimit = Int.max
    /// Events run so far.
    package private(set) var steps = 0
    /// Connections asked for so far: the next one gets this number.
    package private(set) var connections = 0
    /// Writes that owners have made on streams.
    package internal(set) var writes = 0
    /// What owners did that the contract of `Loop` and `ByteStream` forbids.
    package private(set) var violations: [String] = []
    /// Everything that owners were told, in order: equal for equal runs.
    package private(set) var digest = StableHash()

    var random: SplitMix64
    private var events = EventHeap()
    private var listeners: [SimulatedListener] = []
    private var streams: [Int: SimulatedStream] = [:]
    private var nextStream = 0
    private var nextPort: UInt16 = 40_000
    private var openTimers = 0
    private var queuedByAcceptors: [UInt16: Int] = [:]
    private var queuedByConnectors: [UInt16: Int] = [:]

    package init(seed: UInt64, conditions: NetworkConditions = .calm) {
        random = SplitMix64(seed: seed)
        self.conditions = conditions
    }

    // MARK: Loop

    package func timer(_ fire: @escaping () -> Void) -> any LoopTimer {
        openTimers += 1
        return SimulatedTimer(self, fire)
    }

    package func listen(
        on address: Address, reusePort: Bool, _ accept: @escaping (any ByteStream) -> any StreamHandler
    ) throws(NetError) -> any Listener {
        var address = address
        while address.port == 0 {
            nextPort = nextPort == .max ? 40_000 : nextPort + 1
            if !listeners.contains(where: { $0.address.port == nextPort }) { address.port = nextPort }
        }
        guard listeners.allSatisfy({ $0.address != address || ($0.reusePort && reusePort) }) else {
            throw NetError("bind", code: -98, reason: "address already in use")
        }
        let listener = SimulatedListener(self, address, reusePort: reusePort, accept)
        listeners.append(listener)
        return listener
    }

    package func connect(to address: Address, _ handler: any StreamHandler) -> any ByteStream {
        let number = connections
        connections += 1
        let link = SimulatedLink(self, number, to: address)
        link.start(handler)
        return link.connector
    }

    package func resolve(_ host: String, port: UInt16, _ done: @escaping (Result<[Address], NetError>) -> Void) {
        let isNumeric =
            host.contains(":") || host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }
        let hosts = isNumeric ? [host] : names[host]
        after(random.draw(in: conditions.latency)) {
            if let hosts {
                done(.success(hosts.map { Address(host: $0, port: port) }))
            } else {
                done(.failure(NetError("resolve", code: -3008, reason: "unknown node or service")))
            }
        }
    }

    // MARK: Running

    /// Runs until nothing is left to happen, or for `limit` events.
    /// - Returns: whether nothing is left.
    @discardableResult
    package func run(limit: Int = 10_000_000) -> Bool {
        run(until: WireInstant(nanoseconds: .max), limit: limit) { true }
    }

    /// Runs what happens up to and at `end`, while `goOn` says so. The clock stands at `end` afterwards, unless `goOn` or
    /// `limit` stopped it, or `end` is the end of time.
    /// - Returns: whether nothing is left to happen up to `end`.
    @discardableResult
    package func run(until end: WireInstant, limit: Int = 10_000_000, while goOn: () -> Bool = { true }) -> Bool {
        let last = steps + limit
        while let event = events.next, event.at <= end.nanoseconds {
            guard goOn(), steps < last else { return false }
            _ = events.removeNext()
            switch event.what {
            case .call(let call):
                now = WireInstant(nanoseconds: event.at)
                steps += 1
                call()
            case .timer(let timer, let arming):
                guard arming == timer.arming else { continue }
                now = WireInstant(nanoseconds: event.at)
                steps += 1
                digest.combine("timer")
                timer.run(arming)
            }
        }
        if end.nanoseconds != .max { now = max(now, end) }
        return true
    }

    /// What is still open: streams, timers, listeners. Empty at the end of a clean run.
    package var leaks: [String] {
        streams.keys.sorted().compactMap { streams[$0]?.description }
            + listeners.map { "listener \($0.address)" } + (openTimers == 0 ? [] : ["\(openTimers) timers"])
    }

    /// The most bytes that any stream accepted at this port has had queued.
    package func mostQueued(acceptedAt port: UInt16) -> Int { queuedByAcceptors[port] ?? 0 }

    /// The most bytes that any stream connected to this port has had queued.
    package func mostQueued(connectedTo port: UInt16) -> Int { queuedByConnectors[port] ?? 0 }

    /// Ends every stream as aborted and drops what was to happen.
    package func shutdown() {
        events = EventHeap()
        for listener in listeners { listener.close() }
        for key in streams.keys.sorted() { streams[key]?.finish(.aborted) }
        run()
    }

    // MARK: For the parts

    func after(_ delay: UInt64, _ call: @escaping () -> Void) {
        events.add(.call(call), at: now.nanoseconds + delay)
    }

    func schedule(_ timer: SimulatedTimer, at: UInt64) {
        events.add(.timer(timer, arming: timer.arming), at: at)
    }

    func timerClosed() { openTimers -= 1 }

    func violated(_ what: String) { violations.append(what) }

    func noteQueued(_ count: Int, _ port: UInt16, fromConnector: Bool) {
        if fromConnector {
            queuedByConnectors[port] = max(queuedByConnectors[port] ?? 0, count)
        } else {
            queuedByAcceptors[port] = max(queuedByAcceptors[port] ?? 0, count)
        }
    }

    func note(_ what: String, _ stream: Int, _ n: Int = 0) {
        digest.combine(what)
        digest.combine("\(stream) \(n)")
    }

    func register(_ stream: SimulatedStream) -> Int {
        nextStream += 1
        streams[nextStream] = stream
        return nextStream
    }

    func forget(_ stream: Int) { streams[stream] = nil }

    func remove(_ listener: SimulatedListener) { listeners.removeAll { $0 === listener } }

    /// Who accepts a connection to `address`: one of those that share the port.
    func listener(at address: Address) -> SimulatedListener? {
        let any = address.host.contains(":") ? "::" : "0.0.0.0"
        let candidates = listeners.filter {
            $0.address.port == address.port && ($0.address.host == address.host || $0.address.host == any)
        }
        return candidates.count < 2 ? candidates.first : candidates[random.below(candidates.count)]
    }
}

package final class SimulatedListener: Listener {
    package let address: Address
    let reusePort: Bool
    private(set) var accept: ((any ByteStream) -> any StreamHandler)?
    // Lifetime: the test keeps the loop until all is over.
    private unowned let loop: SimulatedLoop

    init(
        _ loop: SimulatedLoop, _ address: Address, reusePort: Bool,
        _ accept: @escaping (any ByteStream) -> any StreamHandler
    ) {
        self.loop = loop
        self.address = address
        self.reusePort = reusePort
        self.accept = accept
    }

    package func close() {
        guard accept != nil else { return }
        accept = nil
        loop.remove(self)
    }
}

/// A fault of the network at an exact place.
package struct SimulatedFault: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// Both ends get an RST.
        case reset
        /// Nothing passes from then on, and nobody is told.
        case lost
    }

    /// The connection's number: its place among the calls of `connect`, from 0.
    package var connection: Int
    /// Which direction's bytes are counted: those that the connecting side sends, or those of the accepting side.
    package var fromConnector: Bool
    /// So many bytes arrive.
    package var after: Int
    package var kind: Kind

    package init(_ kind: Kind, connection: Int, fromConnector: Bool, after: Int) {
        self.kind = kind
        self.connection = connection
        self.fromConnector = fromConnector
        self.after = after
    }
}
