import Foundation
import Testing
import WiretapeBytes
import WiretapeProxy
import WiretapeReplay
internal import WiretapeReplayServer
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

/// Requests that the driver gives to the upstream.
struct PassThroughTests {
    private static func stage(
        upstreamPort: (SimulatedLoop) throws -> UInt16
    ) throws -> (loop: SimulatedLoop, server: ReplayService, address: Address, port: UInt16) {
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
        let server = ReplayService(
            loop, driver: driver, upstream: (upstream, { loop.connect(to: $0, $1) }))
        return (loop, server, try server.listen(on: Address(host: "127.0.0.1", port: 0)), port)
    }

    @Test func theRequestGoesToTheUpstreamAndNothingBehindIt() throws {
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
        #expect(client.text.hasSuffix("Connection: close\r\n\r\nup") && client.end == .closed)
        #expect(upstreams.count == 1)
        #expect(
            upstreams[0].text
                == "POST /theirs?a=1 HTTP/1.1\r\nHost: 127.0.0.1:\(stage.port)\r\nX-A: b\r\n"
                + "Content-Length: 2\r\nConnection: close\r\n\r\nhi")
    }

    /// An upstream that answers the first request, in the given bytes, and keeps the connection.
    private static func upstream(
        _ answer: String, _ peers: @escaping (ScriptedPeer) -> Void
    ) -> (SimulatedLoop) throws -> UInt16 {
        { loop in
            try loop.listen(on: Address(host: "127.0.0.1", port: 0), reusePort: false) { stream in
                let peer = ScriptedPeer()
                peer.stream = stream
                stream.isReading = true
                peer.onBytes = { peer in
                    guard peer.text.contains("\r\n\r\n"), !peer.didAnswer else { return }
                    peer.didAnswer = true
                    peer.send(answer)
                }
                peers(peer)
                return peer
            }.address.port
        }
    }

    private static let upgrade =
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"

    private static let smuggled = [
        "POST /2 HTTP/1.1\r\nHost: foreign.example\r\nContent-Length: 5\r\nContent-Length: 0\r\nTransfer-Encoding: chunked"
            + "\r\n\r\n0\r\n\r\nGET /3 HTTP/1.1\r\nHost: foreign.example\r\n\r\n",
        "GET /2 HTTP/1.1\r\nHost: foreign.example\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\u{81}\u{0}garbage\n",
        "GET /mine HTTP/1.1\r\nHost: x\r\n\r\n",
    ]

    /// Whatever stands behind a request, in the same piece or later, and however it is answered: the upstream has seen one.
    @Test(arguments: smuggled, [false, true])
    func whatStandsBehindTheRequestReachesNobody(_ rest: String, _ upgrades: Bool) throws {
        let answers = [
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nup",
            "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nup\r\n0\r\n\r\n",
            "HTTP/1.1 426 Upgrade Required\r\nContent-Length: 2\r\n\r\nup", "HTTP/1.1 204 No Content\r\n\r\n",
            "no HTTP at all\r\n\r\n", "HTTP/1.1 200 OK\r\n",
        ]
        for answer in answers {
            var upstreams: [ScriptedPeer] = []
            let stage = try Self.stage(upstreamPort: Self.upstream(answer) { upstreams.append($0) })
            let fields = upgrades ? Self.upgrade : ""
            let client = ScriptedPeer()
            client.onConnect = { $0.send("GET /theirs HTTP/1.1\r\nHost: x\r\n\(fields)\r\n" + rest) }
            client.onBytes = { $0.send(rest) }
            client.stream = stage.loop.connect(to: stage.address, client)
            _ = stage.loop.run(until: stage.loop.now.advanced(by: 3_000_000_000))
            client.shut()
            for peer in upstreams { peer.shut() }
            _ = stage.loop.run(until: stage.loop.now.advanced(by: 20_000_000_000))
            let seen = upstreams.map(\.text).joined()
            #expect(upstreams.count == 1 && seen.hasSuffix("\r\n\r\n"), "\(answer): \(seen)")
            #expect(seen.components(separatedBy: "HTTP/1.1").count == 2, "\(answer): \(seen)")
            #expect(!seen.contains("foreign.example"))
            #expect(stage.server.count == 0, "\(answer): the connection stays")
        }
    }

    /// Bytes that were sent ahead are the tunnel's, once there is one.
    @Test func aGrantedUpgradeGetsWhatStandsBehindIt() throws {
        var upstreams: [ScriptedPeer] = []
        let granted = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        let stage = try Self.stage(upstreamPort: Self.upstream(granted + "hello") { upstreams.append($0) })
        let client = ScriptedPeer()
        client.onConnect = {
            $0.send("GET /theirs HTTP/1.1\r\nHost: x\r\n\(Self.upgrade)\r\nearly")
        }
        client.onBytes = { peer in
            if peer.text.hasSuffix("hello") { peer.send(" and late") }
        }
        client.stream = stage.loop.connect(to: stage.address, client)
        _ = stage.loop.run(until: stage.loop.now.advanced(by: 2_000_000_000))
        #expect(client.text == granted + "hello")
        #expect(upstreams.first?.text.hasSuffix("\r\n\r\nearly and late") == true)
        client.shut()
        _ = stage.loop.run(until: stage.loop.now.advanced(by: 20_000_000_000))
        #expect(upstreams.first?.sawEnd == true && client.end == .closed && stage.server.count == 0)
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
