internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeWire

/// What rules do to messages of the script.
extension ReplayEngine {
    /// What becomes of a step; nil: it goes out as it is. Asked once, also when it waits afterwards.
    mutating func judge(_ step: Int, _ message: Message, of session: SessionRun) -> MessageFate? {
        guard !rules.isEmpty else { return nil }
        if let known = session.link?.faults.takeWaiting(step) { return known }
        let isFirst = session.judge(step)
        guard isFirst || message.role == .handshake else { return nil }
        let ordinal = Int(session.script.steps[step].ordinal)
        let moment = moment(of: session, message)
        return rules.judge(message, ordinal: ordinal, moment)
    }

    /// - Returns: false when the session sends nothing after it for now.
    mutating func carryOut(
        _ fate: MessageFate, _ step: Int, _ message: Message, due: WireInstant, of session: SessionRun,
        into out: inout [ReplayAction]
    ) -> Bool {
        if comesLater(fate, step, of: session) { return true }
        if fate.truncated != nil, session.link?.transport == .lp, session.link?.connection == nil {
            // There is nothing to be cut before the next poll.
            session.link?.faults.waits(step, with: fate)
            session.wakeAt = nil
            return false
        }
        tell(fate, of: session)
        return carryOut(fate, .step(step, message, due: due), of: session, into: &out)
    }

    /// What becomes of a step may begin with a wait. Nothing of the script leaves meanwhile, and the rules are not asked again.
    private mutating func comesLater(_ fate: MessageFate, _ step: Int, of session: SessionRun) -> Bool {
        guard fate.delay > 0 else { return false }
        var rest = fate
        rest.delay = 0
        session.link?.faults.holds(until: now.advanced(by: fate.delay))
        session.link?.faults.waits(step, with: rest)
        return true
    }

    /// Reports what fires, but for the end, which is reported when it comes.
    private mutating func tell(_ fate: MessageFate, of session: SessionRun) {
        for hit in fate.hits where hit != fate.end?.hit { record(hit, moment(of: session), cut: false) }
    }

    /// A message that nobody recorded.
    mutating func inject(
        _ edit: MessageEdit, by hits: [FaultHit], to session: SessionRun, into out: inout [ReplayAction]
    ) {
        guard session.isConnected else { return }
        var opcode = Opcode.text
        let bytes = edit.apply(to: [], &opcode, session.recorded.codec.type, like: nil, in: writer(of: session))
        noteGoodbye(bytes, opcode, by: hits, to: session)
        pass(bytes, opcode, to: session, into: &out)
        noteSaid(hits, step: nil, of: session, into: &out)
        answerPoll(of: session, into: &out)
    }

    /// So many messages went out: those that let others pass may follow.
    mutating func letPass(_ count: Int, of session: SessionRun, into out: inout [ReplayAction]) {
        guard session.link?.faults.parked.isEmpty == false else { return }
        session.link?.faults.parked.passed(count)
        sendPassed(of: session, into: &out)
    }

    /// Sends the messages that have waited for others long enough.
    mutating func sendPassed(of session: SessionRun, into out: inout [ReplayAction]) {
        let now = now
        let due = session.link?.faults.parked.takeReleased(at: now) ?? []
        guard !due.isEmpty else { return }
        for one in due {
            pass(
                one.bytes, one.opcode, steps: one.step.map { [$0] } ?? [], frameSize: one.frameSize, to: session,
                into: &out)
        }
        clock.acted()
        session.noteChange()
    }

    /// The connection ends behind the bytes that were left of a message.
    mutating func endTruncated(
        _ ending: Link.Ending, on connection: ConnectionID, of session: SessionRun, into out: inout [ReplayAction]
    ) {
        var ending = ending
        ending.isTruncated = true
        guard session.link?.transport == .lp else { return cut(session, ending, following: true, into: &out) }
        answerPoll(of: session, into: &out)
        let ticket = ticket()
        let moment = moment(of: session)
        rules.add(
            .init(
                connection: connection, ticket: ticket, ending: ending, moment: moment, session: session, isPoll: true))
        out.append(.awaitAcknowledged(connection, ticket: ticket))
    }

    /// What is lost with its connection counts as sent where the protocol itself sends such messages again.
    mutating func keep(_ step: Int, _ message: Message, of session: SessionRun) {
        guard session.link?.memory != nil else { return }
        var lost = Batch()
        append(step, message, of: session, &lost)
        session.link?.memory?.sending([message], lost.bytes, lost.opcode)
    }

    /// The server sends a message that may end the connection for good.
    func noteGoodbye(_ message: Message, of session: SessionRun) {
        if message.role == .close, session.recorded.codec.type.endsForGood(message) {
            session.saidGoodbye(by: .server, at: now)
        }
    }

    /// As ``noteGoodbye(_:of:)``, for a message that rules made or changed.
    func noteGoodbye(_ payload: [UInt8], _ opcode: Opcode, by hits: [FaultHit], to session: SessionRun) {
        guard let rule = hits.first?.name, session.link?.writer.endsForGood(payload.span, opcode) == true else {
            return
        }
        session.saidGoodbye(by: .fault(rule), at: now)
    }

    /// The protocol is ready with its handshake.
    mutating func noteReady(_ message: Message, of session: SessionRun) {
        if message.role == .handshake { session.connected(at: now) }
    }

    /// An ending of the tape, as rules want it.
    /// - Returns: nil when no rule fires.
    mutating func judgeEnding(_ step: Int, _ ending: RecordedSession.Ending?, of session: SessionRun) -> MessageFate? {
        guard !rules.isEmpty else { return nil }
        if let known = session.link?.faults.takeWaiting(step) { return known }
        var code: UInt16?
        if case .close(let told, _)? = ending { code = told }
        let moment = moment(of: session)
        return rules.judgeClose(by: .toClient, code: code, moment)
    }

    /// An ending of the tape that a rule changes.
    mutating func carryOut(
        _ fate: MessageFate, ending step: Int, due: WireInstant, of session: SessionRun, into out: inout [ReplayAction]
    ) -> Bool {
        if comesLater(fate, step, of: session) { return true }
        tell(fate, of: session)
        for effect in fate.effectsBefore + fate.effectsAfter { apply(effect, on: nil, of: session, into: &out) }
        session.sent(step, at: now, due: due)
        for hit in fate.hits where hit != fate.end?.hit {
            noteFault(hit, step: step, of: session, .none, on: session.link?.connection, into: &out)
        }
        if fate.isDropped { return true }
        if let end = fate.end, end.place != .after {
            cut(session, Link.Ending(verdict: end.verdict, hit: end.hit, step: step), following: false, into: &out)
            return false
        }
        self.end(session, with: session.script.ending(step) ?? .disconnect, into: &out)
        if let end = fate.end {
            record(end.hit, moment(of: session), cut: false)
            noteFault(end.hit, step: step, of: session, .none, on: session.link?.connection, into: &out)
            if case .outage(let outage) = end.verdict { begin(outage, by: end.hit, into: &out) }
        }
        return false
    }
}
