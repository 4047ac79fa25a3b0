internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeCodecs
package import WiretapeCommandLine
package import WiretapeControl
internal import WiretapeIntercept
internal import WiretapeNet
internal import WiretapeProtocol
internal import WiretapeProxy
package import WiretapeRecorder
internal import WiretapeReport
package import WiretapeRuntime
internal import WiretapeSystem
internal import WiretapeTapeTools
internal import WiretapeWire

/// The relays of `record` and `proxy` on all their loops. The first loop is that of the ``RunShell``, on the main thread.
package final class RelayRun {
    private let plan: RelayPlan
    private let shell: RunShell
    private let log: Log
    private let writer: TapeWriter?
    private let numbers = ConnectionNumbers()
    private let ledger: UpstreamLedger
    private let leadBack: (rules: LeadBackRules, book: LeadBackBook, codecs: [CodecEntry])?
    private let places: ClientPlaces
    private let connector: UpstreamConnector
    private var relays: LoopRelays?
    private var threads: [LoopThread] = []
    private let others = Gate(OtherLoops())
    private var watch: (any LoopTimer)?
    private let faults: LiveFaults?
    private let faultControl: FaultControl?
    /// What somebody is told as it happens, and who may act on the run.
    private let follower: RelayFollower?
    /// What connections hold that rules may touch; they are all on the first loop.
    private let memory: MemoryBudget
    /// What the run had come to before it was stopped.
    private(set) var report: ReplayReport?

    /// What the other loops tell the main thread.
    private struct OtherLoops: Sendable {
        /// Loops whose relays are still open.
        var open = 0
        /// The recording failed there.
        var hasFailed = false
    }

    /// - Parameters:
    ///   - seed: of the rules' draws.
    ///   - writer: of the tape; nil to relay without recording.
    ///   - follower: nil: nobody is told what happens.
    ///   - log: what went wrong with upstreams is told there as it happens.
    package init(
        _ plan: RelayPlan, _ shell: RunShell, _ connector: UpstreamConnector, seed: UInt64, writer: TapeWriter?,
        _ follower: RelayFollower?, _ log: Log
    ) {
        ledger = UpstreamLedger { log.error($0) }
        let book = LeadBackBook(tell: { log.info($0) }, warn: { log.warning($0) })
        leadBack = plan.leadBack.map { ($0, book, Codecs.all) }
        places = ClientPlaces(perClient: 2, lending: .untilTheyAsk) { log.error($0) }
        faults =
            plan.watches
            ? LiveFaults(
                plan.faults.plan, seed: seed, codecs: Codecs.all,
                observes: plan.report != nil || !plan.expectations.isEmpty, at: shell.loop.now) : nil
        faults?.subscribers = Subscribers(plan.expectations)
        let memory = MemoryBudget(memory: plan.memory)
        memory.log = { log.warning($0) }
        self.memory = memory
        self.follower = follower
        if follower != nil { faults?.follow() }
        faultControl = faults.map { FaultControl(shell.loop, $0, memory: memory) }
        self.plan = plan
        self.shell = shell
        self.log = log
        self.writer = writer
        self.connector = connector
    }

    /// Whether an upstream has answered a request.
    package var hasAnswers: Bool { ledger.hasAnswered }

    /// What went wrong with upstreams, and who was not let in, in one line; nil: nothing.
    package var troubles: String? {
        let all = [ledger.summary, places.summary].compactMap(\.self)
        return all.isEmpty ? nil : all.joined(separator: "; ")
    }

    /// Connections accepted so far.
    package var connections: UInt32 { numbers.count }

    /// Listens on all loops.
    /// - Parameters:
    ///   - addresses: one for each of the plan's listeners.
    ///   - opened: what is behind listeners with TLS, and behind a proxy.
    /// - Returns: where clients connect, for each listener.
    package func start(_ addresses: [Address], _ opened: TLSDoors.Opened) throws -> [(name: String, url: String)] {
        try plan.report?.prepare()
        let doors = plan.listens.map { $0.origin.isTLS ? opened.door : nil }
        let forward = plan.forwardPlan(opened, log)
        let upstreams = plan.listenedUpstreams
        let shared = LoopRelays.Shared(
            loop: shell.loop, tap: tap(), numbers: numbers,
            options: plan.options, admission: Admission(shell.loop, limits: plan.limits, places: places),
            pressure: RelayPressure(shell.loop, memory: plan.memory, loops: plan.threads),
            faults: faultControl, ledger: ledger, leadBack: leadBack,
            connect: connector.connect(on: shell.loop), own: plan.isTransparent ? OwnStreams() : nil)
        // Lifetime: the run outlives its loop's run, within which this is called.
        let first = LoopRelays(shared, upstreams, forward: forward) { [unowned self] in shell.finish() }
        relays = first
        let real = try first.listen(on: addresses, doors: doors, reusePort: plan.threads > 1)
        for index in 1..<max(1, plan.threads) {
            let thread = LoopThread(name: "loop-\(index)")
            try thread.start()
            threads.append(thread)
            try startOther(thread, index, upstreams, forward, real, doors)
        }
        if !threads.isEmpty, writer != nil { watchOthers() }
        Listening.limit(places, reserved: plan.control == nil ? 0 : ControlDoor.mostConnections)
        return real.indices.map {
            (plan.listenerName($0), Listening.url(real[$0], isTLS: doors[$0] != nil))
        }
    }

    /// The recorder's end on the first loop, which tells the follower what passes.
    private func tap() -> Tap? {
        guard let follower, let faultControl else { return writer.map { Tap(shell.loop, index: 0, sink: $0) } }
        return follower.tap(writer, faultControl, plan, on: shell.loop)
    }

    /// Opens the control API, if it is wanted.
    package func openControl(_ ready: inout ReadyLine, maker: (any RunMaker)? = nil) throws {
        try follower?.openControl(plan.control, &ready, maker: maker, on: shell.loop)
    }

    private func startOther(
        _ thread: LoopThread, _ index: Int, _ upstreams: [Upstream], _ forward: ForwardPlan?, _ addresses: [Address],
        _ doors: [TLSDoor?]
    ) throws {
        let (writer, numbers, options, connector, others) = (writer, numbers, plan.options, connector, others)
        let (ledger, limits, places, leadBack) = (ledger, plan.limits, places, leadBack)
        let (memory, loops) = (plan.memory, plan.threads)
        try thread.call { loop in
            let shared = LoopRelays.Shared(
                loop: loop, tap: writer.map { Tap(loop, index: index, sink: $0) }, numbers: numbers, options: options,
                admission: Admission(loop, limits: limits, places: places),
                pressure: RelayPressure(loop, memory: memory, loops: loops),
                ledger: ledger, leadBack: leadBack,
                connect: connector.connect(on: loop))
            let relays = LoopRelays(shared, upstreams, forward: forward) { others.update { $0.hasFailed = true } }
            loop.residents.append(relays)
            _ = try relays.listen(on: addresses, doors: doors, reusePort: true)
        }
        others.update { $0.open += 1 }
    }

    /// Nothing wakes the main thread's loop from outside: it looks.
    private func watchOthers() {
        // Lifetime: the run closes its timer before it goes.
        watch = shell.loop.timer { [unowned self] in
            if others.withLock({ $0.hasFailed }) { return shell.finish() }
            watch?.arm(at: shell.loop.now.advanced(by: 100_000_000))
        }
        watch?.arm(at: shell.loop.now)
    }

    /// Ends all connections. The shell is told when those of its own loop are closed.
    package func stop() {
        // Nobody is judged without a report.
        guard faults != nil else { return judgeAndStop() }
        RelaySettling.settle(shell.loop) { [self] in judgeAndStop() }
    }

    private func judgeAndStop() {
        report = faults?.report(
            follower?.expectations ?? plan.expectations, clientsAreGone: shell.commandHasEnded, at: shell.loop.now)
        watch?.close()
        watch = nil
        let others = others
        for thread in threads {
            thread.post { loop in
                for case let relays as LoopRelays in loop.residents {
                    relays.stop { others.update { $0.open -= 1 } }
                }
            }
        }
        let done = { [shell, follower, report] in
            guard let follower else { return shell.workStopped() }
            follower.stop(report) { shell.workStopped() }
        }
        if let relays { relays.stop(done) } else { done() }
    }

    /// Writes the report, if one is wanted.
    /// - Returns: the run's verdict, which is `own` unless the report speaks against a pass.
    package func tell(_ own: Verdict, _ end: RunEnd, _ log: Log) throws -> Verdict {
        if let summary = memory.summary { log.warning(summary) }
        guard var report = report ?? faults?.report(plan.expectations, at: shell.loop.now) else { return own }
        report.commandExit = end.commandExit
        let words = (faults?.ruleNames ?? []) + plan.expectations.map(\.text)
        let masked = { log.masked($0, sparing: words) }
        try plan.report?.write(report, suite: "live", command: plan.asked.again(seed: report.seed), masked: masked)
        if log.level == .info { Console.error.write(masked(report.text)) }
        guard own.code == 0, report.exitCode != 0 else { return own }
        return Verdict(.failed, report.exitCode, masked(report.summary))
    }

    /// Writes the last line of `--events`.
    package func tellEnd(_ verdict: Verdict, _ end: RunEnd, _ log: Log) -> Verdict {
        let lacking = follower?.end(verdict, at: shell.loop.now, command: end.commandExit)
        return lacking?.told(with: verdict, log) ?? verdict
    }

    /// Waits for the other loops, after ``stop()`` and the shell's end.
    package func finish() {
        others.wait(until: { $0.open == 0 }) { _ in }
        abandon()
    }

    /// Ends the other loops without waiting for their connections.
    package func abandon() {
        for thread in threads { thread.stop() }
        threads = []
    }
}
