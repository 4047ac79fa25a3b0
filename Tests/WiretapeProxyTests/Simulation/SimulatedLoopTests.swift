import Testing
import WiretapeBytes
import WiretapeRuntime
import WiretapeSimulation

/// A conversation with an echo, over a network drawn from the seed.
private struct EchoRun {
    var caller: SayingPeer
    var echo: EchoPeer?
    var loop: SimulatedLoop
    var said: [UInt8]

    init(
        seed: UInt64, _ conditions: NetworkConditions, bytes: Int? = nil, _ prepare: (SimulatedLoop) -> Void = { _ in }
    )
        throws
    {
        let loop = SimulatedLoop(seed: seed, conditions: conditions)
        prepare(loop)
        var draw = SplitMix64(seed: seed &+ 77)
        said = (0..<(bytes ?? draw.below(20_000))).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        var echo: EchoPeer?
        let listener = try loop.listen(on: Address(host: "127.0.0.1", port: 0), reusePort: false) { stream in
            let peer = EchoPeer(stream)
            echo = peer
            return peer
        }
        caller = SayingPeer(said)
        caller.stream = loop.connect(to: listener.address, caller)
        loop.run()
        listener.close()
        loop.run()
        self.echo = echo
        self.loop = loop
    }
}

@Suite struct SimulatedLoopTests {
    @Test func everythingArrivesInOrderWhateverTheSeed() throws {
        for seed in 1...300 as ClosedRange<UInt64> {
            let run = try EchoRun(seed: seed, .rough)
            #expect(run.caller.heard == run.said, "seed \(seed)")
            #expect(run.caller.end == .closed, "seed \(seed)")
            #expect(run.echo?.end == .closed, "seed \(seed)")
            #expect(run.loop.leaks == [], "seed \(seed)")
            #expect(run.loop.violations == [], "seed \(seed)")
        }
    }

    @Test func resetsCutBothSidesAndNothingIsToldAfterTheEnd() throws {
        var conditions = NetworkConditions.rough
        conditions.resetOneIn = 40
        var cut = 0
        for seed in 1...300 as ClosedRange<UInt64> {
            let run = try EchoRun(seed: seed, conditions)
            #expect(run.caller.heard == Array(run.said.prefix(run.caller.heard.count)), "seed \(seed)")
            #expect(run.caller.end != nil, "seed \(seed)")
            #expect(run.caller.callsAfterEnd == 0 && (run.echo?.callsAfterEnd ?? 0) == 0, "seed \(seed)")
            #expect(run.loop.leaks == [], "seed \(seed)")
            if run.caller.end != .closed { cut += 1 }
        }
        #expect(cut > 100 && cut < 300)
    }

    @Test func theSameSeedIsTheSameRun() throws {
        let runs = try (0..<2).map { _ in try EchoRun(seed: 5, .rough) }
        #expect(runs[0].loop.digest.value == runs[1].loop.digest.value)
        #expect(runs[0].loop.steps == runs[1].loop.steps)
        #expect(runs[0].loop.now == runs[1].loop.now)
        let other = try EchoRun(seed: 6, .rough)
        #expect(other.loop.digest.value != runs[0].loop.digest.value)
    }

    @Test func aResetComesAtTheByteAskedFor() throws {
        for after in [0, 1, 999, 5_000] {
            let run = try EchoRun(seed: 3, .calm, bytes: 5_001) {
                $0.faults = [SimulatedFault(.reset, connection: 0, fromConnector: false, after: after)]
            }
            #expect(run.caller.end == .reset)
            #expect(run.caller.heard.count <= after)
            #expect(run.caller.heard == Array(run.said.prefix(run.caller.heard.count)))
        }
    }

    @Test func aLostPeerIsSilentUntilTheKernelGivesUp() throws {
        let run = try EchoRun(seed: 3, .calm, bytes: 400_000) {
            $0.faults = [SimulatedFault(.lost, connection: 0, fromConnector: true, after: 1_000)]
        }
        #expect(run.caller.end == .failed("connection timed out"))
        #expect(run.loop.now.nanoseconds > 900_000_000_000)
    }

    @Test func refusedWhereNobodyListens() {
        let loop = SimulatedLoop(seed: 1)
        let caller = SayingPeer([1])
        caller.stream = loop.connect(to: Address(host: "::1", port: 9), caller)
        #expect(caller.calls == 0)
        loop.run()
        #expect(caller.end == .failed("connection refused"))
        #expect(caller.calls == 1)
        #expect(loop.leaks == [])
    }

