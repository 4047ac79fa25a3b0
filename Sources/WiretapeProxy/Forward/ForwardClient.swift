internal import WiretapeBytes
internal import WiretapeRuntime
internal import WiretapeWire

/// A client of a forward proxy: from its first byte to the moment at which somebody else serves what it says, and after that
/// the handler of its stream, which hands on what comes.
final class ForwardClient: StreamHandler, SeatedClient {
    private enum Stage {
        /// Nothing has come.
        case opening
        case socks(SOCKS5Server)
        /// A request to the proxy is awaited: `CONNECT`, or one in absolute form.
        case request
        /// The way to the host is open; its first byte says whether TLS follows.
        case choosing(ForwardTarget)
        /// One stream is served for good.
        case served(ForwardStream)
        /// Requests in absolute form, each perhaps to another host.
        case requests(ForwardRequests)
        case tunnel(ForwardTunnel)
        /// It had our last word.
        case over
    }

    private static let discardLimit = 64 << 10

    let outer: any ByteStream
    private let door: ForwardDoor
    /// Of a client that nobody serves yet, and of one that sends requests in absolute form.
    private var seat: Seat?
    private var stage = Stage.opening
    private var scanner = HTTPScanner(.toServer)
    private var timer: (any LoopTimer)?
    private var discarded = 0
    /// Streams that are not over: the one that is served, and retired ones.
    private var streams: [ForwardStream] = []
    private var hasEnded = false

    init(_ door: ForwardDoor, _ outer: any ByteStream, _ seat: Seat?) {
        self.door = door
        self.outer = outer
        self.seat = seat
    }

    func begin() {
        outer.isReading = true
        seat?.sit(self, .silent, at: door.loop.now)
    }

    /// Nobody is served any more.
    func stop() {
        switch stage {
        case .opening, .socks, .request, .choosing, .tunnel, .over: outer.reset()
        case .requests(let requests): if requests.current == nil { outer.reset() }
        case .served: break
        }
    }

    // MARK: SeatedClient

    var isAwaited: Bool { outer.queued == 0 }

    func timedOut(_ phase: Seat.Phase, at now: WireInstant) {
        switch phase {
        case .head, .body: refuse(408, "the request took too long")
        case .silent, .handshake, .idle, .leaving, .refused, .busy: outer.reset()
        }
    }

    func giveWay(_ phase: Seat.Phase, at now: WireInstant) { outer.reset() }

    // MARK: StreamHandler

    func connected() {}

    func received(_ bytes: Span<UInt8>) {
        switch stage {
        case .opening:
            guard !bytes.isEmpty else { return }
            seat?.move(to: .head, at: door.loop.now)
            stage = SOCKS5Server.begins(with: bytes[0]) ? .socks(SOCKS5Server()) : .request
            received(bytes)
        case .socks(let machine): socks(machine, bytes)
        case .request: request(bytes)
        case .choosing(let target): choose(target, bytes)
        case .served(let stream): stream.deliver(bytes)
        case .requests(let requests): requests.received(bytes)
        case .tunnel(let tunnel): tunnel.clientSent(bytes)
        case .over:
            discarded += bytes.count
            if discarded > Self.discardLimit { outer.reset() }
        }
    }

    func receivedEnd() {
        switch stage {
        case .opening, .socks, .request, .choosing, .over: outer.halfClose()
        case .served(let stream): stream.deliverEnd()
        case .requests(let requests): requests.receivedEnd()
        case .tunnel(let tunnel): tunnel.clientEnded()
        }
    }

    func drained() {
        switch stage {
        case .served(let stream): stream.drained()
        case .requests(let requests): requests.current?.drained()
        case .tunnel(let tunnel): tunnel.clientDrained()
        case .opening, .socks, .request, .choosing, .over: break
        }
    }

    func ended(_ how: StreamEnd) {
        hasEnded = true
        seat?.leave()
        seat = nil
        if case .tunnel(let tunnel) = stage { tunnel.clientGone() }
        for stream in streams where !stream.isRetired { stream.ended(how) }
        leaveIfDone()
    }

    // MARK: The opening

    private func socks(_ machine: SOCKS5Server, _ bytes: Span<UInt8>) {
        var machine = machine
        switch machine.feed(bytes) {
        case .more: stage = .socks(machine)
        case .answer(let answer):
            outer.write(answer.span)
            socks(machine, Span())
        case .refuse(let answer, let reason):
            outer.write(answer.span)
            leave(reason)
        case .connect(let host, let port):
            let target = ForwardTarget(host: host, port: port)
            open(
                target, rest: machine.rest, granted: SOCKS5Server.reply(.succeeded)
            ) { _ in SOCKS5Server.reply(.generalFailure) }
        }
    }

