import Synchronization
import Testing
import WiretapeBytes
import WiretapeCodecs
import WiretapeFaults
import WiretapeIntercept
import WiretapeProtocol
import WiretapeProxy
import WiretapeRecorder
import WiretapeRuntime
import WiretapeSimulation
import WiretapeTLS

/// Lines for people.
final class Said: Sendable {
    private let lines = Mutex<[String]>([])
    func add(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
}

/// A relay with the time-outs that the commands have, without rules or with one that never fires, in front of an origin that
/// answers by target. Time is in seconds.
final class LimitStage {
    enum Mode: CaseIterable { case pass, rules }

    static let limits = ClientLimits(head: 60_000_000_000, body: 60_000_000_000, idle: 75_000_000_000)
    private static let upgrade =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"

    let loop: SimulatedLoop
    let said = Said()
    let node: RelayNode
    private let tape: InlineTape
    private let tap: Tap
    private let admission: Admission
    private let control: FaultControl?
    private let proxy: Address
    private var listener: (any Listener)?
    private(set) var origins: [ScriptedPeer] = []

    /// - Parameters:
    ///   - places: descriptors for clients.
    ///   - perClient: how many of them a client comes with; it lends all but its own.
    init(
        _ mode: Mode, places: Int = .max, perClient: Int = 1, conditions: NetworkConditions = .calm,
        door: TLSDoor? = nil
    ) throws {
        loop = SimulatedLoop(seed: 1, conditions: conditions)
        tape = InlineTape(
            header: TapeHeader(started: "2026-01-01T00:00:00.000000Z", redaction: "none"), origin: loop.now)
        tap = Tap(loop, index: 0, sink: tape)
        let (loop, said) = (loop, said)
        let places = ClientPlaces(places, perClient: perClient, lending: .untilTheyAsk) { said.add($0) }
        admission = Admission(loop, limits: Self.limits, places: places)
        switch mode {
        case .pass: control = nil
        case .rules:
            var plan = FaultPlan()
            plan.append(try FaultRule(parsing: "respond(503) on request[9999]", from: RuleSource(file: "--fault")))
            control = FaultControl(
                loop, LiveFaults(plan, seed: 1, codecs: Codecs.all, observes: false, at: loop.now))
        }
        node = RelayNode(
            loop,
            upstream: Upstream(name: "main", url: "http://127.0.0.1:80", host: "127.0.0.1", port: 80, isTLS: false),
            tap: tap, numbers: ConnectionNumbers(), options: RelayOptions(), pressure: RelayPressure(loop),
            faults: control,
            ledger: UpstreamLedger { said.add($0) }, admission: admission, connect: { loop.connect(to: $0, $1) })
        proxy = try node.listen(on: Address(host: "127.0.0.1", port: 8080), reusePort: false, door: door)
        listener = try loop.listen(on: Address(host: "127.0.0.1", port: 80), reusePort: false) {
            [unowned self] in serve($0)
        }
    }

    private func serve(_ stream: any ByteStream) -> any StreamHandler {
        let origin = ScriptedPeer()
        origin.stream = stream
        origins.append(origin)
        origin.onBytes = { origin in
            guard origin.received.suffix(4) == [13, 10, 13, 10] else { return }
            let words = origin.text.split(separator: "\r\n\r\n").last?.split(separator: " ") ?? []
            guard words.count > 2 else { return }
            switch words[1] {
            case "/ws": origin.send(Self.upgrade)
            case "/events": origin.send(HTTPOrigin.events)
            case "/poll", "/upload": break
            case "/early": origin.send(HTTPOrigin.events + HTTPOrigin.chunk("data: 0\n\n"))
            case "/large": origin.send(HTTPOrigin.ok(String(repeating: "x", count: 8 << 20)))
            default: origin.send(HTTPOrigin.ok("answer to \(words[1])"))
            }
        }
        stream.isReading = true
        return origin
    }

    /// A client that says this as soon as it is connected.
    func client(_ text: String = "") -> ScriptedPeer {
        let peer = ScriptedPeer()
        peer.onConnect = { if !text.isEmpty { $0.send(text) } }
        peer.stream = loop.connect(to: proxy, peer)
        return peer
    }

    /// The same over TLS.
    func secureClient(_ context: TLSContext, _ text: String) -> ScriptedPeer {
        let peer = ScriptedPeer()
        peer.onConnect = { $0.send(text) }
        peer.stream = TLSStream.connect(loop, to: proxy, serverName: "localhost", context, peer)
        return peer
    }

    static func get(_ target: String) -> String { "GET \(target) HTTP/1.1\r\nHost: p\r\n\r\n" }
    static let opening = String(decoding: ReplayStage.opening, as: UTF8.self).replacing("/chat", with: "/ws")

    func run(_ seconds: Double) { _ = loop.run(until: loop.now.advanced(by: UInt64(seconds * 1e9))) }

    /// Ends everything; the tape's lines without times and openings.
    func finish() -> [String] {
        var isDone = false
        node.stop { isDone = true }
        run(20)
        #expect(isDone)
        #expect(node.count == 0)
        control?.close()
        tap.close()
        admission.close()
        listener?.close()
        loop.shutdown()
        #expect(loop.violations == [])
        #expect(loop.leaks == [])
        let lines = String(decoding: tape.finish(), as: UTF8.self).split(separator: "\n").map(String.init)
        return plain(Array(lines.dropFirst()))
    }
}
