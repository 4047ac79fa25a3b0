internal import WiretapeBytes
package import WiretapeCommandLine
package import WiretapeNet
package import WiretapeRuntime
internal import WiretapeSystem

/// What every serving command has around its work: signals, `--timeout` and the command behind `--`. The first of them
/// that happens asks the work to stop; when that has stopped and the command has ended, ``run(_:stop:)`` returns.
/// A second signal, a second or more behind the first, ends the process at once.
package final class RunShell {
    static let interrupt: Int32 = 2
    private static let terminate: Int32 = 15
    private static let kill: Int32 = 9
    /// How long a command may take to end after it was asked to.
    private static let grace: UInt64 = 2_000_000_000
    /// How often the parent is looked for.
    private static let look: UInt64 = 200_000_000

    package let loop: UVLoop
    private let tail: [String]?
    private let timeout: UInt64?
    /// The process that started this one, when the run ends with it.
    private let parent: Int32?
    private var parentWatch: (any LoopTimer)?
    private var watcher: SignalWatcher?
    private var timer: (any LoopTimer)?
    private var child: ChildProcess?
    /// Nil until there is something to stop.
    private var stop: (() -> Void)?
    private var end: RunEnd?
    private var signals = StopSignals()
    private var isStopped = false
    private var hasAsked = false

    package init(_ arguments: ParsedArguments) throws(NetError) {
        tail = arguments.tail
        timeout = arguments.duration("timeout")
        parent = arguments.has("exit-with-parent") ? ThisProcess.parent : nil
        ProcessSetup.ignoreSIGPIPE()
        ProcessSetup.raiseDescriptorLimit()
        loop = try UVLoop()
        // Lifetime: the shell closes its watcher before it goes.
        watcher = SignalWatcher(loop, SignalWatcher.ending) { [unowned self] in signalled($0) }
    }

    /// The run is over since the command behind `--` is.
    package var commandHasEnded: Bool { if case .command = end { true } else { false } }

    /// Starts the command and runs the loop until all has ended. A signal may have come before, while names were looked up: then all
    /// ends as soon as it has begun, and the command is not started.
    /// - Parameters:
    ///   - ready: where the work can be reached; its listeners accept.
    ///   - stop: asks the work to stop; called once, on the loop. ``workStopped()`` must follow.
    package func run(_ ready: ReadyLine, stop: @escaping () -> Void) throws -> RunEnd {
        self.stop = stop
        // Lifetime: the shell closes its timer before it goes.
        timer = loop.timer { [unowned self] in timerFired() }
        if end == nil { try begin(ready) } else { stop() }
        while !isStopped || child != nil { loop.run() }
        return end ?? .finished
    }

    private func begin(_ ready: ReadyLine) throws {
        if let timeout { timer?.arm(at: loop.now.advanced(by: timeout)) }
        if parent != nil {
            // Lifetime: the shell closes its timer before it goes.
            parentWatch = loop.timer { [unowned self] in lookForParent() }
            lookForParent()
        }
        if let tail, end == nil {
            let words = CommandWords.filled(tail, ready.urls)
            do throws(NetError) {
                // Lifetime: the shell runs its loop until the child has ended.
                child = try ChildProcess(loop, words, environment: ready.environment) { [unowned self] in
                    child = nil
                    if end == nil { ended(.command(words[0], $0)) } else { finishIfDone() }
                }
            } catch {
                throw CommandCheck.failure(error, words[0])
            }
        }
    }

    /// Lets go of the loop. The last call.
    package func close() {
        watcher?.close()
        timer?.close()
        parentWatch?.close()
        loop.shutdown()
    }

    /// The work wants to end by itself: it is done, or it failed. It is asked to stop like any other.
    package func finish() { ended(.finished) }

    /// The work has stopped: nothing of it is open any more.
    package func workStopped() {
        isStopped = true
        askCommand()
        finishIfDone()
    }

    private func ended(_ how: RunEnd) {
        guard end == nil else { return }
        end = how
        timer?.cancel()
        stop?()
        askCommand()
    }

    /// Gives the command its time to end. One that was interrupted at the terminal has had the signal itself.
    private func askCommand() {
        guard let child, end != nil, timer != nil, !hasAsked else { return }
        if end != .signal(Self.interrupt) {
            hasAsked = true
            child.signal(Self.terminate)
        }
        timer?.arm(at: loop.now.advanced(by: Self.grace))
    }

    private func timerFired() {
        guard end != nil else { return ended(.timeout(timeout ?? 0)) }
        child?.signal(hasAsked ? Self.kill : Self.terminate)
        hasAsked = true
        timer?.arm(at: loop.now.advanced(by: Self.grace))
    }

    /// An orphan has another parent: the system's first process, or one that collects orphans.
    private func lookForParent() {
        guard ThisProcess.parent == parent else { return ended(.signal(Self.terminate)) }
        parentWatch?.arm(at: loop.now.advanced(by: Self.look))
    }

    private func signalled(_ number: Int32) {
        switch signals.received(at: loop.now) {
        case .stop: ended(.signal(number))
        case .sameRequest: break
        case .endAtOnce:
            child?.signal(Self.terminate)
            ThisProcess.exit(Verdict(.stopped, 128 + number, "signal \(number) came twice").tell())
        }
    }

    private func finishIfDone() {
        if isStopped, child == nil { loop.stop() }
    }
}
