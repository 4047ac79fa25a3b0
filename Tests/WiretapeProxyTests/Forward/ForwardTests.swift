import Foundation
import Testing
import WiretapeBytes
import WiretapeRuntime
import WiretapeSimulation
import WiretapeTLS
import WiretapeWire

/// Clients of a forward proxy: what the hosts hear, what the clients get, and what is on the tape.
struct ForwardTests {
    private static let connected = "HTTP/1.1 200 Connection established\r\n\r\n"

    private func get(_ url: String, more: String = "") -> String {
        "GET \(url) HTTP/1.1\r\nHost: \(url.split(separator: "/")[1])\r\nProxy-Connection: keep-alive\r\n\(more)\r\n"
    }

    private func socks(_ host: String, _ port: UInt16) -> [(bytes: [UInt8], answer: Int)] {
        let name = Array(host.utf8)
        let request = [5, 1, 0, 3, UInt8(name.count)] + name + [UInt8(port >> 8), UInt8(port & 255)]
        return [([5, 1, 0], 2), (request, 10)]
    }

    /// One connection, three requests to two hosts, sent ahead: each host hears its own, in origin form, and the answers come in order.
    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
    func requestsToDifferentHostsOnOneConnection(seed: UInt64) throws {
        let stage = try ForwardStage(seed: seed, conditions: seed == 1 ? .calm : .rough)
        try stage.serve("a.example", 80)
        try stage.serve("b.example", 81)
        let client = stage.client {
            $0.send(get("http://a.example/1") + get("http://b.example:81/2?x=http://y/") + get("http://a.example/3"))
        }
        client.onBytes = { if $0.text.hasSuffix("a.example/3") { $0.shut() } }
        let lines = stage.finish()
        let bodies = client.text.split(separator: "\r\n").map(String.init)
        guard client.end == .closed || seed > 1 else {
            return #expect(Bool(false), "\(String(describing: client.end))")
        }
        // On a rough network a connection may be lost: what came is in order all the same.
        if client.text.hasSuffix("a.example/3") {
            #expect(
                bodies.filter { $0.contains("example/") }.map { $0.replacing("HTTP/1.1 200 OK", with: "") }
                    == ["a.example/1", "b.example/2?x=http://y/", "a.example/3"])
            #expect(ForwardStage.hosts(lines) == ["a.example:80", "b.example:81", "a.example:80"])
            let heard = stage.servers.map { String(decoding: $0.received, as: UTF8.self) }
            #expect(heard.count == 3)
            #expect(heard.allSatisfy { !$0.contains("Proxy-") && $0.hasPrefix("GET /") })
        } else {
            #expect(seed > 1)
        }
    }

    /// What follows the upgrade is the host's, also when it comes in the same read as the answer leaves.
    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func anUpgradeIsThatHostsForGood(seed: UInt64) throws {
        let stage = try ForwardStage(seed: seed)
        try stage.serve("a.example", 80)
        let client = stage.client {
            $0.send(get("http://a.example/ws", more: "Upgrade: echo\r\nConnection: Upgrade\r\n") + "first ")
        }
        client.onBytes = { peer in
            if peer.text.hasSuffix("first "), !peer.didAnswer {
                peer.didAnswer = true
                peer.send("GET http://b.example/ HTTP/1.1\r\n\r\n")
            }
            if peer.text.hasSuffix("first GET http://b.example/ HTTP/1.1\r\n\r\n") { peer.shut() }
        }
        let lines = stage.finish()
        #expect(client.text.hasSuffix("first GET http://b.example/ HTTP/1.1\r\n\r\n"))
        #expect(client.end == .closed)
        #expect(ForwardStage.hosts(lines) == ["a.example:80"])
    }

    @Test(arguments: ["CONNECT", "SOCKS"])
    func tlsWithinIsTerminatedWithACertificateOfTheHost(way: String) throws {
        let stage = try ForwardStage()
        try stage.serve("a.example", 8443, tls: true)
        let connect = Array("CONNECT a.example:8443 HTTP/1.1\r\nHost: a.example:8443\r\n\r\n".utf8)
        let asks = way == "SOCKS" ? socks("a.example", 8443) : [(connect, Self.connected.utf8.count)]
        let client = stage.secureClient(asks, "a.example", trusting: try TLSContext(client: .everyone)) {
            $0.send("GET /secret HTTP/1.1\r\nHost: a.example:8443\r\n\r\n")
        }
        client.onBytes = { if $0.text.hasSuffix("a.example/secret") { $0.shut() } }
        let lines = stage.finish()
        #expect(client.text.hasSuffix("a.example/secret"))
        #expect(ForwardStage.hosts(lines) == ["a.example:8443"])
        #expect(lines.contains { $0.contains(#""sni":"a.example""#) })
        #expect(lines.contains { $0.contains("/secret") })
        #expect(stage.sayings.all == [])
    }

    /// A client that connects to an address sends no name: the certificate has the address all the same.
    @Test func aHostWithoutANameHasItsAddressInTheCertificate() throws {
        let stage = try ForwardStage()
        try stage.serve("10.0.0.7", 443, tls: true)
        let connect = Array("CONNECT 10.0.0.7:443 HTTP/1.1\r\nHost: 10.0.0.7\r\n\r\n".utf8)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("wiretape-\(UUID()).pem")
        try Data(stage.authority.certificatePEM).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let trusting = try TLSContext(client: .systemAnd(file: file.path))
        let client = stage.secureClient([(connect, Self.connected.utf8.count)], "10.0.0.7", trusting: trusting) {
            $0.send("GET /ip HTTP/1.1\r\nHost: 10.0.0.7\r\n\r\n")
        }
        client.onBytes = { if $0.text.hasSuffix("10.0.0.7/ip") { $0.shut() } }
        let lines = stage.finish()
        #expect(client.text.hasSuffix("10.0.0.7/ip"), "\(String(describing: client.end)) \(stage.sayings.all)")
        #expect(ForwardStage.hosts(lines) == ["10.0.0.7"])
    }

    @Test func plainHTTPWithinConnectIsRecorded() throws {
        let stage = try ForwardStage()
        try stage.serve("a.example", 80)
        let client = stage.client { $0.send("CONNECT a.example:80 HTTP/1.1\r\nHost: a.example:80\r\n\r\n") }
        client.onBytes = { peer in
            if peer.text == Self.connected { peer.send("GET /in HTTP/1.1\r\nHost: a.example\r\n\r\n") }
            if peer.text.hasSuffix("a.example/in") { peer.shut() }
        }
        let lines = stage.finish()
        #expect(client.text.hasSuffix("a.example/in"))
        #expect(ForwardStage.hosts(lines) == ["a.example:80"])
    }

    /// Its bytes pass as they are, and the tape knows nothing of it.
    @Test(arguments: [["a.example"], ["*.example:9000"]])
    func aHostThatIsNotLookedAtIsTunnelled(bypass: [String]) throws {
        let stage = try ForwardStage(bypass: bypass)
        let listener = try stage.loop.listen(on: Address(host: "10.0.0.1", port: 9000), reusePort: false) { stream in
            let peer = ScriptedPeer()
            peer.onBytes = {
                $0.answersOnce(""); $0.send("no HTTP: \($0.text)"); $0.shut()
            }
            return peer.serve(stream)
        }
        let client = stage.client { $0.send("CONNECT a.example:9000 HTTP/1.1\r\nHost: a.example:9000\r\n\r\n") }
        client.onBytes = { if $0.text == Self.connected { $0.send([0, 1, 2]) } }
        stage.run()
        listener.close()
        let lines = stage.finish()
        #expect(client.received == Array(Self.connected.utf8) + Array("no HTTP: ".utf8) + [0, 1, 2])
        #expect(client.end == .closed)
        #expect(ForwardStage.hosts(lines) == [])
    }

    @Test func onlyWhatIsAskedForIsLookedAt() throws {
        let stage = try ForwardStage(only: ["b.example"])
        try stage.serve("a.example", 80)
        try stage.serve("b.example", 80)
        let client = stage.client { $0.send(get("http://a.example/1") + get("http://b.example/2")) }
        client.onBytes = { if $0.text.hasSuffix("b.example/2") { $0.shut() } }
        let lines = stage.finish()
        #expect(client.text.contains("a.example/1") && client.text.hasSuffix("b.example/2"))
        #expect(ForwardStage.hosts(lines) == ["b.example:80"])
    }

    @Test(arguments: [
        ("CONNECT a.example HTTP/1.1\r\nHost: a\r\n\r\n", "400", "HOST:PORT"),
        ("GET /x HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n", "400", "names no host"),
        ("GET https://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n", "400", "https is for CONNECT"),
        ("nonsense\r\n\r\n", "400", "wiretape: "), ("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}", "400", "plain HTTP"),
        ("GET http://wiretape.test/ca.pem HTTP/1.1\r\nHost: wiretape.test\r\n\r\n", "200", "page /ca.pem"),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n", "200", "page /"),
        ("GET http://gone.example/ HTTP/1.1\r\nHost: gone.example\r\n\r\n", "502", "cannot reach http://gone.example"),
        ("GET http://unknown.example/ HTTP/1.1\r\nHost: unknown.example\r\n\r\n", "502", "unknown node"),
    ])
    func whatIsAnsweredByOurselves(words: String, status: String, text: String) throws {
        let stage = try ForwardStage()
        let client = stage.client { $0.send(words) }
        client.onBytes = { if $0.text.contains("\r\n\r\n") { $0.shut() } }
        _ = stage.finish()
        #expect(client.text.hasPrefix("HTTP/1.1 \(status) "), "\(client.text)")
        #expect(client.text.contains(text), "\(client.text)")
        #expect(client.end == .closed)
    }

    @Test func aTunnelToNobodyIsToldSo() throws {
        let stage = try ForwardStage(bypass: ["gone.example"])
        let client = stage.client { $0.send("CONNECT gone.example:443 HTTP/1.1\r\nHost: gone.example:443\r\n\r\n") }
        client.onBytes = { if $0.text.contains("\r\n\r\n") { $0.shut() } }
        _ = stage.finish()
        #expect(client.text.hasPrefix("HTTP/1.1 502 "))
        #expect(stage.sayings.all.count == 1)
    }

    /// Clients that say anything, on a network that does anything: everything ends, nothing leaks, and nothing is written after an end.
    @Test(arguments: 0..<60 as Range<UInt64>)
    func nonsenseEnds(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let stage = try ForwardStage(seed: seed, conditions: .rough, bypass: ["b.example"])
        try stage.serve("a.example", 80)
        try stage.serve("b.example", 80)
        let pieces = [
            get("http://a.example/1"), get("http://b.example/2"), get("http://wiretape.test/"), "\u{5}\u{1}\u{0}",
            "POST /",
            "CONNECT a.example:80 HTTP/1.1\r\nHost: a\r\n\r\n", "CONNECT b.example:80 HTTP/1.1\r\nHost: b\r\n\r\n",
            get("http://a.example/ws", more: "Upgrade: echo\r\nConnection: Upgrade\r\n"), "\u{16}\u{3}\u{1}", "\r\n",
            "x",
        ]
        var clients: [ScriptedPeer] = []
        for _ in 0..<4 {
            let said = (0...random.below(4)).map { _ in pieces[random.below(pieces.count)] }
            let ends = random.below(3)
            clients.append(
                stage.client { peer in
                    peer.send(said.joined())
                    if ends == 0 { peer.shut() }
                    if ends == 1 { peer.stream?.reset() }
                })
        }
        stage.run()
        for client in clients { client.shut() }
        _ = stage.finish()
    }
}
