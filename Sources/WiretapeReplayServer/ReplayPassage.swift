internal import WiretapeBytes
internal import WiretapeProxy
internal import WiretapeRuntime
internal import WiretapeWire

/// A client's connection that was given to the upstream, for one request. The answer is read as strictly as the request was,
/// and the connection ends with it: what the client sent behind the request is for another connection. It is in one of four
/// modes: an answer is awaited, and the client's bytes are thrown away, or kept when an upgrade was asked for; a tunnel,
/// once the upstream has granted that; raw, when the upstream speaks no HTTP, until its end; over.
final class ReplayPassage: StreamHandler {
    // Lifetime: the connection keeps its passage, and abandons it when its own stream has ended.
    private unowned let connection: ReplayConnection
    private let dialer: UpstreamDialer
    private var stream: (any ByteStream)?
    private var dialing: Dialing?
    private var isConnected = false
    private enum Mode { case answer, tunnel, raw, over }
    private var mode = Mode.answer
    /// The connection has no use for us any more.
    private var isOver: Bool { mode == .over }
    private var scanner = HTTPScanner(.toClient)
    /// Bytes of the answer's head that is not complete.
    private var partialHead: [UInt8] = []
    private var isInBody = false
    private let asksForUpgrade: Bool
    /// The request as the upstream gets it, until that is connected.
    private var request: [UInt8]
    /// What the client sent behind a request for an upgrade: the tunnel's, if one is granted, and nobody's otherwise.
    private var early: [UInt8]
    private var discarded = 0
    private var clientHasEnded = false

    /// Bytes that a client may say in vain while its answer comes.
    private static let discardLimit = 1 << 20

    /// - Parameter early: what the client sent behind the request.
    init(
        _ connection: ReplayConnection, _ dialer: UpstreamDialer, _ head: RequestHead, _ body: [UInt8], early: [UInt8]
    ) {
        self.connection = connection
        self.dialer = dialer
        asksForUpgrade = Self.isUpgrade(head)
        let request = Self.request(head, body, to: dialer.upstream)
        self.request =
            dialer.isAsked(isTunnel: asksForUpgrade)
            ? HTTPHeadWriter.absoluteForm(
                request, of: dialer.upstream.authority, authorization: dialer.via?.authorization) : request
        self.early = asksForUpgrade ? early : []
        scanner.expect(method: head.method)
    }

    private static func isUpgrade(_ head: RequestHead) -> Bool {
        head.headers.hasToken("upgrade", in: "Connection") && head.headers.first("Upgrade") != nil
    }

    /// The request for another host. One that is no upgrade ends its connection, so that the client's next request comes to
    /// the replay again.
    static func request(_ head: RequestHead, _ body: [UInt8], to upstream: Upstream) -> [UInt8] {
        let isUpgrade = isUpgrade(head)
        var fields = head.headers.filter { field in
            !["host", "transfer-encoding", "content-length", "expect", "keep-alive", "proxy-connection"].contains {
                equalIgnoringCase($0, field.name)
            } && (isUpgrade || !equalIgnoringCase(field.name, "connection"))
        }
        fields.insert(HeaderField("Host", upstream.authority), at: 0)
        if !body.isEmpty || head.headers.first("Content-Length") != nil {
            fields.append(HeaderField("Content-Length", "\(body.count)"))
        }
        if !isUpgrade { fields.append(HeaderField("Connection", "close")) }
        var out: [UInt8] = []
        HTTPHeadWriter.append(RequestHead(method: head.method, target: head.target, headers: fields), into: &out)
        return out + body
    }

    func begin() {
        dialing = dialer.dial(isTunnel: asksForUpgrade, for: connection.seat) { [self] outcome in
            dialing = nil
            switch outcome {
            case .connected(let stream): connected(stream)
            case .failed(let tried): giveUp(tried)
            case .noPlace:
                mode = .over
                connection.upstreamFailed(OwnAnswer.noPlace, 503)
            }
        }
    }

    // MARK: The client

    /// Whether more of the client's bytes are wanted.
    var wantsMore: Bool {
        switch mode {
        case .answer: early.count <= ReplayConnection.mostQueued
        case .tunnel: (stream?.queued ?? 0) <= ReplayConnection.mostQueued
        case .raw, .over: true
        }
    }

