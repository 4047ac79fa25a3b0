internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeCommandLine
package import WiretapeControl
internal import WiretapeNet
internal import WiretapeProxy
internal import WiretapeRecorder
internal import WiretapeReport
internal import WiretapeRuntime
internal import WiretapeSystem
internal import WiretapeTape

/// Who is told what happens in a run of `record` or `proxy` as it happens: `--events`, and the control API. Belongs to the first loop.
package final class RelayFollower {
    private let events: RunEvents
    private let kind: ControlledRunKind
    private let log: Log
    private var started = WireInstant.zero
    private var recorded: RecordedEvents?
    private var tap: Tap?
    private var run: ControlledRelay?
    private var api: ControlServer?

    /// Nil when nobody wants to know.
    package init?(_ kind: ControlledRunKind, _ plan: RelayPlan) throws {
        let log = Log(plan.asked)
        self.log = log
        guard let events = try RunEvents(plan.events, isControlled: plan.control != nil, log.rules) else { return nil }
        self.events = events
        self.kind = kind
    }

    /// What clients are held to; nil before the run has begun.
    var expectations: [Expectation]? { run?.expectations }

    /// The recorder's end of the loop, which tells what passes.
    func tap(_ writer: TapeWriter?, _ faults: FaultControl, _ plan: RelayPlan, on loop: UVLoop) -> Tap {
        started = loop.now
        let recorded = RecordedEvents(writer, origin: started, memory: plan.memory / 4) { [events] in
            events.passed($0)
        }
        let tap = Tap(loop, index: 0, sink: recorded)
        let run = ControlledRelay(
            kind, faults, on: loop, started: started, journal: events.journal, expectations: plan.expectations,
            // Lifetime: the run ends with the command, which has the tap until then.
            tap: { [weak tap] in tap }, masked: log.masked(_:sparing:), end: { $0(nil) })
        recorded.batchEnded = { run.tellNews() }
        self.recorded = recorded
        self.tap = tap
        self.run = run
        return tap
    }

    /// Opens the control API, if it is wanted.
    func openControl(
        _ door: ControlDoor?, _ ready: inout ReadyLine, maker: (any RunMaker)?, on loop: UVLoop
    ) throws {
        guard let run else { return }
        if let door {
            let (api, url) = try door.open(on: loop, maker: maker)
            ready.control = (url, door.token)
            run.place = ready.members(pid: ThisProcess.id)
            api.add(run)
            self.api = api
        }
        events.ready(ready)
    }

    /// All connections are closed, and the recorder has all of them.
    func stop(_ report: ReplayReport?, _ done: @escaping () -> Void) {
        recorded?.finish()
        run?.tellNews()
        run?.tellNews()
        guard let api, let run else { return done() }
        events.ending(report ?? run.report(), masked: run.masked, at: run.elapsed)
        api.stop(done)
    }

    /// - Returns: why the lines are not complete; nil when they are.
    func end(_ verdict: Verdict, at now: WireInstant, command: Int32?) -> IncompleteEvents? {
        events.end(verdict, at: now.since(started), command: command)
    }

    /// Does `body`, and tells why when it throws: whoever reads the events has a last line.
    package static func telling(_ follower: RelayFollower?, _ body: () throws -> Int32) throws -> Int32 {
        do {
            return try body()
        } catch let failure as Failure {
            follower?.fail(failure)
            throw failure
        } catch let error as TapeError {
            follower?.fail(Failure(error.description, code: error.exitCode))
            throw error
        } catch {
            follower?.fail(Failure("\(error)"))
            throw error
        }
    }

    private func fail(_ failure: Failure) {
        _ = events.end(Verdict(.failed, failure.code, log.masked(failure.reason)), at: 0, command: nil)
    }
}
