import Synchronization
import Testing
import WiretapeBytes
import WiretapeProxy
import WiretapeRuntime
import WiretapeSimulation
import WiretapeTLS

/// Clients of a listener that speaks TLS.
struct TLSDoorTests {
    final class Refusals: Sendable {
        private let texts = Mutex<[String]>([])
        var all: [String] { texts.withLock { $0 } }
        func note(_ text: String) { texts.withLock { $0.append(text) } }
    }

    private let authority = Result { try TLSIdentity.authority("test") }
    private let refusals = Refusals()
    private let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

    private func stage() throws -> RelayStage {
        let refusals = refusals
        let context = try TLSContext(serverIssuing: authority.get())
        return try RelayStage(door: TLSDoor(context) { refusals.note($1.message) }) { server in
            server.onBytes = { if $0.text.hasSuffix("\r\n\r\n") { $0.send(answer) } }
        }
    }

    @Test func aConnectionIsRecordedWithItsTLS() throws {
        let stage = try stage()
        let client = stage.secureClient(try TLSContext(client: .everyone)) {
            $0.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        }
        client.onBytes = { if $0.text.hasSuffix("hi") { $0.shut() } }
        let lines = stage.finish()
        #expect(client.text.hasSuffix("hi"))
        let opens = lines.filter { $0.contains(#""e":"open""#) }
        #expect(opens.count == 1)
        #expect(opens[0].contains(#""tls":{"version":"TLSv1.3","alpn":"http/1.1","sni":"localhost"}"#))
        #expect(refusals.all == [])
    }

    /// It is on the tape, as a connection on which nothing was said.
    @Test func aClientThatDoesNotTrustSaysNothing() throws {
        let stage = try stage()
        let client = stage.secureClient(try TLSContext(client: .system)) { _ in }
        let lines = stage.finish()
        guard case .failed(let reason)? = client.end else { return #expect(Bool(false), "it was let in") }
        #expect(reason.contains("certificate verify failed"))
        try #require(lines.count >= 2 && lines[0].contains(#""e":"open""#))
        #expect(lines[1].contains(#""e":"gone","by":"proxy","how":"error","why":"TLS handshake: "#), "\(lines[1])")
        #expect(lines[1].contains("unknown ca"))
        #expect(refusals.all.count == 1 && refusals.all[0].contains("unknown ca"), "\(refusals.all)")
    }

    @Test func plainHTTPIsToldWhatToUse() throws {
        let stage = try stage()
        let client = stage.client { $0.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n") }
        let lines = stage.finish()
        #expect(client.text.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        #expect(client.text.contains("use https:// or wss://"))
        #expect(refusals.all == ["the client speaks plain HTTP; it has to use https:// or wss://"])
        #expect(lines.count { $0.contains(#""e":"open""#) } == 1)
        #expect(lines.contains { $0.contains(#""why":"the client speaks plain HTTP"#) })
    }

    /// Neither one that says nothing nor one that begins and stops keeps its place for ever.
    @Test(arguments: [[], [22, 3, 1, 2, 0, 1]] as [[UInt8]]) func aSlowHandshakeEnds(said: [UInt8]) throws {
        let stage = try stage()
        let client = stage.client { if !said.isEmpty { $0.send(said) } }
        client.onEnd = { _ in }
        _ = stage.loop.run(until: stage.loop.now.advanced(by: 59_000_000_000))
        #expect(client.end == nil && !client.sawEnd)
        _ = stage.finish()
        #expect(client.sawEnd || client.end != nil)
        #expect(refusals.all == ["the TLS handshake took too long"])
    }

    /// An idle connection is no handshake: it stays.
    @Test func anOpenConnectionStays() throws {
        let stage = try stage()
        let client = stage.secureClient(try TLSContext(client: .everyone)) {
            $0.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        }
        _ = stage.loop.run(until: stage.loop.now.advanced(by: 70_000_000_000))
        #expect(client.text.hasSuffix("hi") && client.end == nil && !client.sawEnd)
        client.shut()
        _ = stage.finish()
        #expect(refusals.all == [])
    }
}
