import Testing
import WiretapeBytes
import WiretapeProxy
import WiretapeRuntime
import WiretapeSimulation

/// What a relay has queued for all peers that do not read is bounded, and all of it arrives when they do.
@Suite struct RelayPressureTests {
    private static let limit = 400_000
    private static let peers = 20
    private static let size = 700_000

    /// The limit, the read by which it was passed, and a small one for each connection.
    private static let most = limit + 65_536 + peers * (RelayPressure.smallRead + 256)

    @Test func serversThatDoNotRead() throws {
        let stage = try RelayStage(memory: 4 * Self.limit) { server in
            server.onBytes = { $0.stream?.isReading = false }
        }
        let body = [UInt8](repeating: 65, count: Self.size)
        let head = Array("POST / HTTP/1.1\r\nHost: p\r\nContent-Length: \(Self.size)\r\n\r\n".utf8)
        let clients = (0..<Self.peers).map { _ in stage.client { $0.send(head + body) } }
        bounded(stage.loop, stage.pressure)
        for server in stage.servers {
            server.onBytes = { peer in
                guard peer.received.suffix(body.count).count == body.count, peer.received.last == 65,
                    peer.received.count > body.count + 20, !peer.didAnswer
                else { return }
                peer.didAnswer = true
                peer.send("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
                peer.shut()
            }
            server.stream?.isReading = true
        }
        _ = stage.finish()
        #expect(stage.servers.count == Self.peers)
        for server in stage.servers { #expect(server.received.suffix(Self.size) == body[...]) }
        for client in clients { #expect(client.text.hasPrefix("HTTP/1.1 204")) }
        isOver(stage.loop, stage.pressure)
    }

    @Test func clientsThatDoNotRead() throws {
        let body = [UInt8](repeating: 66, count: Self.size)
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: \(Self.size)\r\n\r\n".utf8)
        let stage = try RelayStage(memory: 4 * Self.limit) { server in
            server.onBytes = { $0.send(head + body) }
        }
        let clients = (0..<Self.peers).map { _ in stage.client { $0.send("GET / HTTP/1.1\r\nHost: p\r\n\r\n") } }
        for client in clients { client.onBytes = { $0.stream?.isReading = false } }
        bounded(stage.loop, stage.pressure)
        for client in clients {
            client.onBytes = { if $0.received.count >= Self.size + head.count { $0.shut() } }
            client.stream?.isReading = true
        }
        _ = stage.finish()
        for client in clients { #expect(client.received.suffix(Self.size) == body[...]) }
        isOver(stage.loop, stage.pressure)
    }

    /// Those behind a proxy that does not look at them, in both directions.
    @Test(arguments: [true, false]) func tunnels(isServerSlow: Bool) throws {
        let stage = try ForwardStage(bypass: ["b.example"], memory: 4 * Self.limit)
        let body = [UInt8](repeating: 67, count: Self.size)
        var servers: [ScriptedPeer] = []
        let listener = try stage.loop.listen(on: Address(host: "10.0.0.2", port: 9), reusePort: false) { stream in
            let peer = ScriptedPeer()
            servers.append(peer)
            peer.onBytes = { peer in
                if isServerSlow {
                    peer.stream?.isReading = false
                } else if !peer.didAnswer {
                    peer.didAnswer = true
                    peer.send(body)
                }
            }
            return peer.serve(stream)
        }
        let answer = "HTTP/1.1 200"
        let clients = (0..<Self.peers).map { _ in
            stage.client { $0.send("CONNECT b.example:9 HTTP/1.1\r\nHost: b.example:9\r\n\r\n") }
        }
        for client in clients {
            client.onBytes = { peer in
                if !peer.didAnswer, peer.text.hasPrefix(answer) {
                    peer.didAnswer = true
                    peer.send(isServerSlow ? body : [1])
                } else if !isServerSlow {
                    peer.stream?.isReading = false
                }
            }
        }
        bounded(stage.loop, stage.pressure)
        for peer in isServerSlow ? servers : clients {
            peer.onBytes = { if $0.received.count >= Self.size { $0.shut() } }
            peer.stream?.isReading = true
        }
        stage.loop.run(until: stage.loop.now.advanced(by: 60_000_000_000))
        #expect(servers.count == Self.peers)
        for peer in isServerSlow ? servers : clients { #expect(peer.received.suffix(Self.size) == body[...]) }
        isOver(stage.loop, stage.pressure)
        listener.close()
        stage.loop.shutdown()
        #expect(stage.loop.violations == [])
    }

    /// Long heads that do not end are refused while there are too many, and those of others are served meanwhile.
    @Test func headsThatDoNotEnd() throws {
        let limit = 100_000
        let stage = try RelayStage(memory: 4 * limit) { server in
            server.onBytes = { if $0.text.hasSuffix("\r\n\r\n") { $0.send("HTTP/1.1 204 No Content\r\n\r\n") } }
        }
        let line = "X: \(String(repeating: "y", count: 4_000))\r\n"
        let slow = (0..<Self.peers).map { _ in
            stage.client { $0.send("GET / HTTP/1.1\r\nHost: p\r\n" + String(repeating: line, count: 5)) }
        }
        var peak = 0
        stage.loop.run(until: stage.loop.now.advanced(by: 1_000_000_000)) {
            peak = max(peak, stage.pressure.heads)
            return true
        }
        #expect(peak > limit / 4, "nothing was tried")
        #expect(peak <= limit / 2 + Self.peers * RelayPressure.longHead)
        let refused = slow.filter { $0.text.hasPrefix("HTTP/1.1 503") && $0.text.contains("--memory") }
        #expect(refused.count >= Self.peers - limit / 2 / 20_000 - 1)
        #expect(refused.count < Self.peers)

        let short = stage.client { $0.send("GET /short HTTP/1.1\r\nHost: p\r\n" + line) }
        stage.loop.run(until: stage.loop.now.advanced(by: 1_000_000_000))
        short.send("\r\n")
        stage.loop.run(until: stage.loop.now.advanced(by: 1_000_000_000))
        #expect(short.text.hasPrefix("HTTP/1.1 204"))

        for client in slow + [short] { client.shut() }
        let lines = stage.finish()
        #expect(lines.count { $0.contains(#""e":"malformed""#) && $0.contains(MemoryBudget.reason) } == refused.count)
        #expect(stage.pressure.heads == 0)
    }

    private func bounded(_ loop: SimulatedLoop, _ pressure: RelayPressure) {
        var peak = 0
        loop.run(until: loop.now.advanced(by: 5_000_000_000)) {
            peak = max(peak, pressure.queued)
            return true
        }
        #expect(peak > Self.limit, "nothing was tried")
        #expect(peak <= Self.most)
        #expect(loop.readLimit == RelayPressure.smallRead)
    }

    private func isOver(_ loop: SimulatedLoop, _ pressure: RelayPressure) {
        #expect(pressure.queued == 0)
        #expect(loop.readLimit == .max)
    }
}
