/// The golden texts of divergences. Each begins with `wiretape: ` and may have further lines.
enum DivergenceText {
    /// A client message without a counterpart.
    static func unexpected(
        _ message: Message, in run: SessionRun, tape: String, after nanoseconds: UInt64
    ) -> String {
        let nearest = nearest(to: message, in: run)
        let number = nearest.map { run.script.steps[$0].ordinal } ?? run.clientMessages
        let place = nearest.map { " (\(tape):\(run.script.steps[$0].line))" } ?? ""
        var text = "wiretape: diverged at client message \(number) of session \(run.session.number)\(place), "
        text += "after \(DurationText.milliseconds(nanoseconds / 1_000_000 * 1_000_000)) ms\n"
        let received = message.title
        guard let nearest, let recorded = run.script.steps[nearest].message else {
            return text + "    recorded  nothing more from the client\n    received  \(received)"
        }
        text += "    recorded  \(recorded.title)\n"
        guard recorded.type == message.type, let pointer = difference(recorded.meaning, message.meaning) else {
            return text + "    received  \(received)"
        }
        let padding = String(repeating: " ", count: max(4, 41 - received.count))
        text += "    received  \(received)\(padding)\(pointer.isEmpty ? "(whole message)" : pointer)\n"
        let label = recorded.label ?? recorded.type
        let value = message.meaning.value(at: pointer)?.text ?? "null"
        let ordinal = run.script.toServer.count {
            $0 <= nearest && run.script.steps[$0].message?.label == recorded.label
        }
        text += "    accept:   --ignore '\(label):\(pointer)'   or   "
        return text + "wiretape edit \(tape) --where '\(label)[\(ordinal)]' --set '\(pointer)=\(value)'"
    }

    /// Patience ran out.
    static func missing(_ run: SessionRun, _ step: Int, tape: String, patience: UInt64) -> String {
        let pings = run.pingsSinceProgress
        let heard = pings == 0 ? "nothing" : "\(pings) \(pings == 1 ? "ping" : "pings") and nothing else"
        return
            "wiretape: still waiting for \(describe(run, step, tape: tape)) after \(DurationText.spoken(patience)); "
            + "meanwhile the client sent \(heard)."
    }

    /// `client message 5 (chat.tape:38, StreamInvocation Counter)`.
    static func describe(_ run: SessionRun, _ step: Int, tape: String) -> String {
        let recorded = run.script.steps[step]
        let name = [recorded.message?.type, recorded.message?.label].compactMap { $0 }.joined(separator: " ")
        return "client message \(recorded.ordinal) (\(tape):\(recorded.line), \(name))"
    }

    /// The unmatched recorded message that is most like it: same type and label, same type, else the next one.
    private static func nearest(to message: Message, in run: SessionRun) -> Int? {
        let rest = run.script.toServer[run.firstAwaited...].filter {
            run.state[$0] == .waiting && run.script.steps[$0].role != .close
        }
        let recorded = { (step: Int) in run.script.steps[step].message }
        return rest.first { recorded($0)?.type == message.type && recorded($0)?.label == message.label }
            ?? rest.first { recorded($0)?.type == message.type } ?? rest.first
    }

    /// The JSON Pointer of the first difference, the deepest place that holds it all; nil when there is none.
    static func difference(_ a: JSONValue, _ b: JSONValue) -> String? {
        guard a.canonicalText != b.canonicalText else { return nil }
        switch (a, b) {
        case (.object(let left), .object(let right)):
            let names = left.map(\.name) + right.map(\.name).filter { name in !left.contains { $0.name == name } }
            for name in names {
                let escaped = name.replacing("~", with: "~0").replacing("/", with: "~1")
                guard let x = a[name], let y = b[name] else { return "/\(escaped)" }
                if let deeper = difference(x, y) { return "/\(escaped)\(deeper)" }
            }
        case (.array(let left), .array(let right)) where left.count == right.count:
            for (i, (x, y)) in zip(left, right).enumerated() {
                if let deeper = difference(x, y) { return "/\(i)\(deeper)" }
            }
        default: break
        }
        return ""
    }
}
