import WiretapeBytes
import WiretapeProtocol
import WiretapeProxy
import WiretapeRecorder
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

/// One run of the recording proxy between planned clients and their server, on a network drawn from the seed.
struct RecordSimulation {
    enum Fault: Int {
        case none, peerReset, networkReset, lost
    }

    let fault: Fault
    let plans: [ConnectionPlan]
    let loop: SimulatedLoop
    private(set) var clients: [PlannedPeer] = []
    private(set) var tape: [UInt8] = []
    private(set) var problems: [String] = []
    private var server: PlannedServer?

    private static let upstream = Address(host: "127.0.0.1", port: 5_000)
    private static let proxy = Address(host: "127.0.0.1", port: 8_080)

    init(seed: UInt64) throws {
        var random = SplitMix64(seed: seed &+ 0x5eed)
        fault = Fault(rawValue: max(0, random.below(6) - 2)) ?? .none
        var conditions = random.below(5) == 0 ? NetworkConditions.calm : .rough
        switch fault {
        case .networkReset: conditions.resetOneIn = 20 + random.below(200)
        case .lost: conditions.loseOneIn = 20 + random.below(200)
        case .none, .peerReset: break
        }
        loop = SimulatedLoop(seed: seed, conditions: conditions)
        var options = RelayOptions()
        options.keepHost = random.below(3) == 0
        let seen = options.keepHost ? "proxy.test" : Self.upstream.description
        // So little that it is passed in most runs: nothing is lost, and nobody waits for ever.
        let memory = random.below(3) == 0 ? 4_096 << random.below(6) : MemoryBudget.standard
        let resets = fault == .peerReset
        plans = (0..<1 + random.below(3)).map {
            PlanDrawer.draw($0, seed: seed, hostSent: "proxy.test", hostSeen: seen, resets: resets)
        }
        try run(options, memory)
        check()
    }

    private mutating func run(_ options: RelayOptions, _ memory: Int) throws {
        let server = try PlannedServer(loop, Self.upstream, plans)
        self.server = server
        let inline = InlineTape(header: TapeHeader(started: "2026-01-01T00:00:00.000000Z"), origin: loop.now)
        let tap = Tap(loop, index: 0, sink: inline)
        let loop = loop
        let pressure = RelayPressure(loop, memory: memory)
        let node = RelayNode(
            loop, upstream: Upstream(name: "main", url: "http://up", host: "127.0.0.1", port: 5_000, isTLS: false),
            tap: tap, numbers: ConnectionNumbers(), options: options, pressure: pressure
        ) { address, handler in loop.connect(to: address, handler) }
        tap.onHold = { node.hold() }
        tap.onRelease = { node.release() }
        _ = try node.listen(on: Self.proxy, reusePort: false)
        for plan in plans {
            let client = PlannedPeer(loop, plan.script(.toServer))
            client.connecting(loop.connect(to: Self.proxy, client))
            clients.append(client)
        }
        if !loop.run(limit: 400_000) { problems.append("does not come to rest: \(loop.leaks)") }
        if fault != .lost, node.count != 0 { problems.append("\(node.count) connections left: \(loop.leaks)") }
        // Lost peers are not the proxy's to give up on: whoever waits for them ends himself.
        if fault == .lost {
            for client in clients { client.abort() }
            server.abort()
        }
        var isStopped = false
        node.stop { isStopped = true }
        loop.run(limit: 100_000)
        tap.close()
        server.close()
        loop.run(limit: 100_000)
        if !isStopped { problems.append("stop() does not end") }
        if pressure.queued != 0 { problems.append("\(pressure.queued) bytes are counted as queued for nobody") }
        problems += loop.leaks.map { "open at the end: \($0)" }
        problems += loop.violations + server.confused
        tape = inline.finish()
    }

    // MARK: What must hold

    private mutating func check() {
        for plan in plans { checkBytes(plan) }
        let queued = max(loop.mostQueued(acceptedAt: 8_080), loop.mostQueued(connectedTo: 5_000))
        // The mark at which reading stops, one read, and a head that was held back.
        if queued > 65_536 * 3 { problems.append("\(queued) bytes queued by the proxy") }
        do {
            let (connections, problems) = try TapeContent.read(tape)
            self.problems += problems
            checkTape(connections)
        } catch {
            problems.append("the tape cannot be read: \(error)")
        }
    }

