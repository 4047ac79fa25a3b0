package import WiretapeCommandLine
internal import WiretapeSystem

/// Lines on their way to a file or pipe, written by a thread of their own: whoever reads slowly, or not at all, holds nobody up.
/// What finds no room is left out and counted.
final class EventLines: Sendable {
    private struct Queue: Sendable {
        var waiting: [UInt8] = []
        var isWriting = false
        /// Left out since the last line that found room, and of all.
        var lost = 0
        var allLost = 0
        var failure: FileError?

        var isDrained: Bool { failure != nil || waiting.isEmpty && !isWriting }
    }

    private let gate = Gate(Queue())
    /// Bytes that may wait.
    private static let bound = 8 << 20
    /// Nanoseconds in which the rest has to be taken at the end.
    private static let patience: UInt64 = 2_000_000_000

    /// - Parameter gap: the line that tells how many were left out.
    init(_ target: EventsTarget, gap: @escaping @Sendable (Int) -> String) throws {
        let file = try target.open()
        self.gap = gap
        // The thread ends with the process when somebody has stopped reading.
        _ = try Thread(name: "events") { [gate] in Self.write(from: gate, to: file) }
    }

    private let gap: @Sendable (Int) -> String

    func append(_ line: String) {
        gate.update { queue in
            let count = line.utf8.count
            guard queue.waiting.count + count <= Self.bound, queue.failure == nil else {
                queue.lost += 1
                queue.allLost += 1
                return
            }
            if queue.lost > 0 {
                queue.waiting += gap(queue.lost).utf8
                queue.lost = 0
            }
            queue.waiting += line.utf8
        }
    }

    /// Waits until all is written, for 2 s at most.
    /// - Returns: why the lines are not complete; nil when they are.
    func finish() -> IncompleteEvents? {
        let deadline = SystemClock.monotonic + Self.patience
        return gate.wait(until: \.isDrained, deadline: deadline) { isDrained, queue in
            if let failure = queue.failure {
                return IncompleteEvents(reason: failure.description, isFailure: !failure.isBrokenPipe)
            }
            if !isDrained { return IncompleteEvents(reason: "nobody reads them", isFailure: false) }
            guard queue.allLost > 0 else { return nil }
            let reason = "\(queue.allLost) were left out, since they were read too slowly"
            return IncompleteEvents(reason: reason, isFailure: false)
        }
    }

    private static func write(from gate: Gate<Queue>, to file: borrowing File) {
        while true {
            let bytes = gate.wait(until: { !$0.waiting.isEmpty }) { queue in
                queue.isWriting = true
                defer { queue.waiting = [] }
                return queue.waiting
            }
            do throws(FileError) {
                try file.write(bytes.span)
                gate.update { $0.isWriting = false }
            } catch {
                gate.update { queue in
                    queue.failure = error
                    queue.isWriting = false
                }
                return
            }
        }
    }
}

/// Why the lines of `--events` are not complete.
package struct IncompleteEvents: Sendable {
    var reason: String
    /// True if writing failed; false if the reader was too slow or has stopped.
    var isFailure: Bool

    /// Fails a passed verdict if writing failed. Otherwise logs a warning.
    package func told(with verdict: Verdict, _ log: Log) -> Verdict {
        let text = "--events: the lines are not complete: \(reason)"
        guard isFailure, verdict.code == 0 else {
            log.warning(text)
            return verdict
        }
        return Verdict(.failed, ExitCode.failure.code, text)
    }
}
