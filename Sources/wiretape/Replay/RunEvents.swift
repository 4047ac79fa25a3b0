internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeRecorder
internal import WiretapeReplay
internal import WiretapeSystem
internal import WiretapeTape
internal import WiretapeWire

/// `--events`: a line of JSON for everything as it happens in a replay (`docs/events.md`). Each line is an object with `v`, the
/// version of its shape, and `event`, what it tells. Secrets stand in it as on tapes.
final class RunEvents {
    private let lines: EventLines
    private var inspector = Inspector()
    private let redaction = TapeRedaction()
    private var number: UInt64 = 0
    /// The first thing that a client did, from which times count.
    private var origin: UInt64?
    /// The session of the tape that each connection carries.
    private var carried: [UInt32: PlayedMark] = [:]
    /// Messages that were decoded before it was told whose they are.
    private var undecided: [DecodedMessage] = []

    static let version = 1

    init(_ target: EventsTarget) throws {
        lines = try EventLines(target) { Self.line("gap", 0, [.init("lost", .number($0))]) }
    }

    func ready(_ line: ReadyLine) { lines.append(Self.line("ready", 0, line.members(pid: ThisProcess.id))) }

    /// Something has passed between a client and the replay.
    func passed(_ event: TapeEvent) {
        if origin == nil { origin = event.time }
        if case .mark(let text) = event.kind, let mark = PlayedMark(text) { carried[mark.connection] = mark }
        var shown: [TapeEvent] = []
        redaction.take(event, into: &shown)
        var rows: [InspectRow] = []
        for one in shown {
            number += 1
            inspector.read(one, number: number, into: &rows)
        }
        undecided += rows.compactMap(\.message)
        // Whose a request is, the replay tells behind it.
        if case .request = event.kind { return }
        tellMessages()
        if case .gone = event.kind { carried[event.connection] = nil }
    }

    func happened(_ news: [ReplayNews]) {
        tellMessages()
        for one in news { lines.append(line(one)) }
    }

    /// The last line.
    /// - Parameters:
    ///   - time: nanoseconds since the server was made.
    ///   - command: how the command behind `--` ended.
    /// - Returns: why the lines are not complete; nil when they are.
    func end(_ verdict: Verdict, at time: UInt64, command: Int32?) -> String? {
        tellMessages()
        lines.append(
            Self.line(
                "end", sinceOrigin(time),
                verdict.members + [.init("command_exit", command.map { .number($0) } ?? .null)]))
        return lines.finish()
    }

    private func tellMessages() {
        for decoded in undecided {
            let mark = carried[decoded.connection]
            let members: [JSONValue.Member] = [
                .init("c", .number(decoded.connection)),
                .init("session", mark.map { .number($0.session) } ?? .null),
                .init("run", mark.map { .number($0.run) } ?? .null),
            ]
            lines.append(Self.line("message", sinceOrigin(decoded.time), members + JSONFormat.members(decoded)))
        }
        undecided = []
    }

    private func sinceOrigin(_ time: UInt64) -> UInt64 { origin.map { time - min(time, $0) } ?? 0 }

    private func line(_ news: ReplayNews) -> String {
        let whose: [JSONValue.Member] = [.init("session", .number(news.session)), .init("run", .number(news.run))]
        func line(_ event: String, _ members: [JSONValue.Member]) -> String {
            Self.line(event, news.time, whose + members)
        }
        switch news.what {
        case .attempt(let number, let retry, let delay):
            return line(
                "attempt",
                [
                    .init("attempt", .number(number)), .init("retry", .number(retry)),
                    .init("delay_ms", delay.map { .number(DurationText.milliseconds($0)) } ?? .null),
                ])
        case .connected(let attempt, let transport):
            return line(
                "connected",
                [
                    .init("attempt", .number(attempt)),
                    .init("transport", transport.map { .string($0.rawValue) } ?? .null),
                ])
        case .disconnected(let attempt, let outcome, let end):
            return line(
                "disconnected",
                [
                    .init("attempt", .number(attempt)),
                    .init("outcome", outcome.map { .string($0.rawValue) } ?? .null), .init("by", .string(end.by)),
                    .init("how", .string(end.how)), .init("reason", end.reason.map(JSONValue.string) ?? .null),
                ])
        case .fault(let attempt, let rule, let action, let counted):
            return line(
                "fault",
                [
                    .init("attempt", .number(attempt)), .init("rule", .string(redaction.text(rule))),
                    .init("action", .string(redaction.text(action))),
                    .init("message", counted.map(JSONValue.string) ?? .null),
                ])
        case .divergence(let text):
            return Self.line("divergence", news.time, [.init("text", .string(redaction.text(text)))])
        case .finished: return line("finished", [])
        }
    }

    private static func line(_ event: String, _ time: UInt64, _ members: [JSONValue.Member]) -> String {
        let all: [JSONValue.Member] = [
            .init("v", .number(version)), .init("event", .string(event)),
            .init("t_ms", .number(DurationText.milliseconds(time))),
        ]
        return TerminalText.json(JSONValue.object(all + members).text) + "\n"
    }
}
