import WiretapeBytes
import WiretapeRuntime

/// A loop as behind a firewall that redirects: what is accepted was to go to `destination`, and where streams come from is known.
final class RedirectingLoop: Loop {
    private let loop: any Loop
    /// Nil: nothing is redirected.
    var destination: Address?
    /// What a stream that this loop opens has as its own end, and what the next accepted one has as its peer.
    var local: Address?

    init(_ loop: any Loop) { self.loop = loop }

    var now: WireInstant { loop.now }
    var readLimit: Int {
        get { loop.readLimit }
        set { loop.readLimit = newValue }
    }
    func timer(_ fire: @escaping () -> Void) -> any LoopTimer { loop.timer(fire) }
    func resolve(_ host: String, port: UInt16, _ done: @escaping (Result<[Address], NetError>) -> Void) {
        loop.resolve(host, port: port, done)
    }

    func connect(to address: Address, _ handler: any StreamHandler) -> any ByteStream {
        Redirected(loop.connect(to: address, handler), peer: nil, local: local, destination: nil)
    }

    func listen(
        on address: Address, reusePort: Bool, _ accept: @escaping (any ByteStream) -> any StreamHandler
    ) throws(NetError) -> any Listener {
        try loop.listen(on: address, reusePort: reusePort) { [self] stream in
            accept(Redirected(stream, peer: local, local: address, destination: destination))
        }
    }

    private final class Redirected: ByteStream {
        private let inner: any ByteStream
        private let from: Address?
        let local: Address?
        let originalDestination: Address?

        init(_ inner: any ByteStream, peer: Address?, local: Address?, destination: Address?) {
            self.inner = inner
            from = peer
            self.local = local
            originalDestination = destination
        }

        var isReading: Bool {
            get { inner.isReading }
            set { inner.isReading = newValue }
        }
        var queued: Int { inner.queued }
        var unacknowledged: Int { inner.unacknowledged }
        var peerHasEnded: Bool { inner.peerHasEnded }
        var peer: Address? { from ?? inner.peer }
        func write(_ bytes: Span<UInt8>) { inner.write(bytes) }
        func halfClose() { inner.halfClose() }
        func hand(to handler: any StreamHandler) { inner.hand(to: handler) }
        func reset() { inner.reset() }
    }
}
