import Testing
import WiretapeCore
import WiretapeProxy
import WiretapeSimulation

/// What connections under rules hold is bounded over all of them. The stage looks that nothing is held at the end.
@Suite struct HeldMemoryTests {
    private static let rule = "drop on message[77, direction=toServer]"

    private func unfinished(_ peer: FramePeer, _ size: Int, _ sent: Int) -> [UInt8] {
        let frame = peer.frame(1, [UInt8](repeating: 0x61, count: size))
        return Array(frame.prefix(frame.count - (size - sent)))
    }

    @Test func twelveUnfinishedMessagesUnderARule() throws {
        let stage = try HeldStage([Self.rule], memory: MemoryBudget(memory: 4 << 20))
        var most = 0
        let greedy = (0..<12).map { _ in
            let peer = stage.client()
            peer.onMessage = { [unowned peer] _, text in
                if text == "open" { peer.send(self.unfinished(peer, 400 << 10, 200 << 10)) }
            }
            return peer
        }
        let good = stage.client()
        stage.onServer = { $0.onMessage = { peer, text in peer.say("heard \(text)") } }
        stage.run(100)
        for i in 0..<40 {
            good.say("\(i)")
            stage.run(100)
            most = max(most, stage.memory.used)
        }
        #expect(most <= stage.memory.limit)
        #expect(stage.memory.refused > 0)
        let refused = greedy.filter { $0.texts.contains("close 1009") }
        #expect(refused.count == stage.memory.refused)
        // Each holds its message as it came and without its mask.
        #expect(greedy.count - refused.count == (2 << 20) / (400 << 10))
        #expect(stage.servers.flatMap(\.texts).filter { Int($0) != nil } == (0..<40).map { "\($0)" })
        let lines = stage.finish()
        #expect(lines.filter { $0.contains(#""by":"proxy""#) && $0.contains("memory") }.count == refused.count)
    }
}
