import Testing
import WiretapeBytes
import WiretapeProxy
import WiretapeReplay
internal import WiretapeReplayServer
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

/// Clients that shut down their sending side before they have their answer, on the simulated network.
struct ReplayHalfCloseTests {
    private static let head = HTTPAnswer(status: 200, headers: [HeaderField("Content-Type", "text/event-stream")])

    private func ask(_ stage: ReplayStage, _ version: String = "1.1") -> ScriptedPeer {
        stage.client { peer in
            peer.send("GET /task HTTP/\(version)\r\nHost: x\r\n\r\n")
            peer.shut()
        }
    }

    /// The answer comes seven seconds after the client's FIN, which no deadline of ours cuts short.
    @Test(arguments: ["1.1", "1.0"], [true, false])
    func theAnswerComes(_ version: String, isStream: Bool) throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            let stage = try ReplayStage(seed: seed, conditions: .rough)
            let driver = stage.driver
            let due = stage.loop.now.advanced(by: 7_000_000_000)
            driver.onRequest = { c, _, out in
                guard isStream else {
                    let answer = HTTPAnswer(status: 200, body: Array("answer".utf8))
                    return driver.later = [(due, [.respond(c, answer, thenClose: false, ticket: 1)])]
                }
                out.append(.beginStream(c, Self.head))
                driver.later = [(due, [.piece(c, Array("answer".utf8), ticket: 1), .endStream(c)])]
            }
            let client = ask(stage, version)
            stage.run(30)
            #expect(client.text.contains("answer") && client.end == .closed, "seed \(seed): \(client.text)")
            #expect(driver.heard.contains("1 handed over 1"), "seed \(seed)")
            #expect(driver.heard.last == "1 \(ClientEnd.fin)", "seed \(seed): \(driver.heard)")
            stage.finish()
        }
    }

    /// A client that is gone resets the connection when the answer reaches it: that was not delivered.
    @Test func anAnswerThatNobodyGets() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            let stage = try ReplayStage(seed: seed)
            let client = ask(stage)
            stage.run(1)
            client.stream?.reset()
            stage.run(1)
            #expect(stage.driver.heard.contains { $0.hasPrefix("1 rst") }, "seed \(seed): \(stage.driver.heard)")
            stage.finish()
        }
    }

    /// A client's end that has arrived is read before the run is judged, also where a rule keeps the client from being read.
    @Test(arguments: [true, false])
    func whatHasArrivedIsReadFirst(isDeaf: Bool) throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            let stage = try ReplayStage(seed: seed)
            stage.driver.onRequest = { c, _, out in
                out.append(.beginStream(c, Self.head))
                if isDeaf { out.append(.stall(c, reads: true, writes: true)) }
            }
            let client = stage.client { $0.send("GET /task HTTP/1.1\r\nHost: x\r\n\r\n") }
            stage.run(1.003)
            client.shut()
            stage.run(0.0005)
            var isSettled = false
            stage.server.settle { isSettled = true }
            #expect(!isSettled)
            stage.run(0.1)
            #expect(isSettled)
            #expect(stage.driver.heard.contains("1 \(ClientEnd.fin)"), "seed \(seed): \(stage.driver.heard)")
            stage.finish()
        }
    }
}
