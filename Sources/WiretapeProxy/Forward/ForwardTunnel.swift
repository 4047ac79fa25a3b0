internal import WiretapeBytes
internal import WiretapeRuntime
internal import WiretapeWire

/// A connection to a host that is not looked at: bytes go across as they come, and are on no tape.
final class ForwardTunnel: StreamHandler {
    /// Why the host was not reached.
    enum Failure {
        case unreachable(String)
        case noPlace

        var reason: String {
            switch self {
            case .unreachable(let why): why
            case .noPlace: "no place for another connection"
            }
        }
    }

    private let dialer: UpstreamDialer
    /// Kept until the tunnel has ended.
    private var client: (any ByteStream)?
    private var server: (any ByteStream)?
    private var dialing: Dialing?
    private var early: [UInt8] = []
    private let pressure: RelayPressure
    /// What is queued for each of them, as it was counted last.
    private var queuedForClient = 0
    private var queuedForServer = 0
    /// Called once with nil when the host is reached.
    private var opened: ((Failure?) -> Void)?

    /// - Parameter seat: of the client.
    init(
        _ dialer: UpstreamDialer, for client: any ByteStream, _ seat: Seat?, _ pressure: RelayPressure,
        opened: @escaping (Failure?) -> Void
    ) {
        self.dialer = dialer
        self.client = client
        self.pressure = pressure
        self.opened = opened
        client.isReading = false
        dialing = dialer.dial(for: seat) { [self] outcome in
            dialing = nil
            switch outcome {
            case .connected(let stream): connected(stream)
            case .failed(let tried): fail(.unreachable(tried.joined(separator: "; ")))
            case .noPlace: fail(.noPlace)
            }
        }
    }

    private func fail(_ failure: Failure) {
        let opened = opened
        close()
        opened?(failure)
    }

    private func close() {
        opened = nil
        dialer.close()
    }

    // MARK: What the client's stream tells

    func clientSent(_ bytes: Span<UInt8>) {
        guard let server else { return early.append(copying: bytes) }
        server.write(bytes)
        if !pressure.mayQueueMore(server.queued, counted: &queuedForServer) { client?.isReading = false }
    }

    func clientEnded() { server?.halfClose() }

    func clientDrained() {
        if pressure.mayQueueMore(client?.queued ?? 0, counted: &queuedForClient) { server?.isReading = true }
    }

    func clientGone() {
        client = nil
        _ = pressure.mayQueueMore(0, counted: &queuedForClient)
        dialing?.cancel()
        dialing = nil
        server?.reset()
        if server == nil { close() }
    }

    private func connected(_ stream: any ByteStream) {
        guard let client else { return stream.reset() }
        server = stream
        stream.hand(to: self)
        let opened = opened
        close()
        opened?(nil)
        let sentAhead = early
        early = []
        if !sentAhead.isEmpty { stream.write(sentAhead.span) }
        stream.isReading = true
        client.isReading = true
    }

    // MARK: StreamHandler, of the server's stream

    func connected() {}

    func received(_ bytes: Span<UInt8>) {
        guard let client else { return }
        client.write(bytes)
        if !pressure.mayQueueMore(client.queued, counted: &queuedForClient) { server?.isReading = false }
    }

    func receivedEnd() { client?.halfClose() }

    func drained() {
        if pressure.mayQueueMore(server?.queued ?? 0, counted: &queuedForServer) { client?.isReading = true }
    }

    func ended(_ how: StreamEnd) {
        server = nil
        _ = pressure.mayQueueMore(0, counted: &queuedForServer)
        switch how {
        case .closed, .aborted: break
        case .reset, .failed: client?.reset()
        }
    }
}
