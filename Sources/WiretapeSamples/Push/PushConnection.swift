internal import WiretapeRuntime
internal import WiretapeWire

/// One client of ``PushServer``.
final class PushConnection: StreamHandler {
    /// Frames are made until so many bytes wait for the kernel.
    private static let mostQueued = 256 << 10

    private let server: PushServer
    private let stream: any ByteStream
    private var endpoint = ServerEndpoint()
    private var left = 0

    init(_ server: PushServer, _ stream: any ByteStream) {
        self.server = server
        self.stream = stream
        stream.isReading = true
    }

    func connected() {}

    func received(_ bytes: Span<UInt8>) {
        endpoint.received(bytes)
        read()
        write()
        push()
    }

    func receivedEnd() {
        endpoint.receivedEnd()
        read()
        write()
    }

    func drained() { push() }

    func ended(_: StreamEnd) { left = 0 }

    private func read() {
        while let event = endpoint.next() {
            switch event {
            case .request(_, _, isUpgrade: true): endpoint.writer.upgrade([], date: nil)
            case .request: endpoint.writer.answer(HTTPAnswer(status: 426), thenClose: true, date: nil)
            case .message: left = server.count
            case .finish:
                write()
                stream.halfClose()
            case .ended(.closeFrame(let code, let reason)): endpoint.writer.close(code: code, reason: reason)
            case .refused, .ping, .pong, .ended: break
            }
        }
    }

    /// One write call a frame, as a server does that sends a message when it has one.
    private func push() {
        let payload = server.payload
        while left > 0, stream.queued < Self.mostQueued {
            endpoint.writer.send(.text, payload.span)
            left -= 1
            write()
        }
    }

    private func write() {
        guard endpoint.writer.outputCount > 0 else { return }
        let bytes = endpoint.writer.takeOutput()
        stream.write(bytes.span)
    }
}
