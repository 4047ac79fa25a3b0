import Testing
import WiretapeBytes
import WiretapeProxy
import WiretapeRuntime
import WiretapeSimulation

/// What connections under rules hold is bounded over all of them. The stage looks that nothing is held at the end.
@Suite struct InterceptMemoryTests {
    private static let rule = "drop on message[77, direction=toServer]"

    private func unfinished(_ peer: FramePeer, _ size: Int, _ sent: Int) -> [UInt8] {
        let frame = peer.frame(1, [UInt8](repeating: 0x61, count: size))
        return Array(frame.prefix(frame.count - (size - sent)))
    }

    @Test func twelveUnfinishedMessagesUnderARule() throws {
        let stage = try InterceptStage([Self.rule], memory: MemoryBudget(memory: 4 << 20))
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

    /// A body that inflates to more than bodies that are put together passes as it came, and is neither kept nor read.
    @Test func compressedBodiesUnderARule() throws {
        var packed: [UInt8] = []
        var compressor = MemberCompressor()
        let info = MemberInfo(events: 0, firstTime: 0, firstEvent: 0, opens: 0, firstConnection: 0)
        compressor.append([UInt8](repeating: 0x30, count: 4 << 20).span, info: info, level: 6, into: &packed)
        #expect(packed.count < 16 << 10)
        let head =
            "POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            + "Content-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"
        var servers: [ScriptedPeer] = []
        // The server never answers.
        let stage = try InterceptStage([Self.rule], memory: MemoryBudget(memory: 4 << 20)) { stream in
            servers.append(ScriptedPeer())
            return servers[servers.count - 1].serve(stream)
        }
        let clients = (0..<8).map { _ in
            let client = ScriptedPeer()
            client.onConnect = { $0.send(Array(head.utf8) + packed) }
            client.stream = stage.connect(client)
            return client
        }
        stage.run(1_000)
        #expect(servers.count == clients.count)
        #expect(servers.allSatisfy { $0.received.suffix(packed.count) == packed[...] })
        #expect(stage.memory.refused == 0 && stage.memory.used < 1 << 20)
        _ = stage.finish()
    }

    /// A body that is put together is counted for as long as its exchange is under way.
    @Test func bodiesOfExchangesUnderWay() throws {
        let body = [UInt8](repeating: 0x20, count: 700 << 10)
        let head =
            "POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: \(body.count)\r\n\r\n"
        let stage = try InterceptStage([Self.rule], memory: MemoryBudget(memory: 4 << 20)) { ScriptedPeer().serve($0) }
        let clients = (0..<8).map { _ in
            let client = ScriptedPeer()
            client.onConnect = { $0.send(Array(head.utf8) + body) }
            client.stream = stage.connect(client)
            return client
        }
        stage.run(5_000)
        #expect(stage.memory.used <= stage.memory.limit && stage.memory.refused > 0)
        #expect(clients.count { $0.end != nil } == stage.memory.refused)
        _ = stage.finish()
    }
}
