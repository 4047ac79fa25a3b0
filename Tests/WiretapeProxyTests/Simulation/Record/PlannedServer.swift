import WiretapeBytes
import WiretapeRuntime
import WiretapeWire

/// Accepts the proxy's connections and finds out which plan each belongs to: the first request says `/cN/`.
final class PlannedServer {
    let address: Address
    private let listener: any Listener
    /// The peers by plan, in the order of the plans.
    private(set) var peers: [Int: PlannedPeer] = [:]
    private(set) var confused: [String] = []
    private var streams: [any ByteStream] = []

    init(_ loop: any Loop, _ address: Address, _ plans: [ConnectionPlan]) throws {
        final class Later { weak var server: PlannedServer? }
        let later = Later()
        listener = try loop.listen(on: address, reusePort: false) { stream in
            later.server?.streams.append(stream)
            return Doorman(stream) { number, bytes in
                guard let server = later.server, plans.indices.contains(number), server.peers[number] == nil else {
                    later.server?.confused.append("a connection of no plan: \(String(decoding: bytes, as: UTF8.self))")
                    return nil
                }
                let peer = PlannedPeer(loop, plans[number].script(.toClient))
                server.peers[number] = peer
                return peer
            }
        }
        self.address = listener.address
        later.server = self
    }

    func close() { listener.close() }

    /// Resets whatever is still open.
    func abort() {
        for stream in streams { stream.reset() }
    }
}

/// Reads a request line and hands the stream on.
private final class Doorman: StreamHandler {
    private let stream: any ByteStream
    private let find: (Int, [UInt8]) -> PlannedPeer?
    private var bytes: [UInt8] = []
    private var peer: PlannedPeer?

    init(_ stream: any ByteStream, _ find: @escaping (Int, [UInt8]) -> PlannedPeer?) {
        self.stream = stream
        self.find = find
        stream.isReading = true
    }

    func connected() {}

    func received(_ span: Span<UInt8>) {
        if let peer { return peer.received(span) }
        bytes.append(copying: span)
        guard let end = bytes.firstIndex(of: 0x0a) else { return }
        let words = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "/")
        guard words.count > 1, let number = Int(words[1].dropFirst()), let peer = find(number, bytes) else {
            return stream.reset()
        }
        self.peer = peer
        peer.take(stream, bytes)
    }

    func receivedEnd() { if let peer { peer.receivedEnd() } else { stream.halfClose() } }
    func drained() { peer?.drained() }
    func ended(_ how: StreamEnd) { peer?.ended(how) }
}
