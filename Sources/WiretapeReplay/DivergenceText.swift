internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// The golden texts of divergences. Each begins with `wiretape: ` and may have further lines.
enum DivergenceText {
    /// A client message without a counterpart.
    /// - Parameters:
    ///   - nearest: the recorded message that it stands beside.
    ///   - came: the recorded message that it repeats.
    static func unexpected(
        _ message: Message, nearest: Int?, came: Int?, in session: SessionRun, tape: String, after nanoseconds: UInt64
    ) -> String {
        let beside = nearest ?? came ?? session.cursor.firstAwaitedStep
        let number = beside.map { Int(session.script.steps[$0].ordinal) } ?? session.tally.clientMessages
        let place = beside.map { " (\(tape):\(session.script.steps[$0].line))" } ?? ""
        var text = "wiretape: diverged at client message \(number) of session \(session.recorded.number)\(place), "
        text += "after \(DurationText.milliseconds(nanoseconds / 1_000_000 * 1_000_000)) ms\n"
        let received = message.title
        guard let beside, let recorded = session.script.message(beside) else {
            return text + "    recorded  nothing more from the client\n    received  \(received)"
        }
        if nearest == nil, came != nil {
            return text + "    recorded  \(recorded.title), once\n    received  \(received), again"
        }
        text += "    recorded  \(recorded.title)\n"
        let pointers = recorded.kind == message.kind ? recorded.meaning.differences(from: message.meaning) : []
        guard let first = pointers.first else { return text + "    received  \(received)" }
        let padding = String(repeating: " ", count: max(4, 41 - received.count))
        let shown = Summary.part(
            pointers.prefix(most).map { $0.isEmpty ? "(whole message)" : $0 }.joined(separator: " "))
        let more = pointers.count > most ? " and \(pointers.count - most) more" : ""
        text += "    received  \(received)\(padding)\(shown)\(more)\n"
        guard !first.isEmpty else { return text + "    accept:   --match off   or   record again" }
        let label = recorded.label ?? recorded.type
        let rules = pointers.prefix(most).map { "--ignore \(Summary.shellWord("\(label):\($0)"))" }.joined(
            separator: " ")
        let changes = pointers.prefix(most).map { pointer in
            "--set \(Summary.shellWord("\(pointer)=\(message.meaning.value(at: pointer)?.text ?? "null")"))"
        }
        let edits = changes.joined(separator: " ")
        // Nobody copies a command of many lines.
        guard edits.utf8.count <= 1_000 else { return text + "    accept:   \(rules)   or   record again" }
        return text + "    accept:   \(rules)   or   "
            + "wiretape edit \(tape) --where \(Summary.shellWord("\(label)[\(ordinal(of: beside, in: session))]")) \(edits)"
    }

    /// Differences that are shown and accepted at once.
    private static let most = 4

    /// The number of the step among the client messages of its label, from 1.
    private static func ordinal(of step: Int, in session: SessionRun) -> Int {
        let name = session.script.name(step)
        return (0...step).count {
            session.script.steps[$0].direction == .toServer && session.script.name($0)?.label == name?.label
        }
    }

    /// Patience ran out.
    static func missing(_ session: SessionRun, _ step: Int, tape: String, patience: UInt64) -> String {
        let pings = session.tally.pingsSinceProgress
        let others = session.tally.strangersSinceProgress
        var heard: [String] = []
        if pings > 0 { heard.append("\(pings) \(pings == 1 ? "ping" : "pings")") }
        if others > 0 { heard.append("\(others) \(others == 1 ? "message" : "messages") that the tape does not have") }
        let said =
            heard.isEmpty ? "nothing" : heard.joined(separator: " and ") + (others > 0 ? "" : " and nothing else")
        return
            "wiretape: still waiting for \(describe(session, step, tape: tape)) after \(DurationText.spoken(patience)); "
            + "meanwhile the client sent \(said)."
    }

    /// `client message 5 (chat.tape:38, StreamInvocation Counter)`.
    static func describe(_ session: SessionRun, _ step: Int, tape: String) -> String {
        let recorded = session.script.steps[step]
        return
            "client message \(recorded.ordinal) (\(tape):\(recorded.line), \(session.script.name(step)?.text ?? "end"))"
    }
}
