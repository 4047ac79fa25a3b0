internal import WiretapeBytes
internal import WiretapeCore

/// A client's connection that was given to the upstream: the request that it made, and every byte after that, both ways.
final class ReplayPassage: StreamHandler {
    /// Nanoseconds to wait for each of the upstream's addresses.
    static let connectTimeout: UInt64 = 10_000_000_000

    private unowned let connection: ReplayConnection
    private let dialer: UpstreamDialer
    private let loop: any Loop
    private var stream: (any ByteStream)?
    private var addresses: [Address] = []
    private var failures: [String] = []
    private var timer: (any LoopTimer)?
    private var isConnected = false
    /// The connection has no use for us any more.
    private var isOver = false
    /// What waits for the upstream's connection.
    private var pending: [UInt8]
    private var endsAfterPending = false

    /// - Parameter first: the request as the upstream gets it, and what the client sent behind it.
    init(_ connection: ReplayConnection, _ dialer: UpstreamDialer, _ loop: any Loop, first: [UInt8]) {
        self.connection = connection
        self.dialer = dialer
        self.loop = loop
        pending = first
    }

    /// The request for another host. One that is no upgrade ends its connection, so that the client's next request comes to
    /// the replay again.
    static func request(_ head: RequestHead, _ body: [UInt8], to upstream: Upstream) -> [UInt8] {
        let isUpgrade = head.headers.hasToken("upgrade", in: "Connection")
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
        dialer.find { [self] result in
            guard !isOver else { return }
            switch result {
            case .success(let found):
                addresses = found
                dialNext()
            case .failure(let error):
                failures.append(error.reason)
                giveUp()
            }
        }
    }

    // MARK: The client

    /// Whether more of the client's bytes are wanted.
    var wantsMore: Bool { isOver || isConnected && (stream?.queued ?? 0) <= ReplayConnection.mostQueued }

    func fromClient(_ bytes: Span<UInt8>) {
        guard !isOver else { return }
        guard isConnected, let stream else {
            pending.append(copying: bytes)
            return
        }
        stream.write(bytes)
    }

    func clientEnded() {
        endsAfterPending = true
        if isConnected { stream?.halfClose() }
    }

    /// The client has taken what was queued for it.
    func clientDrained() { stream?.isReading = true }

    /// The client is gone, or the server stops.
    func abandon() {
        isOver = true
        stopTimer()
        stream?.reset()
    }

    // MARK: The upstream

    private func dialNext() {
        guard !addresses.isEmpty else { return giveUp() }
        let address = addresses.removeFirst()
        if timer == nil { timer = loop.timer { [unowned self] in timedOut() } }
        timer?.arm(at: loop.now.advanced(by: Self.connectTimeout))
        stream = dialer.open(address, self)
    }

    private func timedOut() {
        // `ended(.aborted)` follows.
        stream?.reset()
    }

    private func giveUp() {
        dialer.forget()
        stopTimer()
        isOver = true
        let tried = failures.joined(separator: "; ")
        connection.upstreamFailed("cannot reach \(dialer.upstream.url) (\(tried)). Is the server running?")
    }

    private func stopTimer() {
        timer?.close()
        timer = nil
    }

    func connected() {
        stopTimer()
        isConnected = true
        let first = pending  // A span of the property would lock the object.
        pending = []
        stream?.write(first.span)
        if endsAfterPending { stream?.halfClose() }
        stream?.isReading = true
        connection.passageMoved()
    }

    func received(_ bytes: Span<UInt8>) {
        guard !isOver else { return }
        if !connection.fromUpstream(bytes) { stream?.isReading = false }
    }

    func receivedEnd() {
        guard !isOver else { return }
        connection.upstreamEnded()
    }

    func drained() { connection.passageMoved() }

    func ended(_ how: StreamEnd) {
        stream = nil
        guard !isOver else { return }
        guard isConnected else {
            if case .failed(let why) = how {
                failures.append(why)
            } else {
                failures.append("no answer within \(Self.connectTimeout / 1_000_000_000) s")
            }
            return dialNext()
        }
        isOver = true
        if how != .closed { connection.abort() }
    }
}
