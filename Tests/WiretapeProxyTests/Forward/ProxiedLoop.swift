import WiretapeBytes
import WiretapeRuntime

/// A loop whose connections ask a proxy for a way first, as a client's library does. Their owner hears of nothing before it is open.
final class ProxiedLoop: Loop {
    private let loop: any Loop
    private let asks: [(bytes: [UInt8], answer: Int)]

    init(_ loop: any Loop, _ asks: [(bytes: [UInt8], answer: Int)]) {
        self.loop = loop
        self.asks = asks
    }

    var now: WireInstant { loop.now }
    var readLimit: Int {
        get { loop.readLimit }
        set { loop.readLimit = newValue }
    }
    func timer(_ fire: @escaping () -> Void) -> any LoopTimer { loop.timer(fire) }
    func listen(
        on address: Address, reusePort: Bool, _ accept: @escaping (any ByteStream) -> any StreamHandler
    ) throws(NetError) -> any Listener {
        try loop.listen(on: address, reusePort: reusePort, accept)
    }
    func resolve(_ host: String, port: UInt16, _ done: @escaping (Result<[Address], NetError>) -> Void) {
        loop.resolve(host, port: port, done)
    }

    func connect(to address: Address, _ handler: any StreamHandler) -> any ByteStream {
        let way = Way(asks, handler)
        let stream = loop.connect(to: address, way)
        way.stream = stream
        return stream
    }

    /// Asks, one after the other, and then hands everything on.
    private final class Way: StreamHandler {
        var stream: (any ByteStream)?
        private var asks: ArraySlice<(bytes: [UInt8], answer: Int)>
        private let handler: any StreamHandler
        private var awaited = 0

        init(_ asks: [(bytes: [UInt8], answer: Int)], _ handler: any StreamHandler) {
            self.asks = asks[...]
            self.handler = handler
        }

        func connected() {
            stream?.isReading = true
            ask()
        }

        private func ask() {
            guard let next = asks.popFirst() else { return handler.connected() }
            awaited = next.answer
            stream?.write(next.bytes.span)
        }

        func received(_ bytes: Span<UInt8>) {
            let taken = min(awaited, bytes.count)
            awaited -= taken
            if taken > 0, awaited == 0 { ask() }
            if taken < bytes.count { handler.received(bytes.extracting(taken..<bytes.count)) }
        }

        func receivedEnd() { handler.receivedEnd() }
        func drained() { handler.drained() }
        func ended(_ how: StreamEnd) { handler.ended(how) }
    }
}
