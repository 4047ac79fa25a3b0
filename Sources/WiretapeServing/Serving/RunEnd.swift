internal import WiretapeBytes
package import WiretapeCommandLine
package import WiretapeNet

/// What ended a run.
package enum RunEnd: Hashable, Sendable {
    /// The run itself: its work is done, or it failed.
    case finished
    /// The command behind `--`.
    case command(String, ChildEnd)
    /// SIGINT or SIGTERM.
    case signal(Int32)
    /// `--timeout`, in nanoseconds.
    case timeout(UInt64)

    /// How the command behind `--` ended, when that ended the run.
    package var commandExit: Int32? { if case .command(_, let end) = self { end.exitCode } else { nil } }

    /// How a run's reasons tell that its time was up.
    package static func timeoutReason(_ time: UInt64) -> String { "--timeout \(DurationText.describe(time)) is over" }

    /// What the run came to, seen with what ended it.
    /// - Parameter own: the run's own verdict.
    package func verdict(_ own: Verdict) -> Verdict {
        switch self {
        case .finished: return own
        case .command(let name, let end):
            if end.exitCode == 0 { return own }
            let how =
                if case .signalled(let number) = end { "was ended by signal \(number)" } else {
                    "ended with \(end.exitCode)"
                }
            // Both speak: the command's code is the exit code, ours stands in the reason.
            let ours = own.code == 0 ? own.reason : "\(own.word.rawValue) (exit \(own.code)): \(own.reason)"
            return Verdict(.failed, end.exitCode, "the command '\(name)' \(how); \(ours)")
        case .timeout(let time):
            return Verdict(.timeout, 124, "\(Self.timeoutReason(time)); \(own.reason)")
        case .signal(let number):
            if number == RunShell.interrupt || own.code != 0 { return own }
            return Verdict(.stopped, 128 + number, "signal \(number); \(own.reason)")
        }
    }
}
