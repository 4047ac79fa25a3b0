import Testing
import WiretapeAttempts
import WiretapeProxy
import WiretapeReport
import WiretapeRuntime
import WiretapeSimulation

/// Ends and effects that rules bring to a WebSocket, seen by the client.
@Suite struct InterceptedEndTests {
    /// The server says `1`, `2`, `3` in one go, once the client has said `go`.
    private func stage(_ rules: [String], conditions: NetworkConditions = .calm) throws -> (InterceptStage, FramePeer) {
        let stage = try InterceptStage(rules, conditions: conditions)
        stage.onServer = { server in
            server.onMessage = { server, text in
                if text == "go" { for n in 1...3 { server.say("\(n)") } }
            }
        }
        let client = stage.client()
        client.onMessage = { client, text in if text == "open" { client.say("go") } }
        return (stage, client)
    }

    @Test func resetFollowsItsMessage() throws {
        let (stage, client) = try stage(["reset after message[2, direction=toClient]"])
        stage.run(1_000)
        #expect(client.texts == ["1", "2"])
        #expect(client.end?.how == .reset)
        // The client had 20 ms to read.
        #expect((client.end?.at ?? 0) - client.heard[1].at >= 19)
        #expect(stage.servers[0].end?.how == .reset)
        let report = stage.report
        #expect(report.faults.map(\.rule) == ["reset after message[2, direction=toClient]"])
        #expect(report.faults.map(\.cut) == [false])
        #expect(
            report.sessions.first?.attempts.first?.ended?.by == .fault("reset after message[2, direction=toClient]"))
        _ = stage.finish()
    }

    @Test func disconnectIsAFINWithoutACloseFrame() throws {
        let (stage, client) = try stage(["disconnect on message[3, direction=toClient]"])
        stage.run(1_000)
        #expect(client.texts == ["1", "2"])
        #expect(client.sawEnd != nil)
        #expect(client.end?.how == .closed)
        _ = stage.finish()
    }

    @Test(arguments: [
        (#"close(4403, "Forbidden") after message[1, direction=toClient]"#, "close 4403"),
        ("close(1012) after message[1, direction=toClient]", "close 1012"),
    ]) func closeFramesFollow(_ rule: String, _ expected: String) throws {
        let (stage, client) = try stage([rule])
        stage.run(1_000)
        #expect(client.texts == ["1", expected])
        #expect(client.end?.how == .closed)
        _ = stage.finish()
    }

    @Test func aClientThatIgnoresACloseFrameIsLetGo() throws {
        let (stage, client) = try stage(["close(4000) after message[1, direction=toClient]"])
        client.answersClose = false
        stage.run(4_000)
        #expect(client.sawEnd == nil)
        stage.run(2_000)
        #expect(client.sawEnd != nil)
        stage.run(6_000)
        #expect(client.end != nil)
        _ = stage.finish()
    }

    @Test(arguments: [(1, "disconnect"), (2, "reset"), (3, "disconnect")])
    func aFrameIsCut(_ bytes: Int, _ end: String) throws {
        let (stage, client) = try stage(["truncate(\(bytes)) + \(end) on message[2, direction=toClient]"])
        stage.run(1_000)
        #expect(client.raw == [0x81, 1, 0x31] + [0x81, 1, 0x32].prefix(bytes))
        #expect(client.end?.how == (end == "reset" ? .reset : .closed))
        _ = stage.finish()
    }

    @Test(arguments: [true, false]) func aStalledConnectionStays(isReset: Bool) throws {
        let (stage, client) = try stage(["stall(both) after message[1, direction=toClient]"])
        stage.run(1_000)
        let size = isReset ? 16_384 : 256
        for _ in 0..<100 { client.say(String(repeating: "x", count: size)) }
        stage.run(60_000)
        #expect(client.texts == ["1"])
        #expect(client.end == nil)
        // The window is full.
        #expect(!isReset || (client.stream?.queued ?? 0) > 500_000)
        #expect(stage.servers[0].end == nil)
        let begin = client.now
        if isReset { client.stream?.reset() } else { client.stream?.halfClose() }
        stage.run(6_000)
        // Its end is noticed and timed, although nothing is read.
        let end = try #require(stage.report.sessions.first?.attempts.first?.ended)
        #expect(end.by == .client)
        #expect(end.how == (isReset ? .reset : .fin))
        #expect(end.time / 1_000_000 - begin < 4_000)
        _ = stage.finish()
    }

    @Test func aClientThatComesBackHasGivenUpTheSilentConnection() throws {
        let (stage, client) = try stage(["stall(both, 60s) + reset after message[1, direction=toClient] max=1"])
        stage.run(10_000)
        #expect(client.texts == ["1"] && client.end == nil)
        // Told when the silence begins, not when the end behind it comes.
        #expect(stage.report.faults.map { $0.time / 1_000_000_000 } == [0])
        let again = stage.client()
        again.onMessage = { client, text in if text == "open" { client.say("go") } }
        stage.run(1_000)
        #expect(again.texts == ["1", "2", "3"])
        let report = stage.report
        #expect(report.sessions.map(\.attempts.count) == [2])
        #expect(report.sessions.first?.attempts.first?.ended?.how == .givenUp)
        client.stream?.reset()
        again.stream?.halfClose()
        stage.run(100)
        #expect(stage.report.faults.count == 1)
        _ = stage.finish()
    }

    @Test func aRunBeginsWithItsFirstClient() throws {
        let stage = try InterceptStage(["reset since run=2s"])
        stage.run(10_000)
        let client = stage.client()
        stage.run(1_000)
        #expect(client.end == nil)
        stage.run(1_500)
        #expect(client.end?.how == .reset)
        #expect(stage.report.sessions.first?.attempts.first.map { $0.start < 1_000_000_000 } == true)
        _ = stage.finish()
    }

    @Test func aStallEnds() throws {
        let (stage, client) = try stage(["stall(out, 2s) after message[1, direction=toClient]"])
        stage.run(1_000)
        #expect(client.texts == ["1"])
        stage.run(2_000)
        #expect(client.texts == ["1", "2", "3"])
        #expect((2_000...2_010).contains(client.heard[1].at - client.heard[0].at))
        client.stream?.halfClose()
        _ = stage.finish()
    }

    @Test func mutedPingsStop() throws {
        let (stage, client) = try stage(["mute(websocket) after message[1, direction=toClient]"])
        stage.run(100)
        stage.servers[0].ping()
        client.ping()
        stage.run(100)
        #expect(client.texts == ["1", "2", "3"])
        #expect(stage.servers[0].texts == ["go", "ping"])
        client.stream?.halfClose()
        _ = stage.finish()
    }

    @Test func aSlowLinkIsExact() throws {
        let stage = try InterceptStage(["throttle(10kB/s) after upgrade"])
        stage.onServer = { server in
            server.onMessage = { server, _ in server.say(String(repeating: "x", count: 30_000)) }
        }
        let client = stage.client()
        client.onMessage = { client, text in if text == "open" { client.say("go") } }
        stage.run(1_100)
        let before = client.raw.count
        stage.run(1_000)
        #expect((9_500...10_500).contains(client.raw.count - before))
        client.stream?.reset()
        _ = stage.finish()
    }

    @Test func slicesAreSmallWrites() throws {
        let (stage, client) = try stage(["slice(1, 10ms) after upgrade"])
        stage.run(1_000)
        #expect(client.texts == ["1", "2", "3"])
        // Nine bytes, 10 ms apart, and the client's own three messages before.
        #expect(client.heard[2].at - client.heard[0].at >= 55)
        client.stream?.halfClose()
        _ = stage.finish()
    }

    /// Acceptance 4b on the simulated network: slow readers, small windows.
    @Test func aResetNeverEatsWhatItFollows() throws {
        for seed in 1...25 as ClosedRange<UInt64> {
            let stage = try InterceptStage(
                ["reset after message[20, direction=toClient]"], seed: seed, conditions: .rough)
            let text = String(repeating: "x", count: 10_000)
            stage.onServer = { server in
                server.onMessage = { server, _ in for n in 1...30 { server.say("\(n) \(text)") } }
            }
            let client = stage.client()
            client.onMessage = { client, text in if text == "open" { client.say("go") } }
            stage.run(60_000)
            #expect(client.texts.count == 20, "seed \(seed)")
            #expect(client.end?.how == .reset, "seed \(seed)")
            _ = stage.finish()
        }
    }
}
