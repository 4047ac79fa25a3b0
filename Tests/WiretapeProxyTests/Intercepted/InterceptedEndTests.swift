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

    /// No later message of the server passes during the pause.
    @Test(arguments: ["reset", "disconnect", "close(1012)", "delay(1s) + reset"])
    func aPauseComesBeforeTheEnd(_ action: String) throws {
        let isDelayed = action.hasPrefix("delay")
        let (stage, client) = try stage([
            "\(action) after message[1, direction=toClient]\(isDelayed ? "" : " + 1s")"
        ])
        stage.run(1_000)
        #expect(client.texts == ["1"] && client.sawEnd == nil && client.end == nil)
        #expect(stage.report.faults.isEmpty)
        stage.run(200)
        #expect(client.texts == (action.hasPrefix("close") ? ["1", "close 1012"] : ["1"]))
        #expect(client.sawEnd != nil || client.end != nil)
        #expect(stage.report.faults.map { $0.time >= 1_020_000_000 } == [true])
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
        #expect((begin - 1...begin + 4_000).contains(end.time / 1_000_000))
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

    /// The client leaves one second after the stall began and comes back two seconds later, before its FIN.
    @Test(arguments: [true, false]) func aClientThatLeavesDuringAStallIsDated(sendsCloseFrame: Bool) throws {
        let (stage, client) = try stage(["stall(both, 60s) after message[1, direction=toClient] max=1"])
        stage.run(1_000)
        client.say("unheard")
        if sendsCloseFrame { client.close(1000) } else { client.stream?.halfClose() }
        stage.run(2_000)
        let again = stage.client()
        again.onMessage = { client, text in if text == "open" { client.say("go") } }
        stage.run(1_000)
        let end = try #require(stage.report.sessions.first?.attempts.first?.ended)
        #expect(end.by == .client)
        #expect(end.how == (sendsCloseFrame ? .close(1000) : .fin))
        #expect((990...1_010).contains(end.time / 1_000_000))
        #expect(!stage.servers[0].texts.contains("unheard"))
        client.stream?.reset()
        again.stream?.halfClose()
        stage.run(100)
        _ = stage.finish()
    }

    /// The end of an event stream is seen in the socket when its client connects again.
    @Test func anEventStreamThatIsLeftDuringAStallIsDated() throws {
        let answer = HTTPOrigin.events + HTTPOrigin.chunk("data: 1\n\n")
        let stage = try InterceptStage(["stall(both, 60s) after message[1] max=1"]) {
            HTTPOrigin($0) { _, _, _ in answer }
        }
        func connect() -> ScriptedPeer {
            let peer = ScriptedPeer()
            peer.onConnect = { $0.send("GET /prices HTTP/1.1\r\nHost: p\r\nAccept: text/event-stream\r\n\r\n") }
            peer.stream = stage.connect(peer)
            return peer
        }
        let first = connect()
        stage.run(1_010)
        first.shut()
        stage.run(2)
        let again = connect()
        stage.run(500)
        let ended = stage.report.sessions.first?.attempts.first?.ended
        #expect(ended?.how == .fin && ended?.by == .client, "\(String(describing: ended))")
        again.shut()
        stage.run(100)
        _ = stage.finish()
    }

    @Test func whatAClientSendsDuringAStallArrivesAfterIt() throws {
        let (stage, client) = try stage(["stall(both, 2s) after message[1, direction=toClient] max=1"])
        stage.run(1_000)
        client.say("kept")
        client.close(1000)
        stage.run(500)
        #expect(stage.servers[0].texts == ["go"])
        stage.run(1_000)
        #expect(stage.servers[0].texts == ["go", "kept", "close 1000"])
        let end = stage.report.sessions.first?.attempts.first?.ended
        #expect(end?.how == .close(1000))
        #expect((990...1_010).contains((end?.time ?? 0) / 1_000_000))
        stage.run(6_000)
        _ = stage.finish()
    }

    /// A rule's close frame after the stall crosses the client's, which was kept.
    @Test func aKeptCloseFrameAnswersOurs() throws {
        let (stage, client) = try stage(["stall(both, 2s) + close(4000) after message[1, direction=toClient] max=1"])
        stage.run(1_000)
        client.close(1000)
        stage.run(1_500)
        #expect(client.texts.last == "close 4000")
        #expect(client.end != nil)
        _ = stage.finish()
    }

    /// Of what a stalled client sends, a little is kept. The rest waits in its kernel.
    @Test func whatIsKeptOfAStalledClientIsBounded() throws {
        let (stage, client) = try stage(["stall(both, 5s) after message[1, direction=toClient] max=1"])
        stage.run(1_000)
        for n in 1...200 { client.say("\(n) " + String(repeating: "x", count: 2_000)) }
        stage.run(2_000)
        #expect(stage.memory.used < 200 << 10, "\(stage.memory.used)")
        stage.run(10_000)
        #expect(stage.servers[0].texts.count == 201)
        client.stream?.halfClose()
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
