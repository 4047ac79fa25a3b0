import Testing
import WiretapeBytes
import WiretapeProxy
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

/// Which addresses of an upstream are tried, and when.
@Suite struct DialingTests {
    /// A stream that never hears of the other end.
    private final class SilentStream: ByteStream {
        private var handler: (any StreamHandler)?
        private(set) var isReset = false
        private var timer: (any LoopTimer)?

        init(_ loop: any Loop, _ handler: any StreamHandler) {
            self.loop = loop
            self.handler = handler
            timer = loop.timer { [unowned self] in
                timer?.close()
                let handler = self.handler
                self.handler = nil
                handler?.ended(.aborted)
            }
        }

        private let loop: any Loop
        var isReading = false
        var queued: Int { 0 }
        var unacknowledged: Int { 0 }
        var peerHasEnded: Bool { false }
        var peer: Address? { nil }
        func write(_ bytes: Span<UInt8>) {}
        func halfClose() {}
        func hand(to handler: any StreamHandler) { self.handler = handler }
        func reset() {
            guard !isReset else { return }
            isReset = true
            timer?.arm(at: loop.now)
        }
    }

    /// A relay in front of a name with several addresses, of which some never answer, and a server at some of them.
    private final class Stage {
        let loop = SimulatedLoop(seed: 1)
        let node: RelayNode
        private(set) var tried: [(milliseconds: UInt64, host: String)] = []
        private(set) var silent: [SilentStream] = []
        private var listeners: [any Listener] = []
        var start = WireInstant.zero

        init(_ addresses: [String], silent: Set<String>, serving: [String]) throws {
            loop.names = ["a.example": addresses]
            let upstream = Upstream(name: "main", url: "http://a.example:80", host: "a.example", port: 80, isTLS: false)
            let box = Box()
            let loop = loop
            node = RelayNode(
                loop, upstream: upstream, tap: nil, numbers: ConnectionNumbers(), options: RelayOptions(),
                pressure: RelayPressure(loop),
                connect: { address, handler in
                    guard let stage = box.stage else { return loop.connect(to: address, handler) }
                    stage.tried.append((loop.now.since(stage.start) / 1_000_000, address.host))
                    guard silent.contains(address.host) else { return loop.connect(to: address, handler) }
                    let stream = SilentStream(loop, handler)
                    stage.silent.append(stream)
                    return stream
                })
            box.stage = self
            _ = try node.listen(on: Address(host: "127.0.0.1", port: 8080), reusePort: false)
            for host in serving {
                let address = Address(host: host, port: 80)
                listeners.append(
                    try loop.listen(on: address, reusePort: false) { stream in
                        HTTPOrigin(stream) { _, _, _ in HTTPOrigin.ok("from \(host)") }
                    })
            }
        }

        private final class Box { weak var stage: Stage? }

        func ask(leavingAfter milliseconds: UInt64 = 60_000) -> String {
            let peer = ScriptedPeer()
            start = loop.now
            tried = []
            peer.onConnect = { $0.send("GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n") }
            peer.stream = loop.connect(to: Address(host: "127.0.0.1", port: 8080), peer)
            _ = loop.run(until: loop.now.advanced(by: milliseconds * 1_000_000))
            if peer.end == nil { peer.stream?.reset() }
            _ = loop.run(until: loop.now.advanced(by: 1_000_000_000))
            return peer.text
        }

        func finish() {
            var isDone = false
            node.stop { isDone = true }
            _ = loop.run(until: loop.now.advanced(by: 5_000_000_000))
            #expect(isDone && node.count == 0)
            for listener in listeners { listener.close() }
            #expect(loop.leaks == [])
            loop.shutdown()
            #expect(loop.violations == [])
        }
    }

    @Test func theOtherFamilyIsTriedBeforeTheFirstHasAnswered() throws {
        let stage = try Stage(
            ["2001:db8::1", "2001:db8::2", "10.0.0.1", "10.0.0.2"], silent: ["2001:db8::1", "2001:db8::2"],
            serving: ["10.0.0.1"])
        #expect(stage.ask().hasSuffix("from 10.0.0.1"))
        #expect(stage.tried.map(\.host) == ["2001:db8::1", "10.0.0.1"])
        #expect(stage.tried.map(\.milliseconds) == [0, 250])
        #expect(stage.silent.map(\.isReset) == [true])
        // The one that answered is first from now on.
        #expect(stage.ask().hasSuffix("from 10.0.0.1"))
        #expect(stage.tried.map(\.host) == ["10.0.0.1"])
        stage.finish()
    }

    @Test func afterARefusalTheNextIsTriedAtOnce() throws {
        let stage = try Stage(["10.0.0.1", "10.0.0.2", "2001:db8::1"], silent: [], serving: ["10.0.0.2"])
        #expect(stage.ask().hasSuffix("from 10.0.0.2"))
        #expect(stage.tried.map(\.host) == ["10.0.0.1", "2001:db8::1", "10.0.0.2"])
        #expect(stage.tried.allSatisfy { $0.milliseconds < 250 })
        stage.finish()
    }

    @Test func whatCameOfEachAddressIsTold() throws {
        let stage = try Stage(["10.0.0.1", "2001:db8::1", "10.0.0.2"], silent: ["10.0.0.1", "10.0.0.2"], serving: [])
        let answer = stage.ask()
        #expect(answer.hasPrefix("HTTP/1.1 502 "))
        let list =
            "cannot reach http://a.example:80 ([2001:db8::1]:80: connection refused; 10.0.0.1:80: no answer within 10 s; "
            + "10.0.0.2:80: no answer within 10 s)"
        #expect(answer.contains(list), "\(answer)")
        #expect(stage.silent.map(\.isReset) == [true, true])
        stage.finish()
    }

    @Test func whoLeavesIsNotDialledFor() throws {
        let all = (1...40).map { "10.0.0.\($0)" }
        let stage = try Stage(all, silent: Set(all), serving: [])
        #expect(stage.ask(leavingAfter: 300) == "")
        // The client's end is heard a moment later, as it is not read meanwhile; then nobody is tried any more.
        #expect(stage.tried.count < 10 && stage.tried.map(\.host) == Array(all.prefix(stage.tried.count)))
        #expect(stage.silent.count { !$0.isReset } == 0)
        stage.finish()
    }
}
