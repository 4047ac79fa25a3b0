internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeWire

/// What rules do to messages of the script.
extension ReplayEngine {
    /// What becomes of a step; nil: it goes out as it is. Asked once, also when it waits afterwards.
    mutating func judge(_ step: Int, _ message: Message, of r: Int) -> MessageFate? {
        guard !rules.isEmpty else { return nil }
        if let known = runs[r].link?.faults.waiting.removeValue(forKey: step) { return known }
        let isFirst = runs[r].faults.judge(step)
        guard isFirst || message.role == .handshake else { return nil }
        let ordinal = Int(runs[r].script.steps[step].ordinal)
        let moment = moment(of: r, message)
        return rules.judge(message, ordinal: ordinal, moment)
    }

    /// - Returns: false when the session sends nothing after it for now.
    mutating func carryOut(
        _ fate: MessageFate, _ step: Int, _ message: Message, due: WireInstant, of r: Int,
        into out: inout [ReplayAction]
    ) -> Bool {
        if comesLater(fate, step, of: r) { return true }
        if fate.truncated != nil, runs[r].link?.transport == .lp, runs[r].link?.connection == nil {
            // There is nothing to be cut before the next poll.
            runs[r].link?.faults.waiting[step] = fate
            runs[r].wakeAt = nil
            return false
        }
        tell(fate, of: r)
        return carryOut(fate, .step(step, message, due: due), of: r, into: &out)
    }

    /// What becomes of a step may begin with a wait. Nothing of the script leaves meanwhile, and the rules are not asked again.
    private mutating func comesLater(_ fate: MessageFate, _ step: Int, of r: Int) -> Bool {
        guard fate.delay > 0 else { return false }
        var rest = fate
        rest.delay = 0
        runs[r].link?.faults.heldUntil = now.advanced(by: fate.delay)
        runs[r].link?.faults.waiting[step] = rest
        return true
    }

    /// Reports what fires, but for the end, which is reported when it comes.
    private mutating func tell(_ fate: MessageFate, of r: Int) {
        for hit in fate.hits where hit != fate.end?.hit { record(hit, moment(of: r), cut: false) }
    }

    /// A message that nobody recorded.
    mutating func inject(
        _ edit: MessageEdit, by hits: [FaultHit], to r: Int, into out: inout [ReplayAction]
    ) {
        guard runs[r].isConnected else { return }
        var opcode = Opcode.text
        let bytes = edit.apply(to: [], &opcode, runs[r].session.codec.type, like: nil)
        pass(bytes, opcode, to: r, into: &out)
        noteSaid(hits, step: nil, of: r, into: &out)
        answerPoll(of: r, into: &out)
    }

    /// So many messages went out: those that let others pass may follow.
    mutating func letPass(_ count: Int, of r: Int, into out: inout [ReplayAction]) {
        guard runs[r].link?.faults.parked.isEmpty == false else { return }
        runs[r].link?.faults.parked.passed(count)
        sendPassed(of: r, into: &out)
    }

    /// Sends the messages that have waited for others long enough.
    mutating func sendPassed(of r: Int, into out: inout [ReplayAction]) {
        let now = now
        let due = runs[r].link?.faults.parked.takeReleased(at: now) ?? []
        guard !due.isEmpty else { return }
        for one in due {
            pass(one.bytes, one.opcode, steps: one.step.map { [$0] } ?? [], to: r, into: &out)
        }
        clock.acted()
        runs[r].noteChange()
    }

    /// The connection ends behind the bytes that were left of a message.
    mutating func endTruncated(
        _ ending: Link.Ending, on c: ConnectionID, of r: Int, into out: inout [ReplayAction]
    ) {
        var ending = ending
        ending.isTruncated = true
        guard runs[r].link?.transport == .lp else { return cut(r, ending, following: true, into: &out) }
        answerPoll(of: r, into: &out)
        let ticket = ticket()
        let moment = moment(of: r)
        rules.add(.init(connection: c, ticket: ticket, ending: ending, moment: moment, run: r, isPoll: true))
        out.append(.awaitAcknowledged(c, ticket: ticket))
    }

    /// What is lost with its connection counts as sent where the protocol itself sends such messages again.
    mutating func keep(_ step: Int, _ message: Message, of r: Int) {
        guard runs[r].link?.memory != nil else { return }
        var lost = Batch()
        append(step, message, of: r, &lost)
        runs[r].link?.memory?.sending([message], lost.bytes, lost.opcode)
    }

    /// The protocol is ready with its handshake.
    mutating func noteReady(_ message: Message, of r: Int) {
        if message.role == .handshake { runs[r].connected(at: now) }
    }

    /// An ending of the tape, as rules want it.
    /// - Returns: nil when no rule fires.
    mutating func judgeEnding(_ step: Int, _ ending: RecordedSession.Ending?, of r: Int) -> MessageFate? {
        guard !rules.isEmpty else { return nil }
        if let known = runs[r].link?.faults.waiting.removeValue(forKey: step) { return known }
        var code: UInt16?
        if case .close(let told, _)? = ending { code = told }
        let moment = moment(of: r)
        return rules.judgeClose(by: .toClient, code: code, moment)
    }

    /// An ending of the tape that a rule changes.
    mutating func carryOut(
        _ fate: MessageFate, ending step: Int, due: WireInstant, of r: Int, into out: inout [ReplayAction]
    ) -> Bool {
        if comesLater(fate, step, of: r) { return true }
        tell(fate, of: r)
        for effect in fate.effectsBefore + fate.effectsAfter { apply(effect, on: nil, of: r, into: &out) }
        runs[r].sent(step, at: now, due: due)
        for hit in fate.hits where hit != fate.end?.hit {
            noteFault(hit, step: step, of: r, .none, on: runs[r].link?.connection, into: &out)
        }
        if fate.isDropped { return true }
        if let end = fate.end, end.place != .after {
            cut(r, Link.Ending(verdict: end.verdict, hit: end.hit, step: step), following: false, into: &out)
            return false
        }
        self.end(r, with: runs[r].script.ending(step) ?? .disconnect, into: &out)
        if let end = fate.end {
            record(end.hit, moment(of: r), cut: false)
            noteFault(end.hit, step: step, of: r, .none, on: runs[r].link?.connection, into: &out)
            if case .outage(let outage) = end.verdict { begin(outage, by: end.hit, into: &out) }
        }
        return false
    }
}
