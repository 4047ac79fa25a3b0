internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

extension ReplayEngine {
    /// The line of the first client message of another session that has not come: with `--causality tape` nothing that is
    /// recorded behind it leaves this session. Sessions that nobody has claimed are waited for, too.
    func elsewhere(than session: SessionRun) -> Int32 {
        guard options.causality == .tape else { return .max }
        var first = Int32.max
        for recorded in library.sessions where recorded.number != session.recorded.number {
            let other = runs.last { $0.recorded.number == recorded.number && $0.run == session.run }
            if let other {
                if !other.isOver { first = min(first, other.cursor.firstGateLine(behind: session.tally.forgivenLine)) }
            } else {
                first = min(first, recorded.firstGateLine(behind: session.tally.forgivenLine))
            }
        }
        return first
    }

    /// What one session did may be what others wait for.
    mutating func advanceOthers(than session: SessionRun, into out: inout [ReplayAction]) {
        guard options.causality == .tape else { return }
        for other in runs where other !== session && other.isConnected { advanceAlone(other, into: &out) }
    }

    /// Other sessions' clients did not speak in time: they hold this session's next message back no longer.
    mutating func forgiveElsewhere(_ session: SessionRun, into out: inout [ReplayAction]) {
        let head = session.cursor.head
        guard head < session.script.steps.count else { return }
        let line = elsewhere(than: session)
        let whose = library.sessions.first { recorded in
            recorded.entries.contains { $0.line == Int(line) }
                || recorded.digested.script?.steps.contains { $0.line == line } ?? false
        }
        let what = "client message of session \(whose?.number ?? 0) (\(tapeName):\(line))"
        let text =
            "wiretape: still waiting for a \(what), which session \(session.recorded.number) waits for "
            + "(--causality tape), after \(DurationText.spoken(options.patience))."
        let forgiven = max(line, session.script.steps[head].line - 1)
        session.tally.forgive(elsewhere: what, upTo: forgiven, at: now)
        diverge(session, text, reason: "wiretape: still waiting for a \(what)", into: &out)
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
