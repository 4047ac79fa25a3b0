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
        var fate = fate
        if fate.delay > 0 {
            runs[r].link?.faults.heldUntil = now.advanced(by: fate.delay)
            fate.delay = 0
            runs[r].link?.faults.waiting[step] = fate
            return true
        }
        if fate.truncated != nil, runs[r].link?.transport == .lp, runs[r].link?.connection == nil {
            // There is nothing to be cut before the next poll.
            runs[r].link?.faults.waiting[step] = fate
            runs[r].wakeAt = nil
            return false
        }
        tell(fate, of: r)
        let others = fate.hits.filter { $0 != fate.end?.hit }
        for edit in fate.injectedBefore { inject(edit, by: fate.hits, to: r, into: &out) }
        // A session that is forgotten and ended is known until its end.
        let last = fate.end == nil ? [] : fate.effectsBefore.filter { $0 == .expire }
        for effect in fate.effectsBefore where !last.contains(effect) {
            apply(effect, on: runs[r].link?.connection, of: r, into: &out)
        }
        let ending = fate.end.map {
            Link.Ending(
                verdict: $0.verdict, hit: $0.hit, effects: last, lingering: fate.lingering,
                step: fate.isLost ? step : nil)
        }
        if let ending, fate.end?.place == .before {
            cut(r, ending, following: false, into: &out)
            return false
        }
        if let count = fate.truncated, let c = runs[r].link?.connection {
            out.append(.limit(c, bytes: count))
            say(fate, step, message, due: due, to: r, into: &out)
            endTruncated(ending, on: c, of: r, into: &out)
            return false
        }
        if fate.isLost {
            keep(step, message, of: r)
            runs[r].sent(step, at: now, due: due)
            for hit in others { noteFault(hit, step: step, of: r, .none, on: runs[r].link?.connection, into: &out) }
        } else {
            say(fate, step, message, due: due, to: r, into: &out)
        }
        for edit in fate.injectedAfter { inject(edit, by: fate.hits, to: r, into: &out) }
        if fate.pause > 0 { runs[r].link?.faults.heldUntil = now.advanced(by: fate.pause) }
        guard ending != nil || !fate.effectsAfter.isEmpty else { return true }
        var after = ending ?? Link.Ending(verdict: nil, hit: fate.hits.last, isToldAlready: true)
        after.effects += fate.effectsAfter
        cut(r, after, following: fate.end?.place != .instead, into: &out)
        return false
    }

    /// Reports what fires, but for the end, which is reported when it comes.
    private mutating func tell(_ fate: MessageFate, of r: Int) {
        for hit in fate.hits where hit != fate.end?.hit { record(hit, moment(of: r), cut: false) }
    }

    /// The message goes out, changed or not.
    private mutating func say(
        _ fate: MessageFate, _ step: Int, _ message: Message, due: WireInstant, to r: Int,
        into out: inout [ReplayAction]
    ) {
        var batch = Batch()
        append(step, message, of: r, &batch)
        runs[r].sent(step, at: now, due: due)
        noteReady(message, of: r)
        clock.acted()
        let damage = edit(&batch.bytes, &batch.opcode, by: fate.edits, like: message, of: r)
        if runs[r].link?.memory != nil { runs[r].link?.memory?.sending([message], batch.bytes, batch.opcode) }
        if let reorder = fate.reorder {
            runs[r].link?.faults.passed.append(
                .init(
                    step: step, bytes: batch.bytes, opcode: batch.opcode, left: reorder.window,
                    until: now.advanced(by: reorder.patience)))
            runs[r].noteChange()
            let c = runs[r].link?.connection
            for hit in fate.hits { noteFault(hit, step: step, of: r, .none, on: c, into: &out) }
            return
        }
        let isCut = fate.truncated != nil
        let hits = fate.hits.filter { $0 != fate.end?.hit || !fate.isPlain }
        pass(batch.bytes, batch.opcode, steps: [step], damage: damage, isPlain: isCut, to: r, into: &out)
        noteSaid(hits, step: step, of: r, into: &out)
        for _ in 0..<fate.copies {
            pass(batch.bytes, batch.opcode, damage: damage, to: r, into: &out)
            noteSaid(hits, step: step, of: r, into: &out)
        }
        letPass(1, of: r, into: &out)
    }

    /// Changes a payload.
    /// - Returns: the damage of its header that is still to be done.
    mutating func edit(
        _ bytes: inout [UInt8], _ opcode: inout Opcode, by edits: [MessageFate.Edit], like message: Message?, of r: Int
    ) -> Corruption? {
        var damage: Corruption?
        for edit in edits {
            switch edit {
            case .replace(let edit):
                bytes = edit.apply(to: bytes, &opcode, runs[r].session.codec.type, like: message)
            case .corrupt(let corruption, let seed):
                var random = SplitMix64(seed: seed)
                let transport = runs[r].link?.transport ?? .ws
                let content = runs[r].session.codec.type.content(of: bytes, on: transport)
                corruption.apply(to: &bytes, in: content, &random)
                if corruption.isOfHeader { damage = corruption }
            }
        }
        return damage
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
        guard runs[r].link?.faults.passed.isEmpty == false else { return }
        for i in runs[r].link?.faults.passed.indices ?? 0..<0 { runs[r].link?.faults.passed[i].left -= count }
        sendPassed(of: r, into: &out)
    }

    /// Sends the messages that have waited for others long enough.
    mutating func sendPassed(of r: Int, into out: inout [ReplayAction]) {
        let now = now
        let due = runs[r].link?.faults.passed.filter { $0.left <= 0 || $0.until <= now } ?? []
        guard !due.isEmpty else { return }
        runs[r].link?.faults.passed.removeAll { $0.left <= 0 || $0.until <= now }
        for one in due {
            pass(one.bytes, one.opcode, steps: one.step.map { [$0] } ?? [], to: r, into: &out)
        }
        clock.acted()
        runs[r].noteChange()
    }

    /// The connection ends behind the bytes that were left of a message.
    mutating func endTruncated(
        _ ending: Link.Ending?, on c: ConnectionID, of r: Int, into out: inout [ReplayAction]
    ) {
        guard var ending else { return }
        ending.isTruncated = true
        guard runs[r].link?.transport == .lp else { return cut(r, ending, following: true, into: &out) }
        answerPoll(of: r, into: &out)
        let ticket = ticket()
        let moment = moment(of: r)
        rules.add(.init(connection: c, ticket: ticket, ending: ending, moment: moment, run: r, isPoll: true))
        out.append(.awaitAcknowledged(c, ticket: ticket))
    }

    /// What is lost with its connection counts as sent where the protocol itself sends such messages again.
    private mutating func keep(_ step: Int, _ message: Message, of r: Int) {
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
        var fate = fate
        if fate.delay > 0 {
            runs[r].link?.faults.heldUntil = now.advanced(by: fate.delay)
            fate.delay = 0
            runs[r].link?.faults.waiting[step] = fate
            return true
        }
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
