import Testing
import WiretapeBytes
import WiretapeProxy
import WiretapeReplay
internal import WiretapeReplayServer
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

/// The clock of the clients: faster than the loop's, or moved by hand.
struct ReplayClockTests {
    /// A server whose driver answers each request 10 s of the client's time later.
    private func stage(
        timeScale: Double = 1, hasManualClock: Bool = false
    ) throws -> (loop: SimulatedLoop, server: ReplayService, driver: ScriptedDriver, client: ScriptedPeer) {
        let loop = SimulatedLoop(seed: 1, conditions: .calm)
        let driver = ScriptedDriver()
        let server = ReplayService(loop, driver: driver, timeScale: timeScale, hasManualClock: hasManualClock)
        driver.onRequest = { c, head, _ in
            let answer = HTTPAnswer(status: 200, body: Array(head.target.utf8))
            driver.later.append((server.now.advanced(by: 10_000_000_000), [.respond(c, answer, thenClose: false)]))
        }
        let address = try server.listen(on: Address(host: "127.0.0.1", port: 0))
        let client = ScriptedPeer()
        client.onConnect = { $0.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n") }
        client.stream = loop.connect(to: address, client)
        return (loop, server, driver, client)
    }

    private func run(_ loop: SimulatedLoop, ms: UInt64) {
        _ = loop.run(until: loop.now.advanced(by: ms * 1_000_000))
    }

    @Test func aHundredTimesAsFast() throws {
        let (loop, server, _, client) = try stage(timeScale: 100)
        run(loop, ms: 95)
        #expect(client.text == "")
        run(loop, ms: 10)
        #expect(client.text.hasSuffix("/a"))
        #expect(server.now.since(.zero) >= 10_000_000_000)
    }

    @Test func movedByHand() throws {
        let (loop, server, _, client) = try stage(hasManualClock: true)
        run(loop, ms: 60_000)
        #expect(client.text == "")
        let before = server.now
        server.advance(by: 9_999_999_999)
        run(loop, ms: 10)
        #expect(client.text == "")
        server.advance(by: 1)
        run(loop, ms: 10)
        #expect(client.text.hasSuffix("/a"))
        #expect(server.now.since(before) == 10_000_000_000)
    }
}
