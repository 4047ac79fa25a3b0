import Testing
import WiretapeBytes
import WiretapeProxy
import WiretapeReplay
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

/// What clients of a replay make it hold is bounded over all of them. The stage looks that nothing is held at the end.
@Suite struct ReplayMemoryTests {
    /// One mebibyte for all connections.
    private static func budget() -> MemoryBudget { MemoryBudget(memory: 2 << 20) }

    private func echo(_ driver: ScriptedDriver) {
        var ticket: UInt64 = 0
        driver.onRequest = { c, head, out in
            if head.method == "POST" {
                out.append(.respond(c, HTTPAnswer(status: 200, body: Array("yes".utf8)), thenClose: false))
            } else {
                out.append(.upgrade(c, headers: []))
            }
        }
        driver.onMessage = { c, opcode, bytes, out in
            ticket += 1
            out.append(.send(c, opcode, bytes, ticket: ticket))
        }
    }

    /// The head of a frame of so many bytes, and `sent` of them.
    private func unfinished(_ size: Int, _ sent: Int) -> [UInt8] {
        var out: [UInt8] = []
        FrameWriter.append(
            opcode: 1, payload: [UInt8](repeating: 0x61, count: size).span, mask: 0x1234_5678, into: &out)
        return Array(out.prefix(out.count - (size - sent)))
    }

    @Test func twelveUnfinishedMessages() throws {
        let stage = try ReplayStage(memory: Self.budget())
        echo(stage.driver)
        var most = 0
        let greedy = (0..<12).map { _ in
            stage.client {
                $0.send(ReplayStage.opening)
                $0.send(self.unfinished(400 << 10, 300 << 10))
            }
        }
        let good = stage.client { $0.send(ReplayStage.opening) }
        for _ in 0..<50 {
            stage.run(0.1)
            most = max(most, stage.memory.used)
            good.send(ReplayStage.frame("here"))
        }
        #expect(most <= stage.memory.limit)
        #expect(stage.memory.refused == 9)
        #expect(ReplayStage.messages(good.received).count >= 49)
        let ends = greedy.map { ReplayStage.messages($0.received) }
        #expect(ends.filter { $0 == ["close 1009"] }.count == 9)
        #expect(ends.filter { $0.isEmpty }.count == 3)
        stage.finish()
    }

    @Test func twelveUnfinishedBodies() throws {
        let stage = try ReplayStage(memory: Self.budget())
        echo(stage.driver)
        let body = String(repeating: "b", count: 300 << 10)
        let greedy = (0..<12).map { _ in
            stage.client { $0.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 400000\r\n\r\n" + body) }
        }
        stage.run(5)
        #expect(stage.memory.used <= stage.memory.limit)
        let good = stage.client { $0.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi") }
        stage.run(5)
        #expect(good.text.hasPrefix("HTTP/1.1 200 OK\r\n") && good.text.hasSuffix("yes"))
        #expect(greedy.filter { $0.text.hasPrefix("HTTP/1.1 503 ") && $0.text.contains("--memory") }.count == 9)
        #expect(greedy.filter { $0.text.isEmpty }.count == 3)
        stage.finish()
    }

    /// Of clients that have asked and wait.
    @Test func bodiesThatWaitForTheirAnswer() throws {
        let stage = try ReplayStage(memory: Self.budget())
        let body = String(repeating: "b", count: 300 << 10)
        let greedy = (0..<12).map { _ in
            stage.client { $0.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: \(300 << 10)\r\n\r\n" + body) }
        }
        stage.run(5)
        #expect(stage.memory.used <= stage.memory.limit)
        #expect(greedy.filter { $0.text.hasPrefix("HTTP/1.1 503 ") }.count == 9)
        stage.finish()
    }

    /// A few compressed bytes that become many.
    @Test func aMessageThatInflatesToMoreThanThereIs() throws {
        let stage = try ReplayStage(memory: Self.budget())
        stage.driver.onRequest = { c, _, out in
            let deflate = DeflateParameters(accepted: ["permessage-deflate"])
            out.append(.upgrade(c, headers: [], accept: nil, deflate: deflate))
        }
        let client = stage.client { peer in
            peer.send(ReplayStage.opening)
            var packed: [UInt8] = []
            var deflater = Deflater(windowBits: 15)
            _ = deflater.append([UInt8](repeating: 0x61, count: 4 << 20).span, flush: .message, into: &packed)
            var frame: [UInt8] = []
            FrameWriter.append(opcode: 1, rsv1: true, payload: packed.span, mask: 7, into: &frame)
            peer.send(frame)
        }
        stage.run(5)
        #expect(ReplayStage.messages(client.received) == ["close 1009"])
        #expect(!stage.driver.heard.contains { $0.contains("text") })
        stage.finish()
    }

    /// What is held is given back whatever the end was.
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func nothingIsHeldForThoseWhoAreGone(seed: UInt64) throws {
        let stage = try ReplayStage(seed: seed, conditions: .rough, memory: Self.budget())
        echo(stage.driver)
        for index in 0..<12 {
            _ = stage.client { peer in
                switch (UInt64(index) + seed) % 5 {
                case 0: peer.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n" + "unfinished")
                case 1: peer.send(ReplayStage.opening + self.unfinished(200_000, 150_000))
                case 2: peer.send(ReplayStage.opening + ReplayStage.frame(String(repeating: "m", count: 90_000)))
                case 3: peer.send("no HTTP at all\r\n\r\n")
                default: peer.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nyesGET /")
                }
                if index % 3 == 0 { peer.shut() }
                if index % 4 == 1 { peer.stream?.reset() }
            }
        }
        stage.run(30)
        stage.finish()
    }
}
