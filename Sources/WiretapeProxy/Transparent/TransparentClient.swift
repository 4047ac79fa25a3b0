internal import WiretapeBytes
internal import WiretapeRuntime
internal import WiretapeWire

/// A client of a transparent proxy, from its first byte to the moment at which somebody else serves it, and after that the
/// handler of its stream, which hands on what comes.
final class TransparentClient: StreamHandler, SeatedClient {
    private enum Stage {
        /// Nothing has come.
        case opening(Address)
        /// The head of a request is awaited, which says for whom it is.
        case request(Address)
        case served(any StreamHandler)
        /// Nobody serves it.
        case refused(TransparentRefusal)
        /// It had our last word.
        case over
    }

    private static let discardLimit = 64 << 10

    private let outer: any ByteStream
    private let door: TransparentDoor
    private var seat: Seat?
    private var stage = Stage.over
    private var scanner = HTTPScanner(.toServer)
    private var held: [UInt8] = []
    private var discarded = 0

    init(_ door: TransparentDoor, _ outer: any ByteStream, _ seat: Seat?) {
        self.door = door
        self.outer = outer
        self.seat = seat
    }

    func begin(_ destination: Result<Address, TransparentRefusal>) {
        outer.isReading = true
        seat?.sit(self, .silent, at: door.loop.now)
        switch destination {
        case .success(let address): stage = .opening(address)
        case .failure(let refusal):
            stage = .refused(refusal)
            door.tell(outer.peer, refusal.words)
            // Whoever has opened it waits for its first words on the other side: there are none.
            if case .loop = refusal { outer.reset() }
        }
    }

    /// Nobody is served any more.
    func stop() {
        if case .served = stage { return }
        outer.reset()
    }

    // MARK: SeatedClient

    var isAwaited: Bool { outer.queued == 0 }

    func timedOut(_ phase: Seat.Phase, at now: WireInstant) {
        switch phase {
        case .head: refuse(408, "the request took too long")
        case .silent, .handshake, .body, .idle, .leaving, .refused, .busy: outer.reset()
        }
    }

    func giveWay(_ phase: Seat.Phase, at now: WireInstant) { outer.reset() }

    // MARK: StreamHandler

    func connected() {}

    func received(_ bytes: Span<UInt8>) {
        guard !bytes.isEmpty else { return }
        switch stage {
        case .opening(let address):
            // A TLS record of a handshake begins with 22, and no request does.
            if bytes[0] == 22 { return serveTLS(address, bytes) }
            seat?.move(to: .head, at: door.loop.now)
            stage = .request(address)
            request(address, bytes)
        case .request(let address): request(address, bytes)
        case .served(let handler): handler.received(bytes)
        case .refused(let refusal):
            if bytes[0] == 22 { return outer.reset() }
            refuse(421, refusal.words)
        case .over:
            discarded += bytes.count
            if discarded > Self.discardLimit { outer.reset() }
        }
    }

    func receivedEnd() {
        switch stage {
        case .opening, .request, .refused, .over: outer.halfClose()
        case .served(let handler): handler.receivedEnd()
        }
    }

    func drained() { if case .served(let handler) = stage { handler.drained() } }

    func ended(_ how: StreamEnd) {
        seat?.leave()
        seat = nil
        door.forget(self)
        if case .served(let handler) = stage { handler.ended(how) }
    }

    // MARK: Who it is for

    private func serveTLS(_ address: Address, _ bytes: Span<UInt8>) {
        let seat = self.seat
        self.seat = nil
        let door = door
        let handler = door.inner.accepting(
            outer, seat, on: door.loop, name: address.host, handshakes: door.handshakes(with: address)
        ) { stream, seat in
            let name = (stream as? TLSStream)?.serverName ?? address.host
            let target = ForwardTarget(host: name, port: address.port)
            return door.serve(stream, seat, .init(target: target, address: address, isTLS: true))
        }
        serve(handler, bytes)
    }

    private func request(_ address: Address, _ bytes: Span<UInt8>) {
        held.append(copying: bytes)
        var name = address.host
        switch scanner.scan(bytes, from: 0) {
        case .more: return
        case .request(let head, _, _):
            if let host = head.headers.first("Host"), let target = ForwardTarget(authority: host, defaultPort: 80) {
                name = target.host
            }
        // What is wrong with it whoever serves it says.
        case .bad, .body, .end, .response: break
        }
        let seat = self.seat
        self.seat = nil
        let target = ForwardTarget(host: name, port: address.port)
        let all = held
        held = []
        serve(door.serve(outer, seat, .init(target: target, address: address, isTLS: false)), all.span)
    }

    private func serve(_ handler: any StreamHandler, _ bytes: Span<UInt8>) {
        stage = .served(handler)
        door.forget(self)
        handler.received(bytes)
    }

    // MARK: Ends

    /// Our last word, in HTTP.
    private func refuse(_ status: Int, _ reason: String) {
        stage = .over
        outer.write(OwnAnswer.bytes(status, reason).span)
        outer.halfClose()
        outer.isReading = true
        seat?.move(to: .leaving, at: door.loop.now)
    }
}
