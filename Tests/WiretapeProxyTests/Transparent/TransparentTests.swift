import Testing
import WiretapeBytes
import WiretapeProxy
import WiretapeRuntime
import WiretapeSimulation
import WiretapeTLS

/// Redirected clients on a simulated network: for whom they are, and who is refused. `tools/acceptance/transparent` has the real firewall.
struct TransparentTests {
    private final class Stage {
        let loop = SimulatedLoop(seed: 1)
        let redirecting: RedirectingLoop
        let own = OwnStreams()
        var door: TransparentDoor?
        var served: [TransparentDoor.Destination] = []
        var sayings: [String] = []
        var peers: [ScriptedPeer] = []
        private let address: Address

        init(_ destination: Address?) throws {
            redirecting = RedirectingLoop(loop)
            redirecting.destination = destination
            address = Address(host: "127.0.0.1", port: 8080)
            let context = try TLSContext(serverIssuing: TLSIdentity.authority("test"))
            let door = TransparentDoor(
                redirecting, inner: TLSDoor(context) { _, _ in }, admission: nil, own: own,
                say: { [unowned self] in sayings.append($0) }
            ) { [unowned self] stream, _, to in
                served.append(to)
                let peer = ScriptedPeer()
                peer.answersOnce("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
                peers.append(peer)
                return peer.serve(stream)
            }
            self.door = door
            _ = try door.listen(on: address, reusePort: false)
        }

        func client(_ said: String, tls: String? = nil) throws -> ScriptedPeer {
            let peer = ScriptedPeer()
            peer.onConnect = { $0.send(said) }
            peer.onBytes = { if $0.text.hasSuffix("hi") { $0.shut() } }
            if let tls {
                peer.stream = TLSStream.connect(
                    loop, to: address, serverName: tls, try TLSContext(client: .everyone), peer)
            } else {
                peer.stream = loop.connect(to: address, peer)
            }
            return peer
        }

        func finish() {
            _ = loop.run(until: loop.now.advanced(by: 10_000_000_000))
            door?.close()
            _ = loop.run(until: loop.now.advanced(by: 10_000_000_000))
            loop.shutdown()
            #expect(loop.violations == [])
        }
    }

    private let there = Address(host: "10.0.0.9", port: 443)

    @Test func plainClientsSayTheHostInTheirFirstRequest() throws {
        let stage = try Stage(Address(host: "10.0.0.9", port: 80))
        let named = try stage.client("GET / HTTP/1.1\r\nHost: Chat.Example\r\n\r\n")
        let unnamed = try stage.client("GET / HTTP/1.0\r\n\r\n")
        stage.finish()
        #expect(named.text.hasSuffix("hi") && unnamed.text.hasSuffix("hi"))
        #expect(stage.served.map(\.name).sorted() == ["10.0.0.9:80", "chat.example:80"])
        #expect(stage.served.allSatisfy { $0.address == Address(host: "10.0.0.9", port: 80) && !$0.isTLS })
    }

    @Test func secureClientsSayItInTheirHello() throws {
        let stage = try Stage(there)
        let named = try stage.client("GET / HTTP/1.1\r\nHost: else.example\r\n\r\n", tls: "chat.example")
        let unnamed = try stage.client("GET / HTTP/1.1\r\nHost: else.example\r\n\r\n", tls: "10.0.0.9")
        stage.finish()
        #expect(named.text.hasSuffix("hi") && unnamed.text.hasSuffix("hi"))
        #expect(stage.served.map(\.name).sorted() == ["10.0.0.9", "chat.example"])
        #expect(stage.served.allSatisfy { $0.address == there && $0.isTLS })
    }

    /// Neither without a destination, nor where it is the listener itself.
    @Test(arguments: [nil, Address(host: "127.0.0.1", port: 8080)]) func whatWasNotRedirectedIsRefused(
        _ destination: Address?
    ) throws {
        let stage = try Stage(destination)
        let client = try stage.client("GET / HTTP/1.1\r\nHost: chat.example\r\n\r\n")
        let secure = try stage.client("", tls: "chat.example")
        stage.finish()
        #expect(client.text.hasPrefix("HTTP/1.1 421 ") && client.text.contains("nothing was redirected"))
        #expect(secure.end != nil)
        #expect(stage.served.isEmpty)
        #expect(stage.sayings.count == 2 && stage.sayings[0].contains("docs/transparent.md"))
    }

    /// What the process itself has opened, and comes back.
    @Test func itsOwnConnectionsAreRefused() throws {
        let stage = try Stage(there)
        stage.redirecting.local = Address(host: "10.0.0.1", port: 50_000)
        let handler = ScriptedPeer()
        let stream = stage.redirecting.connect(to: Address(host: "127.0.0.1", port: 8080), handler)
        handler.stream = stream
        stage.own.add(stream)
        stage.finish()
        #expect(handler.end == .reset)
        #expect(stage.served.isEmpty)
        #expect(stage.sayings.count == 1 && stage.sayings[0].contains("Wiretape's own, on its way to a server"))
    }
}
