import Synchronization
import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeProxy
import WiretapeRecorder
import WiretapeRuntime
import WiretapeSimulation
import WiretapeTLS
import WiretapeWire

/// A forward proxy that records, and servers of several hosts, on a simulated network.
final class ForwardStage {
    final class Sayings: Sendable {
        private let texts = Mutex<[String]>([])
        var all: [String] { texts.withLock { $0 } }
        func note(_ text: String) { texts.withLock { $0.append(text) } }
    }

    let loop: SimulatedLoop
    let authority: TLSIdentity
    let sayings = Sayings()
    let pressure: RelayPressure
    private let tape: InlineTape
    private let tap: Tap
    private let door: ForwardDoor
    private let seen: ForwardRelays
    private let unseen: ForwardRelays
    private let proxy: Address
    private var listeners: [any Listener] = []
    private(set) var servers: [ScriptedPeer] = []

    init(
        seed: UInt64 = 1, conditions: NetworkConditions = .calm, only: [String] = [], bypass: [String] = [],
        memory: Int = MemoryBudget.standard
    ) throws {
        loop = SimulatedLoop(seed: seed, conditions: conditions)
        pressure = RelayPressure(loop, memory: memory)
        loop.names = ["a.example": ["10.0.0.1"], "b.example": ["10.0.0.2"], "gone.example": ["10.0.0.9"]]
        tape = InlineTape(
            header: TapeHeader(started: "2026-01-01T00:00:00.000000Z", mode: "forward", redaction: "none"),
            origin: loop.now)
        tap = Tap(loop, index: 0, sink: tape)
        authority = try TLSIdentity.authority("test")
        let (loop, tap, numbers, sayings, pressure) = (loop, tap, ConnectionNumbers(), sayings, pressure)
        let trusting = try TLSContext(client: .everyone)
        var options = RelayOptions()
        options.keepHost = true
        let node = { (upstream: Upstream, isSeen: Bool) in
            RelayNode(
                loop, upstream: upstream, tap: isSeen ? tap : nil, numbers: isSeen ? numbers : ConnectionNumbers(),
                options: options, pressure: pressure
            ) {
                upstream.isTLS
                    ? TLSStream.connect(loop, to: $0, serverName: upstream.host, trusting, $1)
                    : loop.connect(to: $0, $1)
            }
        }
        let seen = ForwardRelays { node($0, true) }
        self.seen = seen
        unseen = ForwardRelays { node($0, false) }
        let inner = TLSDoor(try TLSContext(serverIssuing: authority)) { sayings.note($1.message) }
        door = ForwardDoor(
            loop, scope: .init(only: try HostPatterns(only), bypass: try HostPatterns(bypass)), inner: inner,
            admission: nil, pressure: pressure, unseen: unseen,
            page: { HTTPAnswer(status: 200, headers: [], body: Array("page \($0.path)".utf8)) },
            say: { sayings.note($0) }
        ) { seen.accept($0, $1, $2, isTLS: $3) }
        proxy = try door.listen(on: Address(host: "127.0.0.1", port: 8080), reusePort: false)
    }

    /// A server at `host:port` that answers each request with its path, and `/ws` with an upgrade whose bytes it sends back.
    func serve(_ host: String, _ port: UInt16, tls: Bool = false) throws {
        let context = tls ? try TLSContext(serverIssuing: TLSIdentity.authority("server")) : nil
        let address = Address(host: loop.names[host]?[0] ?? host, port: port)
        let listener = try loop.listen(on: address, reusePort: false) { [unowned self] stream in
            let peer = ScriptedPeer()
            servers.append(peer)
            Self.answer(peer, host)
            guard let context else { return peer.serve(stream) }
            return TLSStream.accepting(loop, stream, context) { peer.serve($0) }
        }
        listeners.append(listener)
    }

    private static func answer(_ peer: ScriptedPeer, _ host: String) {
        var at = 0
        var isUpgraded = false
        peer.onBytes = { peer in
            if isUpgraded {
                peer.send(Array(peer.received[at...]))
                at = peer.received.count
            }
            while !isUpgraded, let end = peer.received[at...].firstRange(of: Array("\r\n\r\n".utf8)) {
                let head = String(decoding: peer.received[at..<end.lowerBound], as: UTF8.self)
                let line = head.split(separator: "\r\n")[0].split(separator: " ")
                at = end.upperBound
                if line[1] == "/ws" {
                    isUpgraded = true
                    peer.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n")
                    peer.send(Array(peer.received[at...]))
                    at = peer.received.count
                } else {
                    let body = "\(host)\(line[1])"
                    peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
                }
            }
        }
    }

    func client(_ onConnect: @escaping (ScriptedPeer) -> Void) -> ScriptedPeer {
        let peer = ScriptedPeer()
        peer.onConnect = onConnect
        peer.stream = loop.connect(to: proxy, peer)
        return peer
    }

    /// A client that asks the proxy for a way to a host, and speaks TLS on it.
    /// - Parameters:
    ///   - asks: what it says, and how many bytes the answer to each has.
    ///   - host: whose certificate it wants to see.
    func secureClient(
        _ asks: [(bytes: [UInt8], answer: Int)], _ host: String, trusting: TLSContext,
        _ onConnect: @escaping (ScriptedPeer) -> Void
    ) -> ScriptedPeer {
        let peer = ScriptedPeer()
        peer.onConnect = onConnect
        peer.stream = TLSStream.connect(
            ProxiedLoop(loop, asks), to: proxy, serverName: host, trusting, peer)
        return peer
    }

    func run(seconds: UInt64 = 60) { _ = loop.run(until: loop.now.advanced(by: seconds * 1_000_000_000)) }

    /// Runs to the end and gives the tape's lines without the header.
    func finish() -> [String] {
        run()
        var open = 2
        door.close()
        seen.stop { open -= 1 }
        unseen.stop { open -= 1 }
        run(seconds: 10)
        #expect(open == 0)
        tap.close()
        for listener in listeners { listener.close() }
        #expect(loop.leaks == [])
        loop.shutdown()
        #expect(loop.violations == [])
        let lines = String(decoding: tape.finish(), as: UTF8.self).split(separator: "\n").map(String.init)
        return Array(lines.dropFirst())
    }

    /// What the tape's connections led to, in order.
    static func hosts(_ lines: [String]) -> [String] {
        lines.compactMap { line in
            guard line.contains(#""e":"open""#), let mark = line.firstRange(of: #""upstream":""#) else { return nil }
            return String(line[mark.upperBound...].prefix { $0 != "\"" })
        }
    }
}
