internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeWire

extension ReplayEngine {
    /// Sends what is due in a session and works out when to wake next.
    mutating func advance(_ r: Int, into out: inout [ReplayAction]) {
        advanceAlone(r, into: &out)
        advanceOthers(than: r, into: &out)
    }

    mutating func advanceAlone(_ r: Int, into out: inout [ReplayAction]) {
        if finishSettling(r, into: &out) { return }
        guard runs[r].isConnected, !endPatience(r, into: &out) else { return }
        release(r, into: &out)
        answerPoll(of: r, into: &out)
    }

    private mutating func release(_ r: Int, into out: inout [ReplayAction]) {
        var batch = Batch()
        sending: while true {
            if runs[r].link?.readyAt != nil, runs[r].link?.hearing.strangers.isEmpty == false {
                flush(&batch, of: r, into: &out)
                refuseStrangers(of: r, into: &out)
            }
            if runs[r].link?.underWay.isFull == true {
                // Goes on when the client has taken some.
                flush(&batch, of: r, into: &out)
                runs[r].wakeAt = nil
                return
            }
            if let held = runs[r].link?.faults.heldUntil, held > now {
                flush(&batch, of: r, into: &out)
                runs[r].wakeAt = held
                keepAlive(r, into: &out)
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
            letPass(.max, of: r, into: &out)
            let ending = runs[r].script.ending(step) ?? .disconnect
            if let fate = judgeEnding(step, ending, of: r) {
                return carryOut(fate, ending: step, due: due, of: r, into: &out)
            }
            runs[r].sent(step, at: now, due: due)
            end(r, with: ending, into: &out)
            return false
        }
        if let fate = judge(step, message, of: r) {
            flush(&batch, of: r, into: &out)
            return carryOut(fate, step, message, due: due, of: r, into: &out)
        }
        let isShared = runs[r].session.codec.type.sharesFrames
        if !isShared || batch.frame != Int(runs[r].script.steps[step].frame) { flush(&batch, of: r, into: &out) }
        if writer(of: r).has(message) {
            let isGreeting = runs[r].greeting?.steps.contains(step) == true
            append(step, isGreeting ? addressed(message, to: r) : message, of: r, &batch)
        } else {
            letPass(1, of: r, into: &out)
        }
        runs[r].sent(step, at: now, due: due)
        noteReady(message, of: r)
        return true
    }

    mutating func append(_ step: Int, _ message: Message, of r: Int, _ batch: inout Batch) {
        // Not a copy of the whole link: it would be copied again by the changes below.
        guard let ids = runs[r].link?.chains.ids, let transport = runs[r].link?.transport else { return }
        var bytes: [UInt8] = []
        let opcode = writer(of: r).write(message, ids: ids, on: transport, into: &bytes)
        if message.role == .request, let chain = message.chain, let place = runs[r].script.steps[step].place {
            runs[r].link?.chains.open(chain, at: place)
            // The codec tells an answer to the server from the end of an upload by knowing what was asked.
            tell(bytes, opcode, of: r)
        }
        if message.role == .handshake { tell(bytes, opcode, of: r) }
        let live = message.chain.map { Chain(ids.live($0), origin: $0.origin) }
        runs[r].link?.rules?.said(message, on: live)
        if message.role == .reply { answered(step, of: r) }
        runs[r].answered(step)
        if message.role == .reply, let chain = message.chain, let place = runs[r].script.steps[step].place {
            runs[r].link?.chains.end(chain, at: place)
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
        // What an earlier connection has had is not lost with this one.
        let greeted = runs[r].link?.repeats.greeted ?? []
        let steps = greeted.isEmpty ? batch.steps : batch.steps.filter { !greeted.contains($0) }
        deliver(batch.bytes, batch.opcode, messages, steps: steps, to: r, into: &out)
        letPass(batch.steps.count, of: r, into: &out)
        clock.acted()
        batch.bytes = []
        batch.steps = []
        batch.frame = nil
    }

    private mutating func keepAlive(_ r: Int, into out: inout [ReplayAction]) {
        if let own = runs[r].keepalive(at: now, options) {
            sendKeepalive(own.payload, own.opcode, to: r, into: &out)
        }
        if let next = runs[r].link?.nextKeepalive { runs[r].wakeAt = min(runs[r].wakeAt ?? next, next) }
    }

    /// Where the session is, for rules.
    /// - Parameter message: what is asked about.
    func moment(of r: Int, _ message: Message? = nil) -> FaultMoment {
        let run = runs[r]
        let (attempt, retry) = run.attemptNumbers
        var context = SelectorContext(protocolID: run.session.codec.id, transport: run.link?.transport)
        if let message, !rules.isEmpty { context.subscribes = run.session.codec.type.subscribes(message) }
        return FaultMoment(
            session: run.session.number, run: run.run, attempt: attempt, retry: retry,
            connection: Swift.max(1, run.generation + (!run.isConnected ? 1 : 0)), context: context,
            sinceRun: clock.sinceOrigin, sinceConnect: run.link.map { now.since($0.openedAt) },
            sinceHandshake: run.link?.readyAt.map { now.since($0) })
    }
}
