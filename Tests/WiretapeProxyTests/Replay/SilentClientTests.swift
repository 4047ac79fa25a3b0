import Testing
import WiretapeBytes
import WiretapeReplay
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

/// Clients of WebSockets that a rule keeps silent: when they leave is known, and what they said is kept.
@Suite struct SilentClientTests {
    private static let goodbye: [UInt8] = [0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8]
    private static let closed = ClientEnd.closeFrame(code: 1000, reason: "")

    /// The connection is silent from the client's first message on, for so many seconds.
    private func silent(_ stage: ReplayStage, for seconds: UInt64?) -> ScriptedPeer {
        let driver = stage.driver
        driver.onRequest = { c, _, out in
            out.append(.upgrade(c, headers: []))
        }
        driver.onMessage = { c, _, bytes, out in
            guard bytes == Array("first".utf8) else { return }
            out.append(.stall(c, reads: true, writes: true))
            guard let seconds else { return }
            driver.later = [
                (stage.loop.now.advanced(by: seconds * 1_000_000_000), [.stall(c, reads: false, writes: false)])
            ]
        }
        return stage.client { $0.send(ReplayStage.opening + ReplayStage.frame("first")) }
    }

    @Test func theCloseFrameIsNoticedWhenItComes() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            let stage = try ReplayStage(seed: seed)
            let client = silent(stage, for: nil)
            stage.run(1)
            client.send(ReplayStage.frame("unheard") + Self.goodbye)
            stage.run(1)
            let heard = stage.driver.heard
            #expect(heard.contains("1 left silently: \(Self.closed)"), "seed \(seed): \(heard)")
            #expect(!heard.contains("1 text unheard") && !heard.contains("1 \(Self.closed)"), "seed \(seed): \(heard)")
            client.stream?.reset()
            stage.run(1)
            stage.finish()
        }
    }

    @Test func whatWasSaidIsHeardAfterwards() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            let stage = try ReplayStage(seed: seed, conditions: .rough)
            let client = silent(stage, for: 10)
            stage.run(5)
            client.send(ReplayStage.frame("kept") + Self.goodbye)
            stage.run(20)
            let heard = stage.driver.heard.filter { $0.contains("kept") || $0.contains("closeFrame") }
            #expect(
                heard == ["1 left silently: \(Self.closed)", "1 text kept", "1 \(Self.closed)"],
                "seed \(seed): \(heard)")
            stage.finish()
        }
    }

    /// No more than a little of it is kept; the rest stays with the client.
    @Test func whatIsKeptIsBounded() throws {
        let stage = try ReplayStage()
        let client = silent(stage, for: 10)
        stage.run(1)
        let flood = (0..<200).map { "\($0) " + String(repeating: "x", count: 2_000) }
        for text in flood { client.send(ReplayStage.frame(text)) }
        stage.run(5)
        #expect(stage.memory.used < 200 << 10, "\(stage.memory.used)")
        stage.run(60)
        #expect(stage.driver.heard.count { $0.hasPrefix("1 text ") } == flood.count + 1)
        client.shut()
        stage.run(1)
        stage.finish()
    }
}
