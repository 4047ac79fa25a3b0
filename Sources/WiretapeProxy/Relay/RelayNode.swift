internal import WiretapeBytes
internal import WiretapeIntercept
internal import WiretapeProtocol
package import WiretapeRecorder
package import WiretapeRuntime
internal import WiretapeWire

/// The relay of one loop for one upstream: accepts clients and forwards their connections, telling the tap what passes.
/// It knows HTTP/1.1 as far as its framing goes and nothing of any protocol above it.
package final class RelayNode {
    let loop: any Loop
    let dialer: UpstreamDialer
    let tap: Tap?
    let options: RelayOptions
    /// Nil without rules: nothing is looked at.
    let faults: FaultControl?
    /// The server that it stands for.
    let origin: WebOrigin
    /// Nil: what leads clients away is passed on as it is.
    package var leadBack: LeadBack? {
        didSet { leadBack?.listens(self) }
    }
    private let numbers: ConnectionNumbers
    private let ledger: UpstreamLedger
    private let admission: Admission?
    /// Of the loop.
    let pressure: RelayPressure
    /// The host of the last request that was let in. Nearly all requests of a run name the same one, which is judged once.
    private var hostLetIn: String?
    /// Told to the ledger once: nothing is locked for an answer.
    private var hasAnswered = false
    private var entrance: Entrance?
    private var connections: [UInt32: RelayConnection] = [:]
    /// Of the end.
    private var timer: (any LoopTimer)?
    private var whenEmpty: (() -> Void)?
    private(set) var isStopping = false

    /// Where clients come in.
    private struct Entrance {
        let listener: any Listener
        /// Nil for clients that speak plain HTTP.
        let tls: TLSDoor?
        let handshakes: RelayHandshakes
    }

    /// - Parameters:
    ///   - tap: nil to relay without recording.
    ///   - numbers: shared by all nodes of a run.
    ///   - pressure: of the loop, shared by all that relays there.
    ///   - faults: the rules of the run, shared by the loop's nodes; nil: none.
    ///   - ledger: of the run; hears whether the upstream answers.
    ///   - admission: of the loop, shared by its nodes; nil: everybody is let in and waited for.
    ///   - connect: opens a stream to an address of the upstream, with TLS where it needs it.
    package init(
        _ loop: any Loop, upstream: Upstream, tap: Tap?, numbers: ConnectionNumbers, options: RelayOptions,
        pressure: RelayPressure, faults: FaultControl? = nil, ledger: UpstreamLedger = UpstreamLedger(),
        admission: Admission? = nil,
        connect: @escaping (Address, any StreamHandler) -> any ByteStream
    ) {
        self.loop = loop
        self.ledger = ledger
        self.admission = admission
        self.pressure = pressure
        self.tap = tap
        self.options = options
        self.faults = faults
        self.numbers = numbers
        dialer = UpstreamDialer(
            loop, upstream, via: options.via, timeout: options.connectTimeout, connect: connect)
        origin = WebOrigin(ForwardTarget(host: upstream.host, port: upstream.port), isTLS: upstream.isTLS)
        faults?.add(self)
    }

    /// Accepts clients at `address`; port 0 picks one.
    /// - Parameter door: nil for clients that speak plain HTTP.
    package func listen(on address: Address, reusePort: Bool, door: TLSDoor? = nil) throws(NetError) -> Address {
        let watch = RelayHandshakes(loop, tap: tap, numbers: numbers, faults: faults)
        watch.serves(door)
        // Lifetime: the node outlives its listener, which it closes.
        let watched = WatchedHandshakes(watch: watch) { [unowned self] in
            Handshake.Place(
                entrance?.listener.address.description ?? dialer.upstream.name, to: entrance?.listener.address,
                upstream: dialer.upstream.name)
        }
        let listener = try loop.listen(
            on: address, reusePort: reusePort, door: door, admission: admission, handshakes: watched
        ) { [weak self] in
            guard let self, !isStopping else { return nil }
            return accept($0, $1)
        }
        entrance = Entrance(listener: listener, tls: door, handshakes: watch)
        leadBack?.listens(self)
        return listener.address
    }

    /// Where it listens; nil: it does not.
    var door: LeadBackBook.Door? {
        entrance.map { LeadBackBook.Door(address: $0.listener.address, isTLS: $0.tls != nil) }
    }

    var tlsDoor: TLSDoor? { entrance?.tls }

    /// Why a request is not let in; nil when it is. People are told as of an upstream that does not answer.
    func refusal(_ head: RequestHead) -> String? {
        let host = head.headers.first("Host")
        if host != nil, host == hostLetIn, !head.isForProxy { return nil }
        guard let reason = options.access.refusal(head, judgesOrigin: false)?.reason else {
            hostLetIn = host
            return nil
        }
        ledger.refused(reason)
        return reason
    }

    /// A request was not let in. People are told as of an upstream that does not answer.
    func refused(_ reason: String) { ledger.refused(reason) }

    /// Client connections that are open.
    package var count: Int { connections.count }

    /// Those of them that are held for the rules.
    package var heldCount: Int { connections.values.count { $0.held != nil } }

    /// The recorder cannot take more: nothing is read until ``release()``.
    package func hold() {
        for connection in connections.values { connection.hold() }
    }

    package func release() {
        for connection in connections.values { connection.release() }
    }

    /// Stops accepting, ends all connections in order, aborts after `grace` nanoseconds those that do not end.
    /// `done` is called when none is left; never before this call returns.
    package func stop(grace: UInt64 = 500_000_000, _ done: @escaping () -> Void) {
        isStopping = true
        entrance?.listener.close()
        entrance?.handshakes.close()
        entrance = nil
        whenEmpty = done
        let until = loop.now.advanced(by: grace)
        for id in connections.keys.sorted() { connections[id]?.stop() }
        // Lifetime: the node is kept until it has stopped, and `empty()` closes it.
        timer = loop.timer { [unowned self] in abortAll() }
        timer?.arm(at: connections.isEmpty ? loop.now : until)
    }

    private func abortAll() {
        for id in connections.keys.sorted() { connections[id]?.abort() }
        if connections.isEmpty { empty() }
    }

    private func empty() {
        timer?.close()
        timer = nil
        dialer.close()
        let done = whenEmpty
        whenEmpty = nil
        done?()
    }

    /// A client that has connected, or whose words for this upstream are a stream of their own.
    func accept(_ stream: any ByteStream, _ seat: Seat?) -> any StreamHandler {
        let connection = RelayConnection(self, numbers.next())
        connection.seat = seat
        connections[connection.id] = connection
        if let tap {
            tap.record(
                .open, connection.id, at: loop.now,
                OpenRecord.encode(
                    TapeEvent.Open(
                        from: stream.peer?.description, to: entrance?.listener.address.description,
                        upstream: dialer.upstream.name, tls: (stream as? TLSStream)?.told)
                ).span)
        }
        let side = connection.accept(stream)
        if let faults { faults.accepted(connection, stream, at: entrance?.listener.address) }
        return side
    }

    /// The connection of that number, if it is this node's.
    func connection(_ id: UInt32) -> RelayConnection? { connections[id] }

    var connectionNumbers: [UInt32] { connections.keys.sorted() }

    func remove(_ connection: RelayConnection) {
        connections[connection.id] = nil
        connection.seat?.leave()
        faults?.faults.gone(connection.id)
        if connections.isEmpty, whenEmpty != nil { timer?.arm(at: loop.now) }
    }

    var limits: ClientLimits { admission?.limits ?? ClientLimits() }

    /// A client kept us waiting for what it had begun. People are told as of an upstream that does not answer.
    func timedOut(_ phase: Seat.Phase) { ledger.refused("\(limits.reason(phase)) (408)") }

    /// A client speaks what is no HTTP/1.1. People are told as of an upstream that does not answer.
    func misunderstood(_ fault: HTTPFault) {
        if let words = fault.otherProtocol { ledger.refused(words) }
    }

    // MARK: Whether the upstream answers

    /// The upstream has answered a request.
    @inline(__always)
    func answered() {
        guard !hasAnswered else { return }
        hasAnswered = true
        ledger.answered()
    }

    /// Servers send their clients from one to the other without end. People are told as of an upstream that does not answer.
    func leads(inCircles how: String) { ledger.refused(how) }

    /// The upstream did not answer a request.
    func failed(_ why: String) { ledger.failed(why) }

    /// The upstream ended a connection while a request awaited its answer.
    func endedUnanswered(_ how: String) { ledger.failed("\(dialer.upstream.url) \(how) without an answer") }
}