    func fromClient(_ bytes: Span<UInt8>) {
        switch mode {
        case .answer where asksForUpgrade: early.append(copying: bytes)
        case .tunnel: stream?.write(bytes)
        case .answer, .raw:
            discarded += bytes.count
            if discarded > Self.discardLimit { connection.abort() }
        case .over: break
        }
    }

    func clientEnded() {
        clientHasEnded = true
        // A tunnel that is still to come gets what was sent ahead, and the end behind it.
        if isConnected, mode != .answer || !asksForUpgrade { stream?.halfClose() }
    }

    /// The client has taken what was queued for it.
    func clientDrained() { stream?.isReading = true }

    /// The client is gone, or the server stops.
    func abandon() {
        mode = .over
        dialing?.cancel()
        dialing = nil
        stream?.reset()
    }

    // MARK: The upstream

    private func giveUp(_ tried: [String]) {
        mode = .over
        let list = tried.joined(separator: "; ")
        let reason = "cannot reach \(dialer.upstream.url) (\(list)). Is the server running?"
        connection.upstreamFailed(OwnAnswer.bytes(502, reason), 502)
    }

    private func connected(_ stream: any ByteStream) {
        self.stream = stream
        stream.hand(to: self)
        isConnected = true
        let first = request  // A span of the property would lock the object.
        request = []
        stream.write(first.span)
        if clientHasEnded, !asksForUpgrade { stream.halfClose() }
        stream.isReading = true
        connection.passageMoved()
    }

    func connected() {}

    func received(_ bytes: Span<UInt8>) {
        switch mode {
        case .answer: answer(bytes)
        case .tunnel, .raw: toClient(bytes)
        case .over: break
        }
    }

    private func toClient(_ bytes: Span<UInt8>) {
        if !bytes.isEmpty, !connection.fromUpstream(bytes) { stream?.isReading = false }
    }

    /// Reads the answer, and passes it on as it came but for its `Connection`.
    private func answer(_ bytes: Span<UInt8>) {
        var at = 0
        // Bytes of a body from here on have been looked at and not been passed on.
        var start = 0
        while mode == .answer {
            switch scanner.scan(bytes, from: at) {
            case .more:
                if isInBody {
                    toClient(bytes.extracting(start..<bytes.count))
                } else {
                    partialHead.append(copying: bytes.extracting(at..<bytes.count))
                }
                return
            case .response(let head, let info, let next):
                partialHead = []
                if head.status == 101 {
                    guard asksForUpgrade else { return becomeRaw(info.raw, bytes.extracting(next..<bytes.count)) }
                    return becomeTunnel(info.raw, bytes.extracting(next..<bytes.count))
                }
                let raw = info.isInterim ? info.raw : HTTPHeadWriter.setting("Connection", to: "close", in: info.raw)
                toClient(raw.span)
                isInBody = !info.isInterim
                (start, at) = (next, next)
            case .body(_, let next): at = next
            case .end(_, let next):
                at = next
                guard isInBody else { continue }
                toClient(bytes.extracting(start..<next))
                return finish()
            case .bad: return becomeRaw(partialHead, bytes.extracting((isInBody ? start : at)..<bytes.count))
            case .request: return
            }
        }
    }

    /// The answer is whole, and the connection ends with it.
    private func finish() {
        mode = .over
        stream?.reset()
        connection.upstreamEnded()
    }

    private func becomeTunnel(_ head: [UInt8], _ rest: Span<UInt8>) {
        mode = .tunnel
        toClient(head.span)
        toClient(rest)
        let first = early
        early = []
        if !first.isEmpty { stream?.write(first.span) }
        if clientHasEnded { stream?.halfClose() }
        connection.passageMoved()
    }

    /// What the upstream says is no HTTP: the client gets it as it is, and the upstream nothing more.
    private func becomeRaw(_ early: [UInt8], _ rest: Span<UInt8>) {
        mode = .raw
        self.early = []
        toClient(early.span)
        toClient(rest)
        connection.passageMoved()
    }

    func receivedEnd() {
        guard !isOver else { return }
        if mode == .answer, !partialHead.isEmpty {
            let cut = partialHead
            toClient(cut.span)
        }
        connection.upstreamEnded()
    }

    func drained() { connection.passageMoved() }

    func ended(_ how: StreamEnd) {
        stream = nil
        guard !isOver else { return }
        mode = .over
        if how != .closed { connection.abort() }
    }
}
