import Testing
import WiretapeAttempts
import WiretapeBytes
import WiretapeCodecs
import WiretapeFaults
import WiretapeNet
import WiretapeProxy
import WiretapeReplay
internal import WiretapeReplayServer
import WiretapeReport
import WiretapeRuntime

/// The faults that kernels have a say in, on real sockets.
@Suite struct FaultSocketTests {
    /// Runs a client against a replay until `isOver`, looked at every 10 ms, or for ten seconds.
    private func run(
        _ rules: [String], ticks: Int = 6, text: String = "",
        until isOver: @escaping (FaultClient, ReplayService) -> Bool
    ) throws -> (FaultClient, ReplayReport) {
        let loop = try UVLoop()
        var plan = FaultPlan()
        for rule in rules { plan.append(try FaultRule(parsing: rule, from: RuleSource(file: "--fault"))) }
        var options = ReplayOptions()
        options.ending.until = .signal
        options.speed = .instant
        let engine = ReplayEngine(
            sessions: [FaultStage.session(ticks: ticks, every: 1, text: text)], tapeName: "t.tape", options: options,
            faults: plan, seed: 1)
        let server = ReplayService(loop, driver: engine)
        let address = try server.listen(on: Address(host: "127.0.0.1", port: 0))
        let client = FaultClient(
            loop, first: ReplayStage.opening + ReplayStage.frame(#"{"protocol":"json","version":1}"# + "\u{1e}"))
        client.stream = loop.connect(to: address, client)
        let deadline = loop.now.advanced(by: 10_000_000_000)
        var timer: (any LoopTimer)?
        let watch = loop.timer {
            guard isOver(client, server) || loop.now >= deadline else {
                timer?.arm(at: loop.now.advanced(by: 10_000_000))
                return
            }
            client.stream?.reset()
            server.stop(grace: 100_000_000) {
                timer?.close()
                timer = nil
            }
        }
        timer = watch
        watch.arm(at: loop.now.advanced(by: 10_000_000))
        loop.run()
        let report = server.report()
        loop.shutdown()
        return (client, report)
    }

    @Test func theResetComesBehindEverything() throws {
        let text = String(repeating: "x", count: 20_000)
        let (client, _) = try run(["reset after Tick[10]"], ticks: 12, text: text) { client, _ in client.end != nil }
        #expect(client.messages == ["{}"] + (1...10).map { FaultStage.tick($0, text) })
        #expect(client.end?.how == .reset)
    }

    @Test func aCutFrameThenAReset() throws {
        let (client, _) = try run(["truncate(7) + reset on Tick[2]"]) { client, _ in client.end != nil }
        let wanted = FaultStage.frame(1) + FaultStage.frame(2).prefix(7)
        #expect(Array(client.body.suffix(wanted.count)) == wanted)
        #expect(client.end?.how == .reset)
    }

    @Test func aStalledClientThatLeavesIsNoticed() throws {
        var leftAt: WireInstant?
        let (client, report) = try run(["stall after Tick[1]"]) { client, server in
            guard leftAt == nil else { return server.report().sessions.first?.attempts.first?.ended != nil }
            // The stall comes 20 ms behind the message.
            guard client.messages.contains(FaultStage.tick(1)), let last = client.arrivals.last?.at,
                client.now.since(last) > 200_000_000
            else { return false }
            leftAt = client.now
            client.send(ReplayStage.frame("unread"))
            client.stream?.halfClose()
            return false
        }
        #expect(client.messages == ["{}", FaultStage.tick(1)])
        #expect(report.sessions[0].attempts[0].ended?.by == .client)
        #expect(client.finAt == nil)
    }
}
