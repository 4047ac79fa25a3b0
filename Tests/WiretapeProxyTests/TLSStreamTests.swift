import Testing
import WiretapeBytes
import WiretapeNet
import WiretapeProxy
import WiretapeRuntime
import WiretapeSimulation
import WiretapeTLS

/// TLS over the simulated network: a caller and a listener, both through ``TLSStream`` unless told otherwise.
private struct TLSStage {
    static let authority = Result { try TLSIdentity.authority("Wiretape test authority") }
    static let server = Result { try TLSContext(serverIssuing: authority.get()) }
    static let everyone = Result { try TLSContext(client: .everyone) }

    let loop: SimulatedLoop
    let listener: any Listener
    /// Handshakes that the server refused.
    final class Notes {
        var refused: [String] = []
        var accepted: TLSStream?
    }
    let notes = Notes()

    init(
        _ seed: UInt64 = 1, _ conditions: NetworkConditions = .calm,
        _ server: @escaping (TLSStream) -> any StreamHandler
    )
        throws
    {
        let loop = SimulatedLoop(seed: seed, conditions: conditions)
        let context = try Self.server.get()
        let notes = self.notes
        self.loop = loop
        listener = try loop.listen(on: Address(host: "127.0.0.1", port: 0), reusePort: false) { stream in
            TLSStream.accepting(loop, stream, context, refused: { notes.refused.append($0.message) }) {
                notes.accepted = $0
                return server($0)
            }
        }
    }

    /// A listener without TLS.
    init(withoutTLS: Bool, _ server: @escaping (any ByteStream) -> any StreamHandler) throws {
        loop = SimulatedLoop(seed: 1)
        listener = try loop.listen(on: Address(host: "127.0.0.1", port: 0), reusePort: false, server)
    }

    @discardableResult
    func connect(_ handler: any StreamHandler, _ context: TLSContext? = nil, host: String = "server.test") throws
        -> TLSStream
    {
        TLSStream.connect(loop, to: listener.address, serverName: host, try context ?? Self.everyone.get(), handler)
    }

    func finish() {
        loop.run()
        listener.close()
        loop.run()
        #expect(loop.leaks == [])
        #expect(loop.violations == [])
    }
}

struct TLSStreamTests {
    @Test func everythingArrivesWhateverTheSeed() throws {
        for seed in 1...40 as ClosedRange<UInt64> {
            var echo: EchoPeer?
            let stage = try TLSStage(seed, .rough) { stream in
                let peer = EchoPeer(stream)
                echo = peer
                return peer
            }
            var draws = SplitMix64(seed: seed)
            let said = (0..<draws.below(60_000)).map { _ in UInt8(truncatingIfNeeded: draws.next()) }
            let caller = SayingPeer(said)
            caller.stream = try stage.connect(caller)
            stage.finish()
            #expect(caller.heard.count == said.count, "seed \(seed)")
            #expect((caller.heard == said) == true, "seed \(seed)")
            #expect(caller.end == .closed, "seed \(seed)")
            #expect(echo?.end == .closed, "seed \(seed)")
            #expect(caller.callsAfterEnd + (echo?.callsAfterEnd ?? 0) == 0, "seed \(seed)")
        }
    }

    @Test func resetsCutTheStreamAndAreTold() throws {
        var conditions = NetworkConditions.rough
        conditions.resetOneIn = 60
        var cut = 0
        for seed in 1...60 as ClosedRange<UInt64> {
            var echo: EchoPeer?
            let stage = try TLSStage(seed, conditions) { stream in
                let peer = EchoPeer(stream)
                echo = peer
                return peer
            }
            let said = [UInt8](repeating: UInt8(seed), count: 30_000)
            let caller = SayingPeer(said)
            caller.stream = try stage.connect(caller)
            stage.finish()
            #expect(caller.heard.allSatisfy { $0 == UInt8(seed) }, "seed \(seed)")
            #expect(caller.end != nil, "seed \(seed)")
            #expect(caller.callsAfterEnd + (echo?.callsAfterEnd ?? 0) == 0, "seed \(seed)")
            if caller.end != .closed { cut += 1 }
        }
        #expect(cut > 5)
    }

