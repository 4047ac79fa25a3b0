package import WiretapeBytes
package import WiretapeRuntime
package import WiretapeWire

/// A loop whose connections go through a proxy: each asks it for a way to one host first, and its owner hears of nothing before that
/// is open.
package final class ViaLoop: Loop {
    private let loop: any Loop
    private let via: ViaProxy
    private let target: ForwardTarget

    package init(_ loop: any Loop, _ via: ViaProxy, to target: ForwardTarget) {
        self.loop = loop
        self.via = via
        self.target = target
    }

    package var now: WireInstant { loop.now }
    package var readLimit: Int {
        get { loop.readLimit }
        set { loop.readLimit = newValue }
    }
    package func timer(_ fire: @escaping () -> Void) -> any LoopTimer { loop.timer(fire) }
    package func listen(
        on address: Address, reusePort: Bool, _ accept: @escaping (any ByteStream) -> any StreamHandler
    ) throws(NetError) -> any Listener {
        try loop.listen(on: address, reusePort: reusePort, accept)
    }
    package func resolve(_ host: String, port: UInt16, _ done: @escaping (Result<[Address], NetError>) -> Void) {
        loop.resolve(host, port: port, done)
    }

    /// - Parameter address: the proxy's.
    package func connect(to address: Address, _ handler: any StreamHandler) -> any ByteStream {
        let way = Way(ViaHandshake(via, to: target), "\(via)", handler)
        let stream = loop.connect(to: address, way)
        way.stream = stream
        return stream
    }

    /// A connection to the proxy, until the way is open.
    private final class Way: StreamHandler {
        var stream: (any ByteStream)?
        private var handshake: ViaHandshake
        private let proxy: String
        /// Nil once it has the stream, or was told that it gets none.
        private var handler: (any StreamHandler)?

        init(_ handshake: ViaHandshake, _ proxy: String, _ handler: any StreamHandler) {
            self.handshake = handshake
            self.proxy = proxy
            self.handler = handler
        }

        func connected() {
            let greeting = handshake.greeting
            stream?.write(greeting.span)
            stream?.isReading = true
        }

        func received(_ bytes: Span<UInt8>) {
            guard handler != nil else { return }
            switch handshake.feed(bytes) {
            case .more: break
            case .send(let more):
                stream?.write(more.span)
                // What it says next may be here already.
                received(Span())
            case .open(let rest): open(rest)
            case .refused(let why): fail(why)
            }
        }

        private func open(_ rest: [UInt8]) {
            guard let stream, let handler else { return }
            self.handler = nil
            self.stream = nil
            stream.isReading = false
            stream.hand(to: handler)
            handler.connected()
            if !rest.isEmpty { handler.received(rest.span) }
        }

        private func fail(_ why: String) {
            let handler = handler
            self.handler = nil
            stream?.reset()
            stream = nil
            handler?.ended(.failed(why))
        }

        func receivedEnd() { fail("the proxy \(proxy) closes the connection") }
        func drained() {}

        func ended(_ how: StreamEnd) {
            let handler = handler
            self.handler = nil
            stream = nil
            switch how {
            case .failed(let why): handler?.ended(.failed("the proxy \(proxy): \(why)"))
            case .reset: handler?.ended(.failed("the proxy \(proxy) resets the connection"))
            case .closed, .aborted: handler?.ended(how)
            }
        }
    }
}
