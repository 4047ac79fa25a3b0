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
import WiretapeWire

/// A relay in front of `a.example`, whose answers lead to other hosts, on a simulated network.
final class LeadBackStage {
    final class Sayings: Sendable {
        private let texts = Mutex<[String]>([])
        var all: [String] { texts.withLock { $0 } }
        func note(_ text: String) { texts.withLock { $0.append(text) } }
    }

    typealias Answer = (_ host: String, _ head: RequestHead, _ body: String) -> String

    let loop: SimulatedLoop
    let sayings = Sayings()
    let troubles = Sayings()
    let node: RelayNode
    private let leadBack: LeadBack?
    private let tape: InlineTape
    private let tap: Tap
    private var listeners: [any Listener] = []
    private var origins: [HTTPOrigin] = []
    /// Heads that servers have got, with their hosts.
    private(set) var asked: [(host: String, head: RequestHead)] = []

    /// - Parameters:
    ///   - rules: nil: nothing is led back.
    ///   - isWatched: connections are those that rules may touch.
    init(
        _ rules: LeadBackRules? = .standard, seed: UInt64 = 1, conditions: NetworkConditions = .calm,
        isWatched: Bool = false, options: RelayOptions = RelayOptions(), answer: @escaping Answer
    ) throws {
        loop = SimulatedLoop(seed: seed, conditions: conditions)
        loop.names = ["a.example": ["10.0.0.1"], "b.example": ["10.0.0.2"]]
        tape = InlineTape(
            header: TapeHeader(
                started: "2026-01-01T00:00:00.000000Z", upstreams: [("main", "http://a.example:80")], redaction: "none"),
            origin: loop.now)
        tap = Tap(loop, index: 0, sink: tape)
        let (loop, tap, numbers, sayings, troubles) = (loop, tap, ConnectionNumbers(), sayings, troubles)
        let ledger = UpstreamLedger { troubles.note($0) }
        var control: FaultControl?
        if isWatched {
            let faults = LiveFaults(FaultPlan(rules: []), seed: 1, codecs: Codecs.all, observes: true, at: loop.now)
            control = FaultControl(loop, faults)
        }
        let pressure = RelayPressure(loop)
        let make = { (upstream: Upstream) in
            RelayNode(
                loop, upstream: upstream, tap: tap, numbers: numbers, options: options, pressure: pressure,
                faults: control, ledger: ledger,
                connect: { loop.connect(to: $0, $1) })
        }
        node = make(Upstream(name: "main", url: "http://a.example:80", host: "a.example", port: 80, isTLS: false))
        let book = LeadBackBook(tell: { sayings.note($0) }, warn: { sayings.note($0) })
        leadBack = rules.map { LeadBack($0, book, Codecs.all, make: make) }
        node.leadBack = leadBack
        _ = try node.listen(on: Address(host: "127.0.0.1", port: 8080), reusePort: false)
        for host in ["a.example", "b.example"] {
            let address = Address(host: loop.names[host]?[0] ?? "", port: 80)
            listeners.append(
                try loop.listen(on: address, reusePort: false) { [unowned self] stream in
                    let origin = HTTPOrigin(stream) { [unowned self] _, head, body in
                        asked.append((host, head))
                        return answer(host, head, body)
                    }
                    origins.append(origin)
                    return origin
                })
        }
    }

    /// What a client gets that asks this at that port, on a connection of its own.
    func ask(_ request: String, port: UInt16 = 8080) -> String {
        let peer = ScriptedPeer()
        peer.onConnect = { $0.send(request) }
        peer.stream = loop.connect(to: Address(host: "127.0.0.1", port: port), peer)
        _ = loop.run(until: loop.now.advanced(by: 5_000_000_000))
        if peer.end == nil { peer.shut() }
        _ = loop.run(until: loop.now.advanced(by: 1_000_000_000))
        return peer.text
    }

    /// The lines of the tape but its header.
    func finish() -> [String] {
        var open = 1
        open += leadBack?.stop { open -= 1 } ?? 0
        node.stop { open -= 1 }
        _ = loop.run(until: loop.now.advanced(by: 5_000_000_000))
        #expect(open == 0)
        for listener in listeners { listener.close() }
        tap.close()
        #expect(loop.leaks == [])
        loop.shutdown()
        #expect(loop.violations == [])
        return String(decoding: tape.finish(), as: UTF8.self).split(separator: "\n").dropFirst().map(String.init)
    }

    /// The port in an address of ours: `http://127.0.0.1:4321/x`.
    static func port(in text: String, behind mark: String = "http://127.0.0.1:") -> UInt16? {
        text.firstRange(of: mark).flatMap { UInt16(text[$0.upperBound...].prefix { $0.isNumber }) }
    }
}
