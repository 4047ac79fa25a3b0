import Testing
import WiretapeAttempts
import WiretapeProxy
import WiretapeReplay
internal import WiretapeReplayServer
import WiretapeReport
import WiretapeSimulation
import WiretapeWire

/// A replay that is held by stepping, and a client that gives its server up after 30 s of silence.
@Suite struct InterceptedClientTests {
    private static let tape = """
        {"d":"<","after":"1s","json":{"type":1,"target":"Tick","arguments":[1]}}
        {"d":"<","after":"1s","json":{"type":1,"target":"Tick","arguments":[2]}}
        """

    private func stage(
        _ transport: Transport, _ keepalive: ReplayOptions.Keepalive
    ) throws -> (stage: NetworkStage, peer: ModelPeer) {
        let stage = try NetworkStage(Self.tape) {
            $0.speed = .step
            $0.keepalive = keepalive
        }
        var habits = ClientHabits()
        habits.transport = transport
        // Long polling has no keepalives: its clients give a poll 100 s.
        habits.serverTimeout = transport == .lp ? 100_000_000_000 : 30_000_000_000
        habits.pings = 15_000_000_000
        habits.delays = [60_000_000_000]
        let client = ModelClient("model", stage.sessions, habits, seed: 1, start: stage.loop.now)
        return (stage, ModelPeer(client, stage.loop, stage.address))
    }

    @Test(arguments: [Transport.ws, .sse, .lp]) func heldForTwoMinutesItStays(_ transport: Transport) throws {
        let (stage, peer) = try stage(transport, .auto)
        stage.run(ms: 120_000)
        #expect(peer.client.phase == .ready && peer.client.generation == 1 && peer.client.delays == [])
        #expect(peer.client.plays[0].counts == [0, 1, 0, 0] && stage.logs == [])
        stage.server.step(1)
        stage.run(ms: 120_000)
        #expect(peer.client.plays[0].counts == [0, 1, 1, 0] && peer.client.generation == 1)
        stage.server.step(1)
        stage.run(ms: 10_000)
        #expect(peer.client.plays[0].counts == [0, 1, 1, 1] && peer.client.phase == .over)
        #expect(peer.client.violations == [])
        let report = stage.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished && report.sessions[0].attempts.count == 1)
        peer.close()
    }

    @Test(arguments: [Transport.ws, .sse]) func withoutKeepalivesItTimesOut(_ transport: Transport) throws {
        let (stage, peer) = try stage(transport, .off)
        stage.run(ms: 29_000)
        #expect(peer.client.phase == .ready && peer.client.generation == 1)
        stage.run(ms: 2_000)
        #expect(peer.client.phase == .waiting)
        let attempt = try #require(stage.finish().sessions[0].attempts.first)
        let ended = try #require(attempt.ended)
        #expect(ended.by == .client && ended.time / 1_000_000_000 == 30)
        peer.close()
    }
}
