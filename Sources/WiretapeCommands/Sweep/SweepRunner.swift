internal import WiretapeBytes
internal import WiretapeCommandLine
internal import WiretapeNet
internal import WiretapeServing
internal import WiretapeSystem

/// Runs many jobs, some at a time, on one loop.
final class SweepRunner {
    struct Task {
        var name: String
        var rules: [String]
    }

    private let job: SweepJob
    private let jobs: Int
    private let deadline: WireInstant?
    private let loop: UVLoop
    private var waiting: ArraySlice<Task> = []
    private var running: [String: ChildProcess] = [:]
    private var results: [String: SweepOutcome] = [:]
    private var failure: (any Error)?
    private var watcher: SignalWatcher?
    private(set) var interrupted: Int32?
    private var signals = StopSignals()
    /// Told after every run: how many of how many are done.
    var progress: (Int, Int) -> Void = { _, _ in }
    private var total = 0

    /// - Parameter budget: nanoseconds after which nothing more is started.
    init(_ job: SweepJob, jobs: Int, budget: UInt64?) throws {
        self.job = job
        self.jobs = jobs
        ProcessSetup.ignoreSIGPIPE()
        let loop = try UVLoop()
        self.loop = loop
        deadline = budget.map { loop.now.advanced(by: $0) }
        // Lifetime: the runner closes its watcher before it goes.
        watcher = SignalWatcher(loop, SignalWatcher.ending) { [unowned self] in interrupt($0) }
    }

    func close() {
        watcher?.close()
        loop.shutdown()
    }

    private var isOver: Bool { interrupted != nil || failure != nil || deadline.map { loop.now >= $0 } ?? false }

    /// Whether the budget is used up, or the sweep was stopped.
    var mayGoOn: Bool { !isOver }

    /// Runs the tasks and returns their outcomes by name; those that were not run have none.
    func run(_ tasks: [Task]) throws -> [String: SweepOutcome] {
        waiting = tasks[...]
        results = [:]
        total = tasks.count
        fill()
        while !running.isEmpty { loop.run() }
        if let failure { throw failure }
        return results
    }

    private func fill() {
        while running.count < jobs, !isOver, let next = waiting.popFirst() {
            do {
                // Lifetime: the runner waits for the end of every run that it starts.
                running[next.name] = try job.start(next.name, next.rules, on: loop) { [unowned self] outcome in
                    running[next.name] = nil
                    // What a signal ended says nothing of the client.
                    if interrupted == nil { results[next.name] = outcome }
                    progress(results.count, total)
                    fill()
                    if running.isEmpty { loop.stop() }
                }
            } catch {
                failure = error
                for name in running.keys.sorted() { running[name]?.signal(15) }
            }
        }
    }

    private func interrupt(_ number: Int32) {
        switch signals.received(at: loop.now) {
        case .stop:
            interrupted = number
            for name in running.keys.sorted() { running[name]?.signal(15) }
        case .sameRequest: break
        case .endAtOnce:
            for name in running.keys.sorted() { running[name]?.signal(15) }
            ThisProcess.exit(Verdict(.stopped, 128 + number, "signal \(number) came twice").tell())
        }
    }
}
