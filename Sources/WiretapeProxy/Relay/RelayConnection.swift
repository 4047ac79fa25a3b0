internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeRecorder
internal import WiretapeRuntime
internal import WiretapeWire

/// A client's connection and the one to the server that belongs to it. It is in one of four modes: HTTP exchanges, cut at
/// their boundaries; a tunnel after an upgrade, where bytes go across as they came; refused, where the client's bytes
/// are read and thrown away until it ends; or held, once a request comes that a fault rule may touch
/// (``InterceptedConnection``).
///
/// What cannot be forwarded faithfully is a violation of the client's framing: it is answered here. What the server sends
/// is never judged: when it is no HTTP the connection becomes a tunnel.
final class RelayConnection {
    /// Bytes queued for one side at which the other side is not read any more, however little is queued for others.
    static let pressureLimit = 65536

    let node: RelayNode
    let id: UInt32
    private(set) var client: RelaySide?
    private(set) var server: RelaySide?
    /// Nil where nobody is limited.
    var seat: Seat?
    /// Of the client that leaves.
    var queuedAtLastLook = Int.max
    /// Nil in a tunnel, when refused and when held.
    var http: HTTPExchanges?
    /// Refused or held: what comes is neither HTTP for us nor a tunnel's.
    var isDiverted = false
    var held: InterceptedConnection?
    private var discarded = 0
    var isServerConnected = false
    /// The server is looked for.
    var dialing: Dialing?
    /// Requests are said to a proxy that asks the server for us.
    var isAskedOfProxy = false

    init(_ node: RelayNode, _ id: UInt32) {
        self.node = node
        self.id = id
        http = HTTPExchanges(node.pressure)
    }

    func accept(_ stream: any ByteStream) -> RelaySide {
        let side = RelaySide(self, .toServer)
        side.stream = stream
        client = side
        if node.tap?.isHeld == true { side.block(.recorder) } else { side.startReading() }
        seat?.sit(self, .silent, at: node.loop.now)
        return side
    }

    /// From here on rules may touch what passes.
    func becomeHeld(_ control: FaultControl) -> InterceptedConnection {
        let held = InterceptedConnection(self, control)
        self.held = held
        http = nil
        isDiverted = true
        return held
    }

    func setServer(_ side: RelaySide?) { server = side }

    func other(_ side: RelaySide) -> RelaySide? { side === client ? server : client }

    func hold() {
        client?.block(.recorder)
        server?.block(.recorder)
    }

    func release() {
        client?.unblock(.recorder)
        server?.unblock(.recorder)
    }

    // MARK: Bytes

    @inline(__always)
    func received(_ bytes: Span<UInt8>, from side: RelaySide) {
        let now = node.loop.now
        if http == nil {
            if isDiverted { divert(bytes, from: side, at: now) } else { tunnel(bytes, from: side, at: now) }
        } else if side.direction == .toServer {
            parseRequests(bytes, at: now)
            if let http, !http.weighHead() { refuseHead(http, at: now) }
            settle(at: now)
            seat?.restart(.body, at: now)
        } else {
            parseResponses(bytes, at: now)
            settle(at: now)
        }
    }

    @inline(__always)
    func tunnel(_ bytes: Span<UInt8>, from side: RelaySide, at now: WireInstant) {
        node.tap?.record(.bytes, id, flags: RecordFlags.direction(side.direction), at: now, bytes)
        forward(bytes, from: side)
    }

    /// Writes to the other side and stops reading this one while that has too much.
    @inline(__always)
    func forward(_ bytes: Span<UInt8>, from side: RelaySide) {
        guard let target = other(side), let stream = target.stream else { return }
        stream.write(bytes)
        let queued = stream.queued
        if queued > 0, !target.mayQueueMore(queued) { side.block(.pressure) }
    }

