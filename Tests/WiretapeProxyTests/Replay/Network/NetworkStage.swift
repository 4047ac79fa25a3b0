import Testing
import WiretapeBytes
import WiretapeCodecs
import WiretapeFaults
import WiretapeProtocol
import WiretapeProxy
import WiretapeRecorder
import WiretapeReplay
internal import WiretapeReplayServer
import WiretapeReport
import WiretapeRuntime
import WiretapeSimulation
import WiretapeTape

/// A replay of a hand-written tape by the real server, on a simulated network.
final class NetworkStage {
    let loop: SimulatedLoop
    let server: ReplayService
    let address: Address
    let sessions: [RecordedSession]
    private(set) var logs: [String] = []

    /// A network without delays: what is due at a moment is there at that moment.
    static let instant: NetworkConditions = {
        var conditions = NetworkConditions.calm
        conditions.latency = 0...0
        return conditions
    }()

    /// - Parameter tape: lines of a sparse tape; the header is supplied.
    init(
        _ tape: String, faults: [String] = [], conditions: NetworkConditions = NetworkStage.instant,
        _ change: (inout ReplayOptions) -> Void = { _ in }
    ) throws {
        sessions = try Self.sessions(tape)
        var options = ReplayOptions()
        // These tapes are short: what comes first is what is looked at.
        options.greeting = .off
        change(&options)
        var plan = FaultPlan()
        for fault in faults { plan.append(try FaultRule(parsing: fault, from: RuleSource(file: "--fault"))) }
        loop = SimulatedLoop(seed: 1, conditions: conditions)
        let engine = ReplayEngine(
            sessions: sessions, tapeName: "chat.tape", options: options, faults: plan, seed: 1)
        server = ReplayService(
            loop, driver: engine, timeScale: options.clock.scale, hasManualClock: options.clock.isManual)
        address = try server.listen(on: Address(host: "127.0.0.1", port: 0))
        server.log = { [unowned self] in logs.append($0) }
    }

    private static func sessions(_ tape: String) throws -> [RecordedSession] {
        let text = #"{"tape":1,"protocol":"signalr","route":"/chat"}"# + "\n" + tape + "\n"
        var tape = try TapeReader(bytes: Array(text.utf8), name: "chat.tape")
        var reader = SessionReader(codecs: Codecs.all, header: tape.header)
        var messages: [DecodedMessage] = []
        while let next = try tape.next() {
            reader.read(next.event, number: next.number, line: next.line, isUnframed: next.isUnframed, into: &messages)
        }
        return reader.finish()
    }

    func run(ms: UInt64) { _ = loop.run(until: loop.now.advanced(by: ms * 1_000_000)) }

    /// The report; stops the server and wants nothing left over.
    func finish() -> ReplayReport {
        let report = server.report()
        var isDone = false
        server.stop { isDone = true }
        run(ms: 10_000)
        #expect(isDone && server.count == 0 && loop.violations == [])
        loop.shutdown()
        return report
    }
}
