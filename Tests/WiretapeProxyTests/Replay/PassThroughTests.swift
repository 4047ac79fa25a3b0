import Testing
import WiretapeBytes
import WiretapeCore
import WiretapeProxy
import WiretapeSimulation

/// Requests that the driver gives to the upstream.
struct PassThroughTests {
    private static func stage(
        upstreamPort: (SimulatedLoop) throws -> UInt16
    ) throws -> (loop: SimulatedLoop, server: ReplayServer, address: Address, port: UInt16) {
        let loop = SimulatedLoop(seed: 1, conditions: .calm)
        let driver = ScriptedDriver()
        driver.onRequest = { c, head, out in
            if head.path == "/mine" {
                out.append(.respond(c, HTTPAnswer(status: 200, body: Array("mine".utf8)), thenClose: false))
            } else {
                out.append(.passThrough(c))
            }
        }
        let port = try upstreamPort(loop)
        let upstream = Upstream(
            name: "main", url: "http://127.0.0.1:\(port)", host: "127.0.0.1", port: port, isTLS: false)
        let server = ReplayServer(
            loop, driver: driver, upstream: (upstream, { loop.connect(to: $0, $1) }))
        return (loop, server, try server.listen(on: Address(host: "127.0.0.1", port: 0)), port)
    }

    @Test func theRequestAndAllAfterItGoToTheUpstream() throws {
        var upstreams: [ScriptedPeer] = []
        let stage = try Self.stage { loop in
            try loop.listen(on: Address(host: "127.0.0.1", port: 0), reusePort: false) { stream in
                let peer = ScriptedPeer()
                peer.stream = stream
                stream.isReading = true
                peer.onBytes = { peer in
                    guard peer.received.suffix(4) == [13, 10, 13, 10] || peer.text.hasSuffix("hi") else { return }
                    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nup")
                    peer.shut()
                }
                upstreams.append(peer)
                return peer
            }.address.port
        }
        let client = ScriptedPeer()
        client.onConnect = {
            $0.send("GET /mine HTTP/1.1\r\nHost: x\r\n\r\n")
            $0.send(
                "POST /theirs?a=1 HTTP/1.1\r\nHost: x\r\nX-A: b\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
            )
        }
        client.stream = stage.loop.connect(to: stage.address, client)
        _ = stage.loop.run(until: stage.loop.now.advanced(by: 2_000_000_000))
        #expect(client.text.hasPrefix("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmine"))
        #expect(client.text.hasSuffix("\r\n\r\nup") && client.end == .closed)
        #expect(upstreams.count == 1)
        #expect(
            upstreams[0].text
                == "POST /theirs?a=1 HTTP/1.1\r\nHost: 127.0.0.1:\(stage.port)\r\nX-A: b\r\n"
                + "Content-Length: 2\r\nConnection: close\r\n\r\nhi")
    }

    @Test func aMissingUpstreamIsA502InWords() throws {
        let stage = try Self.stage { _ in 9 }
        let client = ScriptedPeer()
        client.onConnect = { $0.send("GET /theirs HTTP/1.1\r\nHost: x\r\n\r\n") }
        client.stream = stage.loop.connect(to: stage.address, client)
        _ = stage.loop.run(until: stage.loop.now.advanced(by: 2_000_000_000))
        #expect(client.text.hasPrefix("HTTP/1.1 502 Bad Gateway\r\n"))
        #expect(client.text.contains("wiretape: cannot reach http://127.0.0.1:9 (") && client.end == .closed)
        #expect(stage.server.count == 0)
    }
}
