internal import WiretapeBytes
internal import WiretapeRuntime
internal import WiretapeWire

/// A connection to a host that is not looked at: bytes go across as they come, and are on no tape.
final class ForwardTunnel: StreamHandler {
    private static let pressureLimit = 65536

    private let loop: any Loop
    private let timeout: UInt64
    private let target: ForwardTarget
    /// Kept until the tunnel has ended.
    private var client: (any ByteStream)?
    private var server: (any ByteStream)?
    private var addresses: ArraySlice<Address> = []
    private var isConnected = false
    /// Streams that took too long to connect, whose end is still to come.
    private var abandoned = 0
    private var early: [UInt8] = []
    private var timer: (any LoopTimer)?
    /// Called once with nil when the host is reached, else with the reason.
    private var opened: ((String?) -> Void)?

    init(
        _ loop: any Loop, to target: ForwardTarget, for client: any ByteStream, timeout: UInt64,
        opened: @escaping (String?) -> Void
    ) {
        self.loop = loop
        self.target = target
        self.client = client
        self.timeout = timeout
        self.opened = opened
        timer = loop.timer { [self] in timedOut() }
        client.isReading = false
        loop.resolve(target.host, port: target.port) { [self] result in
            switch result {
            case .success(let found):
                addresses = found[...]
                dial("it has no address")
            case .failure(let error): fail(error.reason)
            }
        }
    }

    private func dial(_ why: String) {
        guard client != nil else { return close() }
        guard let address = addresses.popFirst() else { return fail(why) }
        server = loop.connect(to: address, self)
        timer?.arm(at: loop.now.advanced(by: timeout))
    }

    private func timedOut() {
        guard !isConnected, let server else { return }
        self.server = nil
        abandoned += 1
        server.reset()
        dial("no answer within \(DurationText.spoken(timeout))")
    }

    private func fail(_ why: String) {
        let opened = opened
        close()
        opened?(why)
    }

    private func close() {
        opened = nil
        timer?.close()
        timer = nil
    }

    // MARK: What the client's stream tells

    func clientSent(_ bytes: Span<UInt8>) {
        guard isConnected, let server else { return early.append(copying: bytes) }
        server.write(bytes)
        if server.queued > Self.pressureLimit { client?.isReading = false }
    }

    func clientEnded() { if isConnected { server?.halfClose() } }

    func clientDrained() { server?.isReading = true }

    func clientGone() {
        client = nil
        server?.reset()
        if !isConnected { close() }
    }

    // MARK: StreamHandler, of the server's stream

    func connected() {
        guard let server, let client else { return }
        isConnected = true
        let opened = opened
        close()
        opened?(nil)
        let sentAhead = early
        early = []
        if !sentAhead.isEmpty { server.write(sentAhead.span) }
        server.isReading = true
        client.isReading = true
    }

    func received(_ bytes: Span<UInt8>) {
        guard let client else { return }
        client.write(bytes)
        if client.queued > Self.pressureLimit { server?.isReading = false }
    }

    func receivedEnd() { client?.halfClose() }

    func drained() { client?.isReading = true }

    func ended(_ how: StreamEnd) {
        if how == .aborted, abandoned > 0 {
            abandoned -= 1
            return
        }
        server = nil
        guard isConnected else {
            switch how {
            case .failed(let why): return dial(why)
            case .reset: return dial("connection reset")
            case .closed, .aborted: return
            }
        }
        switch how {
        case .closed, .aborted: break
        case .reset, .failed: client?.reset()
        }
    }
}
