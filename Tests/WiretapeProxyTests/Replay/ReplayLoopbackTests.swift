import Testing
import WiretapeBytes
import WiretapeNet
import WiretapeProxy
import WiretapeReplay
internal import WiretapeReplayServer
import WiretapeRuntime
import WiretapeWire

/// The replay server on real sockets.
struct ReplayLoopbackTests {
    /// Echoes messages; when `last` has come, waits until the client has all and resets.
    private func run(resetAfter last: String?, _ client: ScriptedPeer, deadline: UInt64 = 20_000_000_000) throws
        -> [String]
    {
        let loop = try UVLoop()
        let driver = ScriptedDriver()
        let server = ReplayService(loop, driver: driver)
        driver.onRequest = { c, _, out in out.append(.upgrade(c, headers: [])) }
        var ticket: UInt64 = 0
        driver.onMessage = { c, opcode, bytes, out in
            ticket += 1
            out.append(.send(c, opcode, bytes, ticket: ticket))
            if String(decoding: bytes, as: UTF8.self) == last { out.append(.awaitAcknowledged(c, ticket: ticket)) }
        }
        driver.onAcknowledged = { c, _, complete, out in
            #expect(complete)
            out.append(.reset(c))
        }
        let address = try server.listen(on: Address(host: "127.0.0.1", port: 0))
        var timer: (any LoopTimer)?
        let guardian = loop.timer { server.stop(grace: 2_000_000_000) { timer?.close() } }
        timer = guardian
        driver.onClosed = { _, _, _ in guardian.arm(at: loop.now) }
        guardian.arm(at: loop.now.advanced(by: deadline))
        client.stream = loop.connect(to: address, client)
        loop.run()
        loop.shutdown()
        return driver.heard
    }

    @Test func everythingArrivesBeforeTheReset() throws {
        let client = ScriptedPeer()
        let texts = (0..<300).map { "\($0) " + String(repeating: "x", count: $0 * 20) }
        client.onConnect = {
            $0.send(ReplayStage.opening)
            for text in texts { $0.send(ReplayStage.frame(text)) }
        }
        let heard = try run(resetAfter: texts.last, client)
        #expect(ReplayStage.messages(client.received) == texts)
        #expect(client.end == .reset)
        #expect(heard.last { $0.contains("handed over") } == "1 handed over 300")
        #expect(heard.suffix(2).first == "1 acknowledged 300 true")
    }

    @Test func theClosingHandshake() throws {
        let client = ScriptedPeer()
        client.onConnect = {
            $0.send(ReplayStage.opening + ReplayStage.frame("hi"))
            $0.send([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8])
        }
        let heard = try run(resetAfter: nil, client)
        #expect(ReplayStage.messages(client.received) == ["hi", "close 1000"])
        #expect(client.sawEnd && client.end == .closed)
        #expect(heard.last == "1 \(ClientEnd.closeFrame(code: 1000, reason: ""))" || heard.last == "1 handed over 1")
    }
}
