extension ReplayEngine {
    /// Sends what is due in a session and works out when to wake next.
    mutating func advance(_ r: Int, into out: inout [ReplayAction]) {
        advanceAlone(r, into: &out)
        advanceOthers(than: r, into: &out)
    }

    mutating func advanceAlone(_ r: Int, into out: inout [ReplayAction]) {
        if finishSettling(r, into: &out) { return }
        guard runs[r].link != nil, !timeOutOpening(r, into: &out) else { return }
        release(r, into: &out)
        answerPoll(of: r, into: &out)
    }

    private mutating func release(_ r: Int, into out: inout [ReplayAction]) {
        var batch = Batch()
        sending: while true {
            if runs[r].link?.isFull == true {
                // Goes on when the client has taken some.
                flush(&batch, of: r, into: &out)
                runs[r].wakeAt = nil
                return
            }
            let elsewhere = elsewhere(than: r)
            switch runs[r].next(at: now, elsewhere: elsewhere, options) {
            case .send(let step, let due):
                guard send(step, due: due, of: r, &batch, into: &out) else { break sending }
            case .wait(let until):
                flush(&batch, of: r, into: &out)
                runs[r].wakeAt = until
                keepAlive(r, into: &out)
                return
            case .held, .idle:
                flush(&batch, of: r, into: &out)
                let expiry = runs[r].expiry(options, elsewhere: elsewhere)
                if let expiry, expiry.at <= now {
                    guard expire(r, expiry.what, into: &out) else { return }
                    continue sending
                }
                runs[r].wakeAt = expiry?.at
                keepAlive(r, into: &out)
                return
            }
        }
    }

    /// Messages of one recorded frame that leave together.
    struct Batch {
        var frame: Int?
        var opcode = Opcode.text
        var bytes: [UInt8] = []
        var steps: [Int] = []
    }

    /// One step of the script that is due.
    /// - Returns: false when the session sends nothing after it for now.
    private mutating func send(
        _ step: Int, due: WireInstant, of r: Int, _ batch: inout Batch, into out: inout [ReplayAction]
    ) -> Bool {
        guard let message = runs[r].script.message(step) else {
            flush(&batch, of: r, into: &out)
            runs[r].sent(step, at: now, due: due)
            end(r, with: runs[r].script.ending(step) ?? .disconnect, into: &out)
            return false
        }
        let hit = judge(step, message, of: r)
        if let hit, hit.place != .after {
            flush(&batch, of: r, into: &out)
            if hit.place == .instead {
                keep(step, message, of: r)
                runs[r].sent(step, at: now, due: due)
            }
            cut(r, Link.Ending(verdict: hit.ending ?? .reset, hit: hit), following: false, into: &out)
            return false
        }
        let isShared = runs[r].session.codec.type.sharesFrames
        if !isShared || batch.frame != Int(runs[r].script.steps[step].frame) { flush(&batch, of: r, into: &out) }
        append(step, message, of: r, &batch)
        runs[r].sent(step, at: now, due: due)
        if message.role == .handshake { runs[r].connected() }
        guard let hit else { return true }
        flush(&batch, of: r, into: &out)
        cut(r, Link.Ending(verdict: hit.ending ?? .reset, hit: hit), following: true, into: &out)
        return false
    }

    /// What is lost with its connection counts as sent where the protocol itself sends such messages again.
    private mutating func keep(_ step: Int, _ message: Message, of r: Int) {
        guard runs[r].link?.memory != nil else { return }
        var lost = Batch()
        append(step, message, of: r, &lost)
        runs[r].link?.memory?.sending([message], lost.bytes, lost.opcode)
    }

    private mutating func judge(_ step: Int, _ message: Message, of r: Int) -> FaultHit? {
        guard !faults.rules.isEmpty, !runs[r].judged[step] || message.role == .handshake else { return nil }
        runs[r].judged[step] = true
        return faultEngine.message(message, ordinal: Int(runs[r].script.steps[step].ordinal), moment(of: r))
            .last { $0.ending != nil }
    }

    private mutating func append(_ step: Int, _ message: Message, of r: Int, _ batch: inout Batch) {
        // Not a copy of the whole link: it would be copied again by the changes below.
        guard let ids = runs[r].link?.ids, let transport = runs[r].link?.transport else { return }
        var bytes: [UInt8] = []
        let opcode = writer(of: r).write(message, ids: ids, on: transport, into: &bytes)
        if message.role == .request, let chain = message.chain, let place = runs[r].script.steps[step].place {
            runs[r].link?.chains[Chain(ids.live(chain), origin: chain.origin)] = place
            // The codec tells an answer to the server from the end of an upload by knowing what was asked.
            tell(bytes, opcode, of: r)
        }
        if message.role == .handshake { tell(bytes, opcode, of: r) }
        let live = message.chain.map { Chain(ids.live($0), origin: $0.origin) }
        runs[r].link?.rules?.said(message, on: live)
        if message.role == .reply, let chain = message.chain, let place = runs[r].script.steps[step].place {
            runs[r].link?.end(chain, at: place)
        }
        batch.frame = Int(runs[r].script.steps[step].frame)
        batch.opcode = opcode
        batch.bytes += bytes
        batch.steps.append(step)
    }

    /// The codec that reads the client hears what the server says, where later messages need it to be understood.
    private mutating func tell(_ bytes: [UInt8], _ opcode: Opcode, of r: Int) {
        var seen: [Message] = []
        runs[r].link?.codec.decode(bytes.span, opcode, .toClient, into: &seen)
    }

    /// Hands the collected messages to the connection.
    mutating func flush(_ batch: inout Batch, of r: Int, into out: inout [ReplayAction]) {
        guard !batch.steps.isEmpty else { return }
        let messages =
            runs[r].link?.memory == nil ? [] : batch.steps.compactMap { runs[r].script.message($0) }
        deliver(batch.bytes, batch.opcode, messages, steps: batch.steps, to: r, into: &out)
        lastActivity = now
        batch.bytes = []
        batch.steps = []
        batch.frame = nil
    }

    private mutating func keepAlive(_ r: Int, into out: inout [ReplayAction]) {
        if let own = runs[r].keepalive(at: now, options) {
            pass(own.payload, own.opcode, to: r, into: &out)
        }
        for next in [runs[r].link?.nextKeepalive, openingDue(r)].compactMap(\.self) {
            runs[r].wakeAt = min(runs[r].wakeAt ?? next, next)
        }
    }

    func moment(of r: Int) -> FaultMoment {
        let (attempt, retry) = runs[r].attemptNumbers
        return FaultMoment(session: runs[r].session.number, run: runs[r].run, attempt: attempt, retry: retry)
    }
}
