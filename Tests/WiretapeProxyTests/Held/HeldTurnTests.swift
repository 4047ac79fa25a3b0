import Testing
import WiretapeBytes
import WiretapeCore
import WiretapeProxy
import WiretapeSimulation

/// A client that floods gets its share of a turn, and so do those beside it.
@Suite struct HeldTurnTests {
    /// The tape has messages in the order in which they were looked at.
    @Test func aFloodLeavesOthersTheirTurn() throws {
        // Which of two that arrive in one instant is read first is drawn.
        let worst = try (1...8).map { try floodBefore(seed: $0) }.max() ?? 0
        #expect(worst > 0 && worst < 2_000, "\(worst) messages of the flood went before")
    }

    /// How many messages of a flood of 20,000 stand before one that was sent in the same instant.
    private func floodBefore(seed: UInt64) throws -> Int {
        var conditions = NetworkConditions.calm
        conditions.latency = 30_000...30_000
        let stage = try HeldStage(["reset after message[999999]"], seed: seed, conditions: conditions)
        var bytes: [UInt8] = []
        for _ in 0..<20_000 { FrameWriter.append(opcode: 1, payload: Array("f".utf8).span, mask: 7, into: &bytes) }
        let clients = [stage.client("/ws/good"), stage.client("/ws/bad")]
        var open = 0
        for client in clients {
            client.onMessage = { _, text in
                open += 1
                guard text == "open", open == 2 else { return }
                clients[1].send(bytes)
                clients[0].say("hi")
            }
        }
        stage.run(5_000)
        let messages = stage.finish().filter { $0.contains(#""e":"message""#) }
        #expect(messages.count == 20_001)
        return try #require(messages.firstIndex { $0.contains(#""text":"hi""#) })
    }
}
