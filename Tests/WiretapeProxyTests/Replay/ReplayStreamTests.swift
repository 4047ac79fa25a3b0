import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeProxy
import WiretapeReplay
internal import WiretapeReplayServer
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

/// Streamed answers, held polls and what becomes of them on the wire.
struct ReplayStreamTests {
    private static let head = HTTPAnswer(
        status: 200, headers: [HeaderField("Content-Type", "text/event-stream")], body: Array(":\r\n".utf8))

    /// A stream of three pieces and its end, then the connection serves on.
    private func streaming(_ driver: ScriptedDriver) {
        driver.onRequest = { c, head, out in
            guard head.path == "/events" else {
                return out.append(.respond(c, HTTPAnswer(status: 200, body: Array("after".utf8)), thenClose: false))
            }
            out.append(.beginStream(c, Self.head))
            for (i, text) in ["one", "", "three"].enumerated() {
                out.append(.piece(c, Array(text.utf8), ticket: UInt64(i + 1)))
            }
            out.append(.endStream(c))
        }
    }

    @Test func chunksForOneDotOne() throws {
        let stage = try ReplayStage()
        streaming(stage.driver)
        let client = stage.client {
            $0.send("GET /events HTTP/1.1\r\nHost: x\r\n\r\nGET /next HTTP/1.1\r\nHost: x\r\n\r\n")
        }
        stage.run(1)
        #expect(
            client.text
                == "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "3\r\n:\r\n\r\n3\r\none\r\n5\r\nthree\r\n0\r\n\r\n"
                + "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nafter")
        #expect(stage.driver.heard.contains("1 handed over 3"))
        stage.finish()
    }

    @Test func untilTheEndForOneDotZero() throws {
        let stage = try ReplayStage()
        streaming(stage.driver)
        let client = stage.client { $0.send("GET /events HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\n\r\n") }
        stage.run(1)
        #expect(
            client.text
                == "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n:\r\nonethree")
        #expect(client.end == .closed)
        stage.finish()
    }

    @Test func aHEADGetsTheHeadOnly() throws {
        let stage = try ReplayStage()
        streaming(stage.driver)
        let client = stage.client { $0.send("HEAD /events HTTP/1.1\r\nHost: x\r\n\r\n") }
        stage.run(1)
        #expect(client.text.hasSuffix("Transfer-Encoding: chunked\r\n\r\n"))
        stage.finish()
    }

    @Test(arguments: [true, false])
    func aClientThatGoesIsNoticedAtOnce(isStream: Bool) throws {
        let stage = try ReplayStage()
        stage.driver.onRequest = { c, _, out in if isStream { out.append(.beginStream(c, Self.head)) } }
        stage.driver.onClosed = { c, _, out in out.append(.disconnect(c)) }
        let client = stage.client { $0.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n") }
        stage.run(1)
        client.shut()
        stage.run(0.5)
        #expect(stage.driver.heard.last == "1 \(ClientEnd.fin)")
        #expect(client.end == .closed)
        let second = stage.client { $0.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n") }
        stage.run(1)
        second.stream?.reset()
        stage.run(0.5)
        #expect(stage.driver.heard.last == "2 \(ClientEnd.rst("connection reset by peer"))")
        stage.finish()
    }

    @Test func theActualTapeTellsOfStreams() throws {
        let stage = try ReplayStage()
        streaming(stage.driver)
        var kinds: [String] = []
        stage.server.observe = { event in
            switch event.kind {
            case .response(_, _, let body, _, _, _): kinds.append("response \(body)")
            case .chunk(let x, _, let bytes): kinds.append("chunk \(x) \(String(decoding: bytes, as: UTF8.self))")
            case .end(let x, _, _): kinds.append("end \(x)")
            default: break
            }
        }
        _ = stage.client { $0.send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n") }
        stage.run(1)
        #expect(kinds == ["response streamed", "chunk 1 :\r\n", "chunk 1 one", "chunk 1 three", "end 1"])
        stage.finish()
    }
}
