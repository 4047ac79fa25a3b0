internal import WiretapeCodecs
package import WiretapeCommandLine
package import WiretapeControl
package import WiretapeProtocol
package import WiretapeRedaction
package import WiretapeReport
internal import WiretapeSystem
internal import WiretapeWire

/// What happens in a run, for `--events` and for the control API (`docs/events.md`).
package final class RunEvents {
    package let journal: RunJournal
    private let lines: EventLines?

    /// What the control API can tell of what was.
    private static let kept = 16 << 20

    /// - Parameters:
    ///   - isControlled: whether somebody may ask for what was told.
    ///   - rules: what is a secret, of which nothing is told.
    /// - Returns: nil when nobody wants to know.
    package init?(_ target: EventsTarget?, isControlled: Bool, _ rules: RedactionRules) throws {
        guard target != nil || isControlled else { return nil }
        let lines = try target.map { target in
            try EventLines(target) { RunJournal.text("gap", 0, [.init("lost", .number($0))]) + "\n" }
        }
        self.lines = lines
        journal = RunJournal(codecs: Codecs.all, keeping: isControlled ? RunEvents.kept : 0, rules)
        journal.line = lines.map { lines in { lines.append($0) } }
    }

    package func ready(_ line: ReadyLine) { journal.ready(line.members(pid: ThisProcess.id)) }

    /// Something has passed between a client and the run.
    package func passed(_ event: TapeEvent) { journal.passed(event) }

    package func happened(_ news: [RunNews]) { journal.happened(news) }

    /// Whoever follows over the control API hears the end while there is a loop to say it; the last line is written when the report
    /// is, and knows how the command behind `--` has ended.
    package func ending(_ report: ReplayReport, masked: (String) -> String, at time: UInt64) {
        guard let line = journal.line else { return tellEnd(report, masked, time) }
        journal.line = nil
        tellEnd(report, masked, time)
        journal.line = line
    }

    private func tellEnd(_ report: ReplayReport, _ masked: (String) -> String, _ time: UInt64) {
        journal.end(
            [
                .init("verdict", .string(report.verdict.rawValue)), .init("exit", .number(report.exitCode)),
                .init("reason", .string(masked(report.summary))), .init("command_exit", .null),
            ], at: time)
    }

    /// The last line.
    /// - Parameters:
    ///   - time: nanoseconds since the run began.
    ///   - command: how the command behind `--` ended.
    /// - Returns: why the lines are not complete; nil when they are.
    package func end(_ verdict: Verdict, at time: UInt64, command: Int32?) -> IncompleteEvents? {
        guard let lines else { return nil }
        journal.end(verdict.members + [.init("command_exit", command.map { .number($0) } ?? .null)], at: time)
        return lines.finish()
    }
}