    /// Of a held connection; else the client was refused and goes on talking: enough of it is read that our answer is not
    /// lost to a reset.
    private func divert(_ bytes: Span<UInt8>, from side: RelaySide, at now: WireInstant) {
        if let held {
            held.received(bytes, from: side, at: now)
            if side.direction == .toServer { seat?.restart(.body, at: now) }
            return
        }
        discarded += bytes.count
        if discarded > 1 << 20 { abort() }
    }

    // MARK: Ends

    func receivedEnd(from side: RelaySide) {
        let now = node.loop.now
        if let held {
            if side.direction == .toClient, awaitsAnswer { node.endedUnanswered("closed the connection") }
            return held.receivedEnd(from: side, at: now)
        }
        record(gone: side.direction == .toServer ? .client : .server, .fin, at: now)
        if side.direction == .toServer {
            clientEnded()
        } else {
            if awaitsAnswer { node.endedUnanswered("closed the connection") }
            serverEnded(at: now)
        }
        settle(at: now)
    }

    /// Whether the client waits for an answer of the server that has not begun.
    private var awaitsAnswer: Bool {
        guard let client, !client.hasEnded, !node.isStopping else { return false }
        if let held { return held.awaitsAnswer }
        return http?.exchanges.contains { !$0.isAnswered } ?? false
    }

    private func clientEnded() {
        if let server {
            if isServerConnected {
                server.halfClose()
            } else {
                http?.endsAfterPending = true
            }
        } else {
            client?.halfClose()
        }
    }

    private func serverEnded(at now: WireInstant) {
        if let http, let exchange = http.exchanges.first {
            if http.responses.finish() == .endOfBody {
                node.tap?.record(.bodyEnd, id, flags: RecordFlags.toClient, x: exchange.x, at: now, Span())
                if let server { passLed(of: http, from: server) }
            }
            let partial = (http.led?.raw ?? []) + http.partialResponse
            if !partial.isEmpty, let server { forward(partial.span, from: server) }
        }
        client?.halfClose()
        if http?.exchanges.last?.mayTunnel == true || http?.held.isEmpty == false {
            // It waits for an answer that will not come: its bytes are read so that its end is heard.
            http = nil
            isDiverted = true
            client?.unblock(.upgrade)
            client?.unblock(.pipeline)
        }
    }

    func ended(_ side: RelaySide, _ how: StreamEnd) {
        let now = node.loop.now
        guard side === client || side === server else { return }
        switch how {
        case .closed, .aborted: break
        case .reset: if side === server, awaitsAnswer { node.endedUnanswered("reset the connection") }
        case .failed(let why):
            if side === server, awaitsAnswer { node.endedUnanswered("broke the connection (\(why))") }
        }
        let party: TapeEvent.Party = side === client ? .client : .server
        let rest = other(side)
        if side === client { client = nil } else { server = nil }
        defer { held?.ended(party, how, at: now) }
        switch how {
        case .closed, .aborted: break
        case .reset:
            record(gone: party, .rst, at: now)
            rest?.stream?.reset()
        case .failed(let why):
            record(gone: party, .error, why, at: now)
            rest?.stream?.reset()
        }
        // Still resolving or connecting for nobody.
        if party == .client, !isServerConnected { leaveServer() }
        if client == nil, server == nil { node.remove(self) }
    }

    func record(gone party: TapeEvent.Party, _ how: TapeEvent.How, _ why: String = "", at now: WireInstant) {
        guard let tap = node.tap else { return }
        let text = Array(why.utf8)
        tap.record(.gone, id, flags: GoneFlags.encode(party, how), at: now, text.span)
    }

    /// Ends both sides in order.
    func stop() {
        record(gone: .proxy, .fin, "stopped", at: node.loop.now)
        held?.stopsRelaying()
        client?.halfClose()
        if isServerConnected { server?.halfClose() } else { leaveServer() }
    }

    func abort() {
        client?.stream?.reset()
        leaveServer()
    }
}
