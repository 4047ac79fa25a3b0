import Foundation
import Testing
import WiretapeBytes
import WiretapeProxy
import WiretapeReplay
internal import WiretapeReplayServer
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

/// Hosts and pages that are not let in, at each listener that a command can open.
struct AccessTests {
    private static func request(_ host: String, _ fields: [String] = []) -> String {
        (["GET /chat HTTP/1.1", "Host: \(host)"] + fields + ["", ""]).joined(separator: "\r\n")
    }

    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    @Test func aRecorderRelaysNothingForForeignHosts() throws {
        var options = RelayOptions()
        options.access = try AccessPolicy(hosts: ["good.example"], origins: [])
        let stage = try RelayStage(options: options) { server in
            server.onBytes = { peer in
                if peer.text.hasSuffix("\r\n\r\n") { peer.send(Self.ok) }
            }
        }
        // The first request is let in, the second is not, and nobody sees the third.
        let client = stage.client {
            $0.send(Self.request("good.example") + Self.request("evil.example") + Self.request("good.example"))
        }
        // The page is for the upstream to judge.
        let page = stage.client { $0.send(Self.request("localhost", ["Origin: https://page.example"])) }
        page.onBytes = { $0.shut() }
        let lines = stage.finish()
        #expect(client.text.hasPrefix(Self.ok + "HTTP/1.1 403 Forbidden\r\n"), "\(client.text)")
        #expect(client.text.contains("'--allow-host evil.example' lets them in"))
        #expect(page.text == Self.ok)
        #expect(stage.servers.count == 2)
        let seen = stage.servers.map(\.text)
        #expect(seen.allSatisfy { $0.split(separator: "GET").count == 1 }, "\(seen)")
        #expect(lines.filter { $0.contains(#""e":"request""#) }.count == 3, "the refused one is on the tape")
        #expect(
            lines.contains {
                $0.contains(#""status":403"#) && $0.contains(#""by":"proxy""#) || $0.contains(#""proxy":true"#)
            })
    }

    @Test(arguments: ["GET http://localhost/chat HTTP/1.1", "CONNECT localhost:80 HTTP/1.1"])
    func aRecorderIsNoProxyUnlessItIsToldSo(_ line: String) throws {
        var options = RelayOptions()
        options.access = try AccessPolicy(hosts: [], origins: [])
        let stage = try RelayStage(options: options) { server in
            server.onBytes = { peer in
                if peer.text.hasSuffix("\r\n\r\n") { peer.send(Self.ok) }
            }
        }
        // The second comes behind one that was let in, with the same Host.
        let client = stage.client { $0.send(Self.request("localhost") + "\(line)\r\nHost: localhost\r\n\r\n") }
        _ = stage.finish()
        #expect(client.text.hasPrefix(Self.ok + "HTTP/1.1 403 Forbidden\r\n"), "\(client.text)")
        #expect(client.text.contains("'--mode forward' makes a proxy of it"))
        #expect(stage.servers.map(\.text).allSatisfy { $0.split(separator: "GET").count == 1 })
    }

    @Test func aRecorderWithRulesRelaysNothingForForeignHosts() throws {
        var options = RelayOptions()
        options.access = try AccessPolicy(hosts: [], origins: [])
        var seen: [String] = []
        let stage = try InterceptStage(["respond(503) on request[5]"], options: options) { stream in
            HTTPOrigin(stream) { _, head, _ in
                seen.append(head.headers.first("Origin") ?? "")
                return Self.ok
            }
        }
        let client = ScriptedPeer()
        client.onConnect = {
            $0.send(
                Self.request("localhost") + Self.request("evil.example") + Self.request("localhost", ["Origin: late"]))
        }
        client.stream = stage.connect(client)
        stage.run(10_000)
        #expect(client.text.hasPrefix(Self.ok + "HTTP/1.1 403 Forbidden\r\n"), "\(client.text)")
        #expect(seen == [""])
        #expect(client.sawEnd)
        let lines = stage.finish()
        #expect(lines.filter { $0.contains(#""e":"request""#) }.count == 2)
    }