    private func request(_ bytes: Span<UInt8>) {
        switch scanner.scan(bytes, from: 0) {
        case .more: return
        case .bad(let fault, _):
            let isTLS = scanner.partialHead.first == 22 || !bytes.isEmpty && bytes[0] == 22
            refuse(
                fault.status,
                isTLS
                    ? "this is a proxy that is spoken to in plain HTTP; with --tls, or --listen https://…, it speaks TLS"
                    : fault.reason)
        case .request(let head, let info, let next):
            let rest = bytes.extracting(next..<bytes.count)
            if head.method == "CONNECT" { return connect(head, rest) }
            // What is behind the head belongs to its request: both are read again, by whoever reads requests.
            var again = info.raw
            again.append(copying: rest)
            let requests = ForwardRequests(self, door, seat)
            stage = .requests(requests)
            requests.received(again.span)
        case .body, .end, .response: return
        }
    }

    private func connect(_ head: RequestHead, _ rest: Span<UInt8>) {
        guard let target = ForwardTarget(authority: head.target) else {
            return refuse(400, "CONNECT wants HOST:PORT, and this one has '\(Summary.line(head.target))'")
        }
        var bytes: [UInt8] = []
        bytes.append(copying: rest)
        let granted = Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)
        open(target, rest: bytes, granted: granted) { failure in
            switch failure {
            case .unreachable(let why): OwnAnswer.bytes(502, "cannot reach \(target.name(isTLS: true)) (\(why))")
            case .noPlace: OwnAnswer.noPlace
            }
        }
    }

    /// The client may speak to the host: with us, or through us when it is not looked at.
    private func open(
        _ target: ForwardTarget, rest: [UInt8], granted: [UInt8],
        failed: @escaping (ForwardTunnel.Failure) -> [UInt8]
    ) {
        guard door.scope.isTunnelled(target) else {
            outer.write(granted.span)
            stage = .choosing(target)
            seat?.move(to: .silent, at: door.loop.now)
            return received(rest.span)
        }
        let tunnel = ForwardTunnel(door.dialer(of: target), for: outer, seat, door.pressure) { [self] failure in
            guard !hasEnded else { return }
            guard let failure else { return outer.write(granted.span) }
            let words = failed(failure)
            outer.isReading = true
            outer.write(words.span)
            leave("cannot reach \(target.name(isTLS: true)) for it (\(failure.reason))")
        }
        seat?.move(to: .busy, at: door.loop.now)
        stage = .tunnel(tunnel)
        tunnel.clientSent(rest.span)
    }

    private func choose(_ target: ForwardTarget, _ bytes: Span<UInt8>) {
        guard !bytes.isEmpty else { return }
        let stream = makeStream()
        stage = .served(stream)
        let seat = self.seat
        self.seat = nil
        let door = door
        // A TLS record of a handshake begins with 22, and no request does.
        stream.begin(
            bytes[0] == 22
                ? door.inner.accepting(
                    stream, seat, on: door.loop, name: target.host, handshakes: door.handshakes(with: target)
                ) {
                    door.serve($0, $1, target, true)
                }
                : door.serve(stream, seat, target, false))
        stream.deliver(bytes)
    }

    // MARK: Ends

    /// Our last word, in HTTP.
    func refuse(_ status: Int, _ reason: String) { refuse(with: OwnAnswer.bytes(status, reason), reason) }

    func refuse(with words: [UInt8], _ reason: String) {
        outer.write(words.span)
        leave(reason)
    }

    private func leave(_ reason: String) {
        door.say("\(outer.peer.map { "\($0)" } ?? "a client"): \(reason)")
        finish()
    }

    /// Everything was said: the client's end is awaited.
    func finish() {
        if case .requests(let requests) = stage { requests.leave() }
        stage = .over
        outer.halfClose()
        outer.isReading = true
        seat?.move(to: .leaving, at: door.loop.now)
    }

    // MARK: What streams ask for

    func makeStream() -> ForwardStream {
        let stream = ForwardStream(self)
        streams.append(stream)
        return stream
    }

    /// From here on everything is that stream's: the requests have ended in an upgrade, or in what is no HTTP.
    func serve(_ stream: ForwardStream) {
        stage = .served(stream)
        seat?.move(to: .busy, at: door.loop.now)
    }

    func updateReading() {
        switch stage {
        case .served(let stream): outer.isReading = stream.isReading
        case .requests(let requests): outer.isReading = requests.isReading
        case .opening, .socks, .request, .choosing, .tunnel, .over: break
        }
    }

    func write(_ bytes: Span<UInt8>) {
        outer.write(bytes)
        if case .requests(let requests) = stage { requests.answered(bytes) }
    }

    /// Something is to be told, and not from within this call.
    func ring() {
        // Keeps itself alive until it has nothing more to tell.
        let timer = timer ?? door.loop.timer { [self] in rang() }
        self.timer = timer
        timer.arm(at: door.loop.now)
    }

    private func rang() {
        for stream in streams where stream.owes { stream.settle() }
        if case .requests(let requests) = stage { requests.goOn() }
        leaveIfDone()
    }

    func forget(_ stream: ForwardStream) {
        streams.removeAll { $0 === stream }
        leaveIfDone()
    }

    private func leaveIfDone() {
        guard hasEnded, streams.isEmpty else { return }
        timer?.close()
        timer = nil
        door.forget(self)
    }
}
