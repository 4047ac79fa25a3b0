internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

extension ReplayEngine {
    /// The line of the first client message of another session that has not come: with `--causality tape` nothing that is
    /// recorded behind it leaves this session. Sessions that nobody has claimed are waited for, too.
    func elsewhere(than r: Int) -> Int32 {
        guard options.causality == .tape else { return .max }
        var first = Int32.max
        for session in library.sessions where session.number != runs[r].session.number {
            let other = runs.last { $0.session.number == session.number && $0.run == runs[r].run }
            if let other {
                if !other.isOver { first = min(first, other.cursor.firstGateLine(behind: runs[r].tally.forgivenLine)) }
            } else {
                first = min(first, session.firstGateLine(behind: runs[r].tally.forgivenLine))
            }
        }
        return first
    }

    /// What one session did may be what others wait for.
    mutating func advanceOthers(than r: Int, into out: inout [ReplayAction]) {
        guard options.causality == .tape else { return }
        for other in runs.indices where other != r && runs[other].isConnected { advanceAlone(other, into: &out) }
    }

    /// Other sessions' clients did not speak in time: they hold this session's next message back no longer.
    mutating func forgiveElsewhere(_ r: Int, into out: inout [ReplayAction]) {
        let head = runs[r].cursor.head
        guard head < runs[r].script.steps.count else { return }
        let line = elsewhere(than: r)
        let whose = library.sessions.first { session in
            session.entries.contains { $0.line == Int(line) }
                || session.digested.script?.steps.contains { $0.line == line } ?? false
        }
        let what = "client message of session \(whose?.number ?? 0) (\(tapeName):\(line))"
        let text =
            "wiretape: still waiting for a \(what), which session \(runs[r].session.number) waits for "
            + "(--causality tape), after \(DurationText.spoken(options.patience))."
        let forgiven = max(line, runs[r].script.steps[head].line - 1)
        runs[r].tally.forgive(elsewhere: what, upTo: forgiven, at: now)
        diverge(r, text, reason: "wiretape: still waiting for a \(what)", into: &out)
    }
}

extension RecordedSession {
    /// Of one that nobody has claimed.
    func firstGateLine(behind line: Int32) -> Int32 {
        if let step = digested.script?.steps.first(where: { $0.isGate && $0.line > line }) { return step.line }
        for entry in entries {
            guard entry.line > Int(line), case .message(let message) = entry.what, message.direction == .toServer else {
                continue
            }
            if ![.cancel, .close, .keepalive, .ack].contains(message.role) { return Int32(clamping: entry.line) }
        }
        return .max
    }
}
