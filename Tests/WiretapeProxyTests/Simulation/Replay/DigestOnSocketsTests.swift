import Testing
import WiretapeFaults
import WiretapeNet
import WiretapeProxy
import WiretapeReplay
internal import WiretapeReplayServer
import WiretapeReport
import WiretapeRuntime
import WiretapeSamples

/// The digest of a replay on real sockets is that of virtual time.
@Suite(.timeLimit(.minutes(15))) struct DigestOnSocketsTests {
    @Test func speedsAndThinkTimes() throws {
        let calls = try RecordedSample(.calls(think: 20_000_000))
        let simulated = try ReplayRun(calls.sessions, .calls(think: 20_000_000), seed: 1).report.digest
        for (speed, think) in [
            (ReplayOptions.Speed.instant, 1_000_000), (.factor(10), 2_000_000), (.factor(4), 6_000_000),
        ] as [(ReplayOptions.Speed, UInt64)] {
            let loop = try UVLoop()
            defer { loop.shutdown() }
            var options = ReplayOptions()
            options.speed = speed
            options.ending.until = .finished
            let engine = ReplayEngine(
                sessions: calls.sessions, tapeName: "sample.tape", options: options, faults: FaultPlan(), seed: 1)
            let server = ReplayService(loop, driver: engine)
            let address = try server.listen(on: Address(host: "127.0.0.1", port: 0))
            let client = HubClient(loop, HubOptions(url: try #require(HubURL("http://\(address)/chat")), seed: 1))
            var report: ReplayReport?
            var told: [String] = []
            server.ended = {
                report = server.report()
                server.stop {}
            }
            SampleScript.calls(think: think).start(client, loop, told: { told.append($0) }, ended: { _ in })
            // Ends when server and client are done.
            loop.run()
            #expect(report?.verdict == .pass, "\(report?.reasons ?? []) \(told)")
            #expect(report?.digest == simulated)
        }
    }
}
