internal import WiretapeBytes
internal import WiretapeCodecs
internal import WiretapeCommandLine
internal import WiretapeControl
internal import WiretapeIntercept
internal import WiretapeNet
internal import WiretapeProxy
internal import WiretapeRecorder
internal import WiretapeRuntime
internal import WiretapeServing
internal import WiretapeSystem
internal import WiretapeTape

/// A recording on a loop that others use, too. Kept by the ``WiretapeControl/ControlledRelay`` that stands for it.
final class HostedRecording {
    private let relays: LoopRelays
    private let recorded: RecordedEvents
    private let writer: TapeWriter
    private let ledger: UpstreamLedger
    private let loop: UVLoop
    private var timer: (any LoopTimer)?

    private init(
        _ relays: LoopRelays, _ recorded: RecordedEvents, _ writer: TapeWriter, _ ledger: UpstreamLedger, _ loop: UVLoop
    ) {
        self.relays = relays
        self.recorded = recorded
        self.writer = writer
        self.ledger = ledger
        self.loop = loop
    }

    /// - Parameter done: called when its listeners accept; never within this call.
    static func start(
        _ command: RecordCommand, on loop: UVLoop, _ log: Log,
        _ done: @escaping (Result<any ControlledRun, ControlError>) -> Void
    ) throws {
        let plan = command.plan
        guard plan.threads == 1 else { throw ControlError(400, "--threads: a run of the control API has one loop") }
        let addresses = try plan.listens.map { try RunFactory.address($0.origin) }
        let connector = try UpstreamConnector(plan)
        let doors = try plan.openDoors(log)
        let own = Log(plan.asked)
        guard let events = try RunEvents(nil, isControlled: true, own.rules) else { throw Failure("no journal") }
        let writer = try command.openTape(log)
        let seed = plan.faults.seed ?? UInt64.random(in: 0..<1 << 53)
        let live = LiveFaults(plan.faults.plan, seed: seed, codecs: Codecs.all, observes: true, at: loop.now)
        live.follow()
        let control = FaultControl(loop, live, memory: MemoryBudget(memory: plan.memory))
        let started = loop.now
        let journal = events.journal
        let recorded = RecordedEvents(writer, origin: started, memory: plan.memory / 4) { journal.passed($0) }
        let tap = Tap(loop, index: 0, sink: recorded)
        let ledger = UpstreamLedger { log.error($0) }
        let book = LeadBackBook(tell: { log.info($0) }, warn: { log.warning($0) })
        let shared = LoopRelays.Shared(
            loop: loop, tap: tap, numbers: ConnectionNumbers(), options: plan.options,
            admission: Admission(loop, limits: plan.limits),
            pressure: RelayPressure(loop, memory: plan.memory), faults: control, ledger: ledger,
            leadBack: plan.leadBack.map { ($0, book, Codecs.all) },
            connect: connector.connect(on: loop), own: plan.isTransparent ? OwnStreams() : nil)
        let relays = LoopRelays(shared, plan.listenedUpstreams, forward: plan.forwardPlan(doors, log)) {
            log.error("the recording on \(command.output) has failed")
        }
        let real: [Address]
        do {
            real = try relays.listen(
                on: addresses, doors: plan.listens.map { $0.origin.isTLS ? doors.door : nil }, reusePort: false)
        } catch {
            relays.stop {}
            writer.discard()
            throw error
        }
        let hosted = HostedRecording(relays, recorded, writer, ledger, loop)
        let urls = plan.listens.indices.map { i in
            (
                name: plan.listenerName(i),
                url: Listening.url(real[i], isTLS: plan.listens[i].origin.isTLS)
            )
        }
        var place = ReadyLine(urls: urls, seed: seed)
        place.bypass = plan.bypass
        let run = ControlledRelay(
            .record, control, on: loop, started: started, journal: journal,
            place: place.members(pid: ThisProcess.id), expectations: plan.expectations,
            tap: { [weak tap] in tap }, masked: own.masked(_:sparing:), end: { hosted.end($0) })
        recorded.batchEnded = { [weak run] in run?.tellNews() }
        // As a replay answers: behind this call.
        let timer = loop.timer {
            hosted.timer?.close()
            hosted.timer = nil
            done(.success(run))
        }
        hosted.timer = timer
        timer.arm(at: loop.now)
    }

    /// Ends all connections, and the tape on a thread of its own: the disk may take its time.
    private func end(_ done: @escaping (String?) -> Void) {
        relays.stop { [self] in
            recorded.finish()
            let outcome = Gate<TapeTotals?>(nil)
            let writer = writer
            do {
                _ = try Thread(name: "tape-end") {
                    let totals = writer.finish()
                    outcome.update { $0 = totals }
                }
            } catch {
                outcome.update { $0 = writer.finish() }
            }
            let timer = loop.timer { [self] in
                guard let totals = outcome.withLock({ $0 }) else {
                    return self.timer?.arm(at: loop.now.advanced(by: TapeLoading.look)) ?? ()
                }
                self.timer?.close()
                self.timer = nil
                if let failure = totals.failure { return done("\(failure)") }
                guard ledger.hasAnswered else {
                    return done(
                        "no request was answered by an upstream: \(ledger.summary ?? (totals.connections == 0 ? "no client came" : "no request was passed on"))"
                    )
                }
                done(nil)
            }
            self.timer = timer
            timer.arm(at: loop.now)
        }
    }
}
