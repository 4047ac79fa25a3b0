import Testing
import WiretapeAttempts
import WiretapeBytes
import WiretapeProxy
import WiretapeReplay
internal import WiretapeReplayServer
import WiretapeReport
import WiretapeSimulation
import WiretapeWire

/// A client that waits 0, 2, 10 and 30 s between its attempts, by a clock of its own: the report shows those delays.
@Suite struct ClientClockTests {
    private static let second: UInt64 = 1_000_000_000
    private static let delays: [UInt64] = [0, 2 * second, 10 * second, 30 * second]
    private static let tape = """
        {"d":"<","after":"10ms","json":{"type":1,"target":"Tick","arguments":[1]}}
        {"d":"<","after":"10ms","json":{"type":1,"target":"Tick","arguments":[2]}}
        """
    private static let faults = ["reset after Tick[1]", "respond(503) on connect[retry=1..3]"]

    /// - Parameter most: nanoseconds that a delay may be longer.
    private func check(_ report: ReplayReport, most: UInt64) {
        #expect(report.verdict == .pass, "\(report.reasons)")
        #expect(report.expectations.map(\.met) == [true])
        let delays = report.sessions[0].attempts.compactMap(\.delay)
        #expect(delays.count == Self.delays.count)
        for (delay, wanted) in zip(delays, Self.delays) { #expect((wanted...wanted + most).contains(delay)) }
        #expect(report.sessions[0].attempts.map(\.outcome) == [.connected, .status, .status, .status, .connected])
    }

    /// The client's clock runs a hundred times as fast as ours: it waits a hundredth.
    @Test(arguments: [Transport.ws, .sse, .lp]) func aHundredTimesAsFast(_ transport: Transport) throws {
        let policy = try Expectation.parse("delays(0s, 2s, 10s, 30s)")
        let stage = try NetworkStage(Self.tape, faults: Self.faults) {
            $0.clock.scale = 100
            $0.expectations = [policy]
        }
        var habits = ClientHabits()
        habits.transport = transport
        habits.delays = Self.delays.map { $0 / 100 }
        let client = ModelClient("model", stage.sessions, habits, seed: 1, start: stage.loop.now)
        let peer = ModelPeer(client, stage.loop, stage.address)
        stage.run(ms: 1_000)
        #expect(client.phase == .over && client.delays == habits.delays)
        // A new connection takes up to 0.1 ms there.
        check(stage.finish(), most: 10_000_000)
        peer.close()
    }

    /// Client and server live by a clock that is moved by hand: whatever the network takes, the delays are exact.
    @Test(arguments: [Transport.ws, .sse, .lp], [false, true])
    func movedByHand(_ transport: Transport, isRough: Bool) throws {
        let policy = try Expectation.parse("delays(0s, 2s, 10s, 30s)")
        let stage = try NetworkStage(Self.tape, faults: Self.faults, conditions: isRough ? .rough : .calm) {
            $0.clock.isManual = true
            $0.expectations = [policy]
        }
        var habits = ClientHabits()
        habits.transport = transport
        habits.delays = Self.delays
        let client = ModelClient("model", stage.sessions, habits, seed: 1, start: stage.server.now)
        let peer = ModelPeer(client, stage.loop, stage.address) { stage.server.now }
        for _ in 0..<200 where client.phase != .over {
            peer.wake()
            stage.run(ms: 200)
            guard client.phase != .over else { break }
            // To the next thing that either of them waits for; the tape's gaps are whole milliseconds.
            let next = client.phase == .waiting ? client.nextWake?.since(stage.server.now) : nil
            stage.server.advance(by: next ?? 10_000_000)
        }
        #expect(client.phase == .over && client.delays == habits.delays)
        check(stage.finish(), most: 0)
        peer.close()
    }
}