    /// The answer that a rule gives is for pages that are allowed.
    @Test func answersOfRulesAreReadableByAllowedPages() throws {
        var options = RelayOptions()
        options.access = try AccessPolicy(hosts: [], origins: [])
        let stage = try InterceptStage(["respond(503) on request"], options: options) {
            HTTPOrigin($0) { _, _, _ in Self.ok }
        }
        let peers = ["http://localhost:3000", "https://evil.example"].map { origin in
            let peer = ScriptedPeer()
            peer.onConnect = { $0.send(Self.request("localhost", ["Origin: \(origin)"])) }
            peer.stream = stage.connect(peer)
            return peer
        }
        stage.run(1_000)
        #expect(peers.allSatisfy { $0.text.hasPrefix("HTTP/1.1 503 ") }, "\(peers.map(\.text))")
        #expect(peers[0].text.contains("Access-Control-Allow-Credentials: true"))
        #expect(!peers[1].text.contains("Access-Control-Allow"), "\(peers[1].text)")
        for peer in peers { peer.shut() }
        _ = stage.finish()
    }

    @Test func aReplayTellsNothingToForeignHostsAndPages() throws {
        let loop = SimulatedLoop(seed: 1, conditions: .calm)
        let driver = ScriptedDriver()
        var asked = 0
        driver.onRequest = { c, head, out in
            asked += 1
            out.append(.respond(c, HTTPAnswer(status: 200, body: Array("tape".utf8)), thenClose: false))
        }
        let access = try AccessPolicy(hosts: ["good.example"], origins: ["https://app.example"])
        let server = ReplayService(loop, driver: driver, access: access)
        var told: [String] = []
        server.log = { told.append($0) }
        let address = try server.listen(on: Address(host: "127.0.0.1", port: 0))
        func ask(_ text: String) -> ScriptedPeer {
            let peer = ScriptedPeer()
            peer.onConnect = { $0.send(text) }
            peer.stream = loop.connect(to: address, peer)
            _ = loop.run(until: loop.now.advanced(by: 1_000_000_000))
            peer.shut()
            _ = loop.run(until: loop.now.advanced(by: 1_000_000_000))
            return peer
        }
        let letIn = [
            Self.request("127.0.0.1:1"), Self.request("good.example"),
            Self.request("localhost", ["Origin: http://localhost:3000"]),
            Self.request("localhost", ["Origin: https://app.example"]),
        ]
        for text in letIn { #expect(ask(text).text.hasSuffix("tape"), "\(text)") }
        #expect(asked == letIn.count)
        let upgrade = [
            "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        ]
        let refused = [
            Self.request("evil.example"), Self.request("evil.example", ["Origin: http://evil.example"]),
            Self.request("localhost", ["Origin: https://evil.example"]), Self.request("localhost", ["Origin: null"]),
            Self.request("localhost", upgrade + ["Origin: https://evil.example"]),
            Self.request("localhost", ["Sec-Fetch-Site: cross-site", "Referer: https://evil.example/page"]),
            Self.request("localhost", ["Sec-Fetch-Site: cross-site"]),
            "OPTIONS /chat HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\nAccess-Control-Request-Method: POST\r\n\r\n",
        ]
        for text in refused {
            let peer = ask(text + Self.request("localhost"))
            #expect(peer.text.hasPrefix("HTTP/1.1 403 Forbidden\r\n"), "\(text): \(peer.text)")
            #expect(!peer.text.contains("tape\n") && !peer.text.contains("Access-Control-Allow"))
            #expect(peer.text.components(separatedBy: "HTTP/1.1").count == 2, "nothing behind it is answered")
        }
        #expect(asked == letIn.count)
        #expect(told.count == 4 && told.allSatisfy { $0.contains("--allow-") }, "\(told)")
    }
}