    private mutating func checkBytes(_ plan: ConnectionPlan) {
        let client = clients[plan.number]
        let peer = server?.peers[plan.number]
        check(client.received, plan.arrives(.toClient), "client \(plan.number)")
        check(peer?.received ?? [], plan.arrives(.toServer), "server \(plan.number)")
        if client.callsAfterEnd + (peer?.callsAfterEnd ?? 0) > 0 { problems.append("a call after the end") }
        switch fault {
        case .none:
            if client.end != .closed || peer?.end != .closed {
                problems.append("connection \(plan.number) ended as \(client.end as Any), \(peer?.end as Any)")
            }
        case .peerReset:
            // The reset reaches the other side as one.
            let (by, other) = plan.clientEnd.isReset ? (client, peer) : (peer ?? client, client)
            if by.end != .aborted || other?.end == .closed || other?.end == .aborted {
                problems.append("the reset of \(plan.number) ended as \(by.end as Any), \(other?.end as Any)")
            }
        case .networkReset, .lost:
            if client.end == nil { problems.append("client \(plan.number) has no end") }
        }
    }

    private mutating func check(_ got: [UInt8], _ planned: [UInt8], _ who: String) {
        if fault == .none ? got != planned : !planned.starts(with: got) {
            let same = zip(got, planned).prefix { $0 == $1 }.count
            problems.append("\(who) got \(got.count) of \(planned.count) bytes, different from \(same) on")
        }
    }

    private mutating func checkTape(_ connections: [TapeContent]) {
        for plan in plans {
            let prefix = "/c\(plan.number)/"
            let found = connections.filter { $0.targets.first?.hasPrefix(prefix) == true }
            guard let content = found.first, found.count == 1 else {
                if fault == .none { problems.append("\(found.count) connections on the tape for plan \(plan.number)") }
                if server?.peers[plan.number] != nil { problems.append("plan \(plan.number) is not on the tape") }
                continue
            }
            if content.opens != 1 { problems.append("\(content.opens) opens") }
            if content.gone.isEmpty { problems.append("connection \(plan.number) has no end on the tape") }
            if fault == .none, content.gone.sorted() != ["client fin", "server fin"] {
                problems.append("connection \(plan.number) on the tape ended as \(content.gone)")
            }
            let by = plan.clientEnd.isReset ? "client" : "server"
            if fault == .peerReset, !content.gone.contains("\(by) rst"), !content.gone.contains("\(by) error") {
                problems.append("the reset by the \(by) of \(plan.number) is on the tape as \(content.gone)")
            }
            checkTape(plan, content, .toServer, arrived: server?.peers[plan.number]?.received.count ?? 0)
            checkTape(plan, content, .toClient, arrived: clients[plan.number].received.count)
        }
    }

    private mutating func checkTape(
        _ plan: ConnectionPlan, _ content: TapeContent, _ direction: Direction, arrived: Int
    ) {
        let side = content.side(direction)
        let least = plan.recorded(direction, arrived: arrived)
        for (what, held, planned, least) in [
            ("data", side.data, plan.data(direction), least.data),
            ("control frames", side.control, plan.control(direction), least.control),
        ] {
            let isRight = fault == .none ? held == planned : planned.starts(with: held) && held.count >= least
            guard !isRight else { continue }
            let same = zip(held, planned).prefix { $0 == $1 }.count
            problems.append(
                "the tape holds \(held.count) of \(planned.count) bytes of \(what) \(direction) of \(plan.number), at least "
                    + "\(least) arrived, different from \(same) on: "
                    + "\(String(decoding: held[max(0, same - 40)..<min(held.count, same + 40)], as: UTF8.self)) / "
                    + "\(String(decoding: planned[max(0, same - 40)..<min(planned.count, same + 40)], as: UTF8.self))")
        }
    }
}