    @Test func aRefusedCertificateIsSaidInWords() throws {
        let stage = try TLSStage { EchoPeer($0) }
        let caller = SayingPeer([1])
        caller.stream = try stage.connect(caller, TLSContext(client: .system))
        stage.finish()
        guard case .failed(let text) = caller.end else {
            Issue.record("\(String(describing: caller.end))")
            return
        }
        #expect(text.hasPrefix("certificate verify failed: "))
        #expect(text.hasSuffix("use --upstream-ca FILE or --insecure-upstream"))
        #expect(caller.calls == 1)
        #expect(stage.notes.refused.count == 1)
    }

    @Test func aServerWithoutTLS() throws {
        let stage = try TLSStage(withoutTLS: true) { stream in
            let peer = ScriptedPeer()
            peer.stream = stream
            stream.isReading = true
            peer.onBytes = { $0.send("HTTP/1.1 400 Bad Request\r\n\r\n") }
            return peer
        }
        let caller = SayingPeer([1])
        caller.stream = try stage.connect(caller)
        stage.finish()
        guard case .failed(let text) = caller.end else {
            Issue.record("\(String(describing: caller.end))")
            return
        }
        #expect(text.contains("does not speak TLS"))
    }

    @Test func aServerThatClosesDuringTheHandshake() throws {
        for resets in [false, true] {
            let stage = try TLSStage(withoutTLS: true) { stream in
                let peer = ScriptedPeer()
                peer.stream = stream
                stream.isReading = true
                peer.onBytes = { if resets { $0.stream?.reset() } else { $0.shut() } }
                return peer
            }
            let caller = SayingPeer([1])
            caller.stream = try stage.connect(caller)
            stage.finish()
            let what = resets ? "reset" : "closed"
            #expect(caller.end == .failed("the connection was \(what) in the middle of the TLS handshake"))
        }
    }

    @Test func nobodyListens() throws {
        let stage = try TLSStage { EchoPeer($0) }
        stage.listener.close()
        let caller = SayingPeer([1])
        caller.stream = try stage.connect(caller)
        stage.finish()
        #expect(caller.end == .failed("connection refused"))
    }

    @Test func theServerEndsFirst() throws {
        let server = ScriptedPeer()
        let stage = try TLSStage { stream in
            server.stream = stream
            stream.isReading = true
            server.send("greeting")
            server.shut()
            return server
        }
        let caller = ScriptedPeer()
        caller.onEnd = {
            $0.send("late")
            $0.stream?.halfClose()
        }
        caller.stream = try stage.connect(caller)
        stage.finish()
        #expect(caller.text == "greeting")
        #expect(server.text == "late")
        #expect(caller.end == .closed)
        #expect(server.end == .closed)
        #expect(stage.notes.accepted?.isTruncated == false)
    }

    @Test func whatIsWrittenBeforeTheHandshakeComesFirst() throws {
        let server = ScriptedPeer()
        let stage = try TLSStage { stream in
            server.stream = stream
            stream.isReading = true
            return server
        }
        let caller = ScriptedPeer()
        caller.onConnect = { $0.send(" second") }
        let stream = try stage.connect(caller)
        caller.stream = stream
        caller.send("first")
        #expect(stream.queued == 5)
        stage.loop.run(until: WireInstant(nanoseconds: 1_000_000_000))
        caller.shut()
        stage.finish()
        #expect(server.text == "first second")
        #expect(caller.end == .closed)
    }

    @Test func anOwnerThatDoesNotReadHearsNothingAndLosesNothing() throws {
        let server = ScriptedPeer()
        let data = [UInt8](repeating: 7, count: 500_000)
        let stage = try TLSStage { stream in
            server.stream = stream
            stream.isReading = true
            server.send(data)
            server.shut()
            return server
        }
        let caller = LazyPeer()
        let stream = try stage.connect(caller)
        caller.stream = stream
        stage.loop.run(until: WireInstant(nanoseconds: 1_000_000_000))
        #expect(caller.isConnected)
        #expect(caller.heard.isEmpty && !caller.sawEnd)
        // A piece at a time, reading switched off within each.
        for _ in 0..<1000 where !caller.sawEnd {
            stream.isReading = true
            stage.loop.run(until: stage.loop.now.advanced(by: 10_000_000))
        }
        #expect(caller.heard.count == data.count)
        #expect(caller.sawEnd)
        stream.halfClose()
        stage.finish()
        #expect(caller.end == .closed)
    }

