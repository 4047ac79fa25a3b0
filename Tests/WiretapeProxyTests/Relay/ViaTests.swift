import Testing
import WiretapeBytes
import WiretapeProxy
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

/// Upstreams that are reached through a proxy.
@Suite struct ViaTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

    /// What a client gets through a relay whose proxy says this, step by step, and what the proxy has heard.
    private func ask(
        _ via: String, _ request: String, _ steps: [[UInt8]], seed: UInt64 = 1
    ) throws -> (client: String, proxy: [UInt8]) {
        let loop = SimulatedLoop(seed: seed, conditions: seed == 1 ? .calm : .rough)
        loop.names = ["proxy.example": ["10.0.0.9"]]
        let proxy = try ViaProxy(parsing: via)
        var options = RelayOptions()
        options.via = proxy
        let upstream = Upstream(name: "main", url: "http://a.example:80", host: "a.example", port: 80, isTLS: false)
        let node = RelayNode(
            loop, upstream: upstream, tap: nil, numbers: ConnectionNumbers(), options: options,
            pressure: RelayPressure(loop),
            connect: { ViaLoop(loop, proxy, to: ForwardTarget(host: "a.example", port: 80)).connect(to: $0, $1) })
        _ = try node.listen(on: Address(host: "127.0.0.1", port: 8080), reusePort: false)
        let server = ScriptedPeer()
        let awaited = Self.awaited(via)
        var said = 0
        let listener = try loop.listen(on: Address(host: "10.0.0.9", port: 3128), reusePort: false) { stream in
            server.onBytes = { peer in
                while said < steps.count, peer.received.count >= awaited[...said].reduce(0, +) {
                    peer.send(steps[said])
                    said += 1
                }
            }
            return server.serve(stream)
        }
        let client = ScriptedPeer()
        client.onConnect = { $0.send(request) }
        client.stream = loop.connect(to: Address(host: "127.0.0.1", port: 8080), client)
        _ = loop.run(until: loop.now.advanced(by: 30_000_000_000))
        if client.end == nil { client.shut() }
        var isDone = false
        node.stop { isDone = true }
        _ = loop.run(until: loop.now.advanced(by: 5_000_000_000))
        #expect(isDone)
        listener.close()
        #expect(loop.leaks == [])
        loop.shutdown()
        #expect(loop.violations == [])
        return (client.text, server.received)
    }

    /// Bytes that the proxy waits for before each of its steps.
    private static func awaited(_ via: String) -> [Int] {
        guard via.hasPrefix("socks5") else { return [50, 20] }
        let request = 4 + 1 + "a.example".utf8.count + 2
        return via.contains("@") ? [4, 12, request, 1] : [3, request, 1]
    }

    private let get = "GET /x HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"
    private let upgrade = "GET /x HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

    @Test func plainRequestsAreSaidInAbsoluteForm() throws {
        let (client, proxy) = try ask("http://ann:p%40ss@proxy.example:3128", get, [Array(Self.ok.utf8)])
        #expect(client == Self.ok)
        let wanted =
            "GET http://a.example/x HTTP/1.1\r\nProxy-Authorization: Basic YW5uOnBAc3M=\r\nHost: a.example\r\n\r\n"
        #expect(String(decoding: proxy, as: UTF8.self) == wanted)
    }

    @Test func anUpgradeAsksForAWay() throws {
        let steps = ["HTTP/1.1 200 Connection established\r\n\r\n", Self.ok].map { Array($0.utf8) }
        let (client, proxy) = try ask("http://proxy.example:3128", upgrade, steps)
        #expect(client == Self.ok)
        let wanted =
            "CONNECT a.example:80 HTTP/1.1\r\nHost: a.example:80\r\n\r\n"
            + upgrade.replacing("127.0.0.1:8080", with: "a.example")
        #expect(String(decoding: proxy, as: UTF8.self) == wanted)
    }

    @Test func aProxyThatRefusesIsTold() throws {
        let refusal = Array("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n".utf8)
        let (client, _) = try ask("http://proxy.example:3128", upgrade, [refusal])
        #expect(client.hasPrefix("HTTP/1.1 502 "))
        #expect(client.contains("cannot reach http://a.example:80 through http://proxy.example:3128 (10.0.0.9:3128: "))
        #expect(client.contains("answers 407 to CONNECT; it wants USER:PASSWORD@ in --via"))
    }

    @Test(arguments: UInt64(1)...3)
    func socksLooksNamesUp(seed: UInt64) throws {
        let steps = [[5, 0], [5, 0, 0, 1, 0, 0, 0, 0, 0, 0], Array(Self.ok.utf8)]
        let (client, proxy) = try ask("socks5://proxy.example:3128", get, steps, seed: seed)
        #expect(client == Self.ok)
        let asked: [UInt8] = [5, 1, 0, 5, 1, 0, 3, 9] + Array("a.example".utf8) + [0, 80]
        #expect(Array(proxy.prefix(asked.count)) == asked)
        #expect(
            String(decoding: proxy.dropFirst(asked.count), as: UTF8.self)
                == "GET /x HTTP/1.1\r\nHost: a.example\r\n\r\n")
    }

    @Test func socksIsLoggedInTo() throws {
        let steps = [[5, 2], [1, 0], [5, 0, 0, 3, 1, 0x61, 0, 0], Array(Self.ok.utf8)]
        let (client, proxy) = try ask("socks5://ann:secret@proxy.example:3128", get, steps)
        #expect(client == Self.ok)
        let login: [UInt8] = [5, 2, 0, 2, 1, 3] + Array("ann".utf8) + [6] + Array("secret".utf8)
        #expect(Array(proxy.prefix(login.count)) == login)
    }

    @Test func socksThatCannotIsTold() throws {
        let (client, _) = try ask("socks5://proxy.example:3128", get, [[5, 0], [5, 4, 0, 1, 0, 0, 0, 0, 0, 0]])
        #expect(client.contains("the proxy socks5://proxy.example:3128 answers: host unreachable"))
    }
}