    @Test func namesResolveInOrder() throws {
        let loop = SimulatedLoop(seed: 1)
        var answers: [Result<[Address], NetError>] = []
        loop.resolve("localhost", port: 80) { answers.append($0) }
        loop.resolve("10.0.0.1", port: 81) { answers.append($0) }
        loop.resolve("nowhere.test", port: 82) { answers.append($0) }
        #expect(answers.isEmpty)
        loop.run()
        let found = try answers.compactMap { if case .success = $0 { try $0.get() } else { nil } }.sorted {
            $0[0].port < $1[0].port
        }
        #expect(found.map { $0.map(\.description) } == [["[::1]:80", "127.0.0.1:80"], ["10.0.0.1:81"]])
    }

    @Test func aPortIsTakenOnceUnlessShared() throws {
        let loop = SimulatedLoop(seed: 1)
        let address = Address(host: "127.0.0.1", port: 80)
        let first = try loop.listen(on: address, reusePort: false) { EchoPeer($0) }
        #expect(throws: NetError.self) { _ = try loop.listen(on: address, reusePort: true) { EchoPeer($0) } }
        first.close()
        _ = try loop.listen(on: address, reusePort: true) { EchoPeer($0) }
        _ = try loop.listen(on: address, reusePort: true) { EchoPeer($0) }
        #expect(loop.leaks.count == 2)
    }

    @Test func timersMoveAndNeverMoveTheClockWhenCancelled() {
        let loop = SimulatedLoop(seed: 1)
        var fired: [UInt64] = []
        let a = loop.timer { fired.append(loop.now.nanoseconds) }
        let b = loop.timer { fired.append(0) }
        a.arm(at: WireInstant(nanoseconds: 50))
        a.arm(at: WireInstant(nanoseconds: 20))
        b.arm(at: WireInstant(nanoseconds: 1_000))
        b.cancel()
        loop.run()
        #expect(fired == [20])
        #expect(loop.now.nanoseconds == 20)
        a.close()
        #expect(loop.leaks == ["1 timers"])
        b.close()
        b.close()
        #expect(loop.leaks == [])
        #expect(loop.violations == ["a timer was closed twice"])
        loop.run(until: WireInstant(nanoseconds: 500))
        #expect(loop.now.nanoseconds == 500)
    }

    @Test func whoDoesNotReadStopsTheSender() throws {
        let loop = SimulatedLoop(seed: 9)
        var silent: SayingPeer?
        let listener = try loop.listen(on: Address(host: "127.0.0.1", port: 0), reusePort: false) { stream in
            let peer = SayingPeer([])
            peer.stream = stream
            silent = peer
            return peer
        }
        let bytes = [UInt8](repeating: 7, count: 1_000_000)
        let caller = SayingPeer(bytes)
        caller.stream = loop.connect(to: listener.address, caller)
        loop.run()
        // Two kernels' buffers are full, the rest is the sender's.
        #expect(caller.stream?.queued == 1_000_000 - 2 * 262_144)
        #expect(caller.stream?.unacknowledged == 262_144)
        silent?.stream?.isReading = true
        loop.run()
        #expect(silent?.heard == bytes)
        #expect(silent?.sawEnd == true)
        #expect(caller.stream?.queued == 0)
        #expect(caller.end == nil)
        silent?.stream?.halfClose()
        loop.run()
        #expect(caller.end == .closed && silent?.end == .closed)
    }

    @Test func anAbortIsAResetForTheOther() throws {
        for seed in 1...50 as ClosedRange<UInt64> {
            let loop = SimulatedLoop(seed: seed, conditions: .rough)
            var echo: EchoPeer?
            let listener = try loop.listen(on: Address(host: "127.0.0.1", port: 0), reusePort: false) { stream in
                let peer = EchoPeer(stream)
                echo = peer
                return peer
            }
            let caller = SayingPeer([UInt8](repeating: 1, count: 50_000))
            caller.stream = loop.connect(to: listener.address, caller)
            while caller.heard.count < 10, !loop.run(limit: 1) {}
            caller.stream?.reset()
            #expect(caller.end == nil)
            loop.run()
            #expect(caller.end == .aborted, "seed \(seed)")
            #expect(echo?.end != nil && echo?.end != .closed, "seed \(seed)")
            listener.close()
            #expect(loop.leaks == [])
        }
    }
}