    @Test func aResetReachesTheOtherSide() throws {
        let server = ScriptedPeer()
        let stage = try TLSStage { stream in
            server.stream = stream
            stream.isReading = true
            server.onBytes = { $0.stream?.reset() }
            return server
        }
        let caller = ScriptedPeer()
        caller.onConnect = { $0.send("x") }
        caller.stream = try stage.connect(caller)
        stage.finish()
        #expect(server.end == .aborted)
        #expect(caller.end == .reset)
    }

    @Test func aResetOfAnOwnerBeforeTheHandshake() throws {
        let stage = try TLSStage { EchoPeer($0) }
        let caller = ScriptedPeer()
        caller.stream = try stage.connect(caller)
        caller.stream?.reset()
        stage.finish()
        #expect(caller.end == .aborted)
    }

    /// A peer that says close_notify and never closes its socket.
    @Test func aPeerThatNeverClosesIsNotWaitedForForever() throws {
        let loop = SimulatedLoop(seed: 3)
        let server = try SilentServer(TLSStage.server.get())
        let listener = try loop.listen(on: Address(host: "127.0.0.1", port: 0), reusePort: false) { stream in
            server.stream = stream
            stream.isReading = true
            return server
        }
        let caller = SayingPeer(Array("bye".utf8))
        caller.stream = TLSStream.connect(
            loop, to: listener.address, serverName: "x.test", try TLSStage.everyone.get(), caller)
        loop.run()
        listener.close()
        #expect(caller.sawEnd)
        #expect(caller.end == .closed)
        #expect(loop.now.nanoseconds > 5_000_000_000)
        #expect(server.end == .reset)
        #expect(loop.leaks == [])
    }

    @Test func overRealSockets() throws {
        ProcessSetup.ignoreSIGPIPE()
        let loop = try UVLoop()
        defer { loop.shutdown() }
        let context = try TLSStage.server.get()
        let listener = try loop.listen(on: Address(host: "127.0.0.1", port: 0), reusePort: false) { stream in
            TLSStream.accepting(loop, stream, context) { EchoPeer($0) }
        }
        let data = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 131 &+ $0 >> 9) }
        let caller = SayingPeer(data)
        caller.whenEnded = { loop.stop() }
        caller.stream = TLSStream.connect(
            loop, to: listener.address, serverName: "127.0.0.1", try TLSStage.everyone.get(), caller)
        loop.run()
        #expect(caller.heard.count == data.count)
        #expect((caller.heard == data) == true)
        #expect(caller.end == .closed)
    }
}

/// Reads only when told from outside, one piece at a time.
private final class LazyPeer: StreamHandler {
    weak var stream: TLSStream?
    var heard: [UInt8] = []
    var isConnected = false
    var sawEnd = false
    var end: StreamEnd?
    private var wasReading: Bool { stream?.isReading == true }

    func connected() { isConnected = true }
    func received(_ bytes: Span<UInt8>) {
        #expect(wasReading)
        stream?.isReading = false
        heard.append(copying: bytes)
    }
    func receivedEnd() { sawEnd = true }
    func drained() {}
    func ended(_ how: StreamEnd) { end = how }
}

/// Speaks TLS by hand: answers the client's close_notify with its own, and never sends a FIN.
private final class SilentServer: StreamHandler {
    private var machine: TLSMachine
    var stream: (any ByteStream)?
    var end: StreamEnd?

    init(_ context: TLSContext) throws { machine = try TLSMachine(accepting: context) }

    func connected() {}
    func received(_ bytes: Span<UInt8>) {
        var plain: [UInt8] = [], reply: [UInt8] = []
        if let progress = try? machine.received(bytes, plain: &plain, reply: &reply), progress != .none,
            progress != .opened
        {
            machine.sendEnd(into: &reply)
        }
        if !reply.isEmpty { stream?.write(reply.span) }
    }
    func receivedEnd() {}
    func drained() {}
    func ended(_ how: StreamEnd) { end = how }
}
