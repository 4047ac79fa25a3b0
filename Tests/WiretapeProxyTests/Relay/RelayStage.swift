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
import WiretapeTLS

/// A client, a relay that records, and a server on a simulated network.
final class RelayStage {
    let loop: SimulatedLoop
    let tape: InlineTape
    let tap: Tap
    let node: RelayNode
    let pressure: RelayPressure
    var servers: [ScriptedPeer] = []
    let control: FaultControl?
    private let proxy: Address
    private var serverListener: (any Listener)?

    /// - Parameters:
    ///   - memory: as `--memory`.
    ///   - serve: called with each connection that the server accepts; nil: no server.
    init(
        seed: UInt64 = 1, conditions: NetworkConditions = .calm, options: RelayOptions = .init(),
        tls: (server: TLSContext, client: TLSContext)? = nil, door: TLSDoor? = nil,
        rules: [String] = [], memory: Int = MemoryBudget.standard, serve: ((ScriptedPeer) -> Void)?
    ) throws {
        loop = SimulatedLoop(seed: seed, conditions: conditions)
        tape = InlineTape(
            header: TapeHeader(started: "2026-01-01T00:00:00.000000Z", redaction: "none"), origin: loop.now)
        tap = Tap(loop, index: 0, sink: tape)
        let upstream = Upstream(name: "main", url: "http://127.0.0.1:80", host: "127.0.0.1", port: 80, isTLS: false)
        let loop = loop
        var plan = FaultPlan()
        for rule in rules { plan.append(try FaultRule(parsing: rule, from: RuleSource(file: "--fault"))) }
        control =
            rules.isEmpty
            ? nil
            : FaultControl(loop, LiveFaults(plan, seed: seed, codecs: Codecs.all, observes: true, at: loop.now))
        pressure = RelayPressure(loop, memory: memory)
        node = RelayNode(
            loop, upstream: upstream, tap: tap, numbers: ConnectionNumbers(), options: options, pressure: pressure,
            faults: control,
            connect: { address, handler in
                guard let tls else { return loop.connect(to: address, handler) }
                return TLSStream.connect(loop, to: address, serverName: "localhost", tls.client, handler)
            })
        proxy = try node.listen(on: Address(host: "127.0.0.1", port: 8080), reusePort: false, door: door)
        tap.onHold = { [unowned node] in node.hold() }
        tap.onRelease = { [unowned node] in node.release() }
        if let serve {
            serverListener = try loop.listen(on: Address(host: "127.0.0.1", port: 80), reusePort: false) {
                [unowned self] s in
                guard let tls else { return accept(s, serve) }
                return TLSStream.accepting(loop, s, tls.server) { [unowned self] in accept($0, serve) }
            }
        }
    }

    private func accept(_ stream: any ByteStream, _ serve: (ScriptedPeer) -> Void) -> ScriptedPeer {
        let peer = ScriptedPeer()
        peer.stream = stream
        servers.append(peer)
        serve(peer)
        stream.isReading = true
        return peer
    }

    /// A client that trusts whom `context` trusts.
    func secureClient(_ context: TLSContext, _ onConnect: @escaping (ScriptedPeer) -> Void) -> ScriptedPeer {
        let peer = ScriptedPeer()
        peer.onConnect = onConnect
        peer.stream = TLSStream.connect(loop, to: proxy, serverName: "localhost", context, peer)
        return peer
    }

    func client(_ onConnect: @escaping (ScriptedPeer) -> Void) -> ScriptedPeer {
        let peer = ScriptedPeer()
        peer.onConnect = onConnect
        peer.stream = loop.connect(to: proxy, peer)
        return peer
    }

    /// Runs to the end and gives the tape's lines without the header.
    func finish() -> [String] {
        _ = loop.run(until: loop.now.advanced(by: 60_000_000_000))
        var isDone = false
        node.stop { isDone = true }
        _ = loop.run(until: loop.now.advanced(by: 5_000_000_000))
        #expect(isDone)
        #expect(node.count == 0)
        control?.close()
        tap.close()
        serverListener?.close()
        loop.shutdown()
        #expect(loop.violations == [])
        let lines = String(decoding: tape.finish(), as: UTF8.self).split(separator: "\n").map(String.init)
        return Array(lines.dropFirst())
    }
}

/// The lines without times and without `open`, for comparison.
func plain(_ lines: [String]) -> [String] {
    lines.compactMap { line in
        guard let comma = line.firstIndex(of: ","), !line.contains(#""e":"open""#) else { return nil }
        return "{" + line[line.index(after: comma)...]
    }
}
