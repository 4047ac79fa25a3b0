import Testing
import WiretapeBytes
import WiretapeCodecs
import WiretapeFaults
import WiretapeIntercept
import WiretapeProtocol
import WiretapeProxy
import WiretapeRecorder
import WiretapeReport
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

/// A relay with rules between WebSocket peers on a simulated network.
final class InterceptStage {
    let loop: SimulatedLoop
    let tape: InlineTape
    let tap: Tap
    let control: FaultControl
    let memory: MemoryBudget
    let node: RelayNode
    let proxy: Address
    var servers: [FramePeer] = []
    var onServer: (FramePeer) -> Void = { _ in }
    private var listener: (any Listener)?
    private let deflate: DeflateParameters?

    init(
        _ rules: [String], seed: UInt64 = 1, conditions: NetworkConditions = .calm, deflate: DeflateParameters? = nil,
        observes: Bool = false, options: RelayOptions = RelayOptions(),
        memory: MemoryBudget = MemoryBudget(), serve: ((any ByteStream) -> any StreamHandler)? = nil
    ) throws {
        self.deflate = deflate
        self.memory = memory
        loop = SimulatedLoop(seed: seed, conditions: conditions)
        tape = InlineTape(
            header: TapeHeader(started: "2026-01-01T00:00:00.000000Z", redaction: "none"), origin: loop.now)
        tap = Tap(loop, index: 0, sink: tape)
        var plan = FaultPlan()
        for rule in rules { plan.append(try FaultRule(parsing: rule, from: RuleSource(file: "--fault"))) }
        let faults = LiveFaults(plan, seed: seed, codecs: Codecs.all, observes: observes, at: loop.now)
        control = FaultControl(loop, faults, memory: memory)
        let loop = loop
        node = RelayNode(
            loop,
            upstream: Upstream(name: "main", url: "http://127.0.0.1:80", host: "127.0.0.1", port: 80, isTLS: false),
            tap: tap, numbers: ConnectionNumbers(), options: options, pressure: RelayPressure(loop), faults: control,
            connect: { loop.connect(to: $0, $1) })
        proxy = try node.listen(on: Address(host: "127.0.0.1", port: 8080), reusePort: false)
        listener = try loop.listen(on: Address(host: "127.0.0.1", port: 80), reusePort: false) {
            [unowned self] stream in
            if let serve { return serve(stream) }
            let peer = FramePeer(loop, .toClient, deflate: deflate)
            peer.stream = stream
            servers.append(peer)
            onServer(peer)
            stream.isReading = true
            return peer
        }
    }

    /// A client that opens a WebSocket as soon as it is connected.
    func client(_ path: String = "/ws", headers: [String] = []) -> FramePeer {
        let peer = FramePeer(loop, .toServer, deflate: deflate)
        peer.onOpen = { $0.open(path, headers: headers) }
        peer.stream = loop.connect(to: proxy, peer)
        return peer
    }

    /// Any other client.
    func connect(_ handler: any StreamHandler) -> any ByteStream { loop.connect(to: proxy, handler) }

    func run(_ milliseconds: UInt64) {
        _ = loop.run(until: loop.now.advanced(by: milliseconds * 1_000_000))
    }

    var report: ReplayReport { control.faults.report(at: loop.now) }

    /// Ends everything; the tape's lines without times.
    func finish() -> [String] {
        var isDone = false
        node.stop { isDone = true }
        run(20_000)
        #expect(isDone)
        #expect(node.count == 0)
        #expect(memory.used == 0)
        control.close()
        tap.close()
        listener?.close()
        loop.shutdown()
        #expect(loop.violations == [])
        #expect(loop.leaks == [])
        let lines = String(decoding: tape.finish(), as: UTF8.self).split(separator: "\n").map(String.init)
        return plain(Array(lines.dropFirst()))
    }
}
