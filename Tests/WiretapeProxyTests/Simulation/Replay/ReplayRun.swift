import Testing
import WiretapeBytes
import WiretapeFaults
import WiretapeProtocol
import WiretapeProxy
import WiretapeReplay
internal import WiretapeReplayServer
import WiretapeReport
import WiretapeRuntime
import WiretapeSamples
import WiretapeSimulation

/// One replay of a recorded session to the sample client, in virtual time.
struct ReplayRun {
    private(set) var report: ReplayReport
    /// What the application saw.
    private(set) var told: [String] = []
    private(set) var reached: Bool?
    /// When the client's attempts to come back began, in milliseconds after the loss.
    private(set) var loop: SimulatedLoop
    /// Everything that the server told its listener: the actual tape.
    private(set) var actual = StableHash()
    private(set) var problems: [String] = []

    init(
        _ sessions: [RecordedSession], _ script: SampleScript, seed: UInt64, conditions: NetworkConditions = .calm,
        speed: ReplayOptions.Speed = .factor(1), faults: [String] = [],
        _ change: (inout ReplayOptions) -> Void = { _ in }
    ) throws {
        let loop = SimulatedLoop(seed: seed, conditions: conditions)
        var options = ReplayOptions()
        options.speed = speed
        options.ending.until = .finished
        change(&options)
        var plan = FaultPlan()
        for fault in faults { plan.append(try FaultRule(parsing: fault, from: RuleSource(file: "--fault"))) }
        let engine = ReplayEngine(
            sessions: sessions, tapeName: "sample.tape", options: options, faults: plan, seed: seed)
        let memory = MemoryBudget()
        let server = ReplayService(loop, driver: engine, memory: memory)
        var hash = StableHash()
        server.observe = { hash.combine("\($0)") }
        var isOver = false
        server.ended = { isOver = true }
        let address = try server.listen(on: Address(host: "127.0.0.1", port: 0))
        let client = HubClient(loop, HubOptions(url: try #require(HubURL("http://\(address)/chat")), seed: seed))
        var lines: [String] = []
        var result: Bool?
        script.start(client, loop, told: { lines.append($0) }, ended: { result = $0 })
        // The run ends by itself, or when the client has given up and the engine has nothing more to wait for.
        loop.run(until: WireInstant(nanoseconds: 600_000_000_000), limit: 1_000_000) { !isOver }
        report = server.report()
        client.stop()
        var isStopped = false
        server.stop { isStopped = true }
        loop.run(limit: 100_000)
        if !isStopped { problems.append("stop() does not end") }
        if memory.used != 0 { problems.append("\(memory.used) bytes are held for nobody") }
        problems += loop.leaks.map { "open at the end: \($0)" } + loop.violations
        self.loop = loop
        reached = result
        told = lines
        actual = hash
    }
}
