internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

extension ReplayEngine {
    /// A client message without a counterpart. A request gets the protocol's own refusal for its id, since silence hangs
    /// real clients.
    mutating func diverge(on message: Message, of r: Int, _ match: SessionRun.Match, into out: inout [ReplayAction]) {
        let run = runs[r]
        var nearest: Int?
        var counterpart: Int?
        let came = run.cursor.cameAlready(run.key(of: message, options))
        if case .disordered(let step) = match {
            (nearest, counterpart) = (
                run.cursor.awaitsHandshake ? run.script.clientHandshake : run.cursor.firstAwaitedStep, step
            )
        } else if came == nil {
            // A repetition is more than the tape has; anything else stands for the message that it is most like.
            let place = run.place(of: message)
            let continuing = [.part, .cancel, .reply].contains(message.role)
            if !continuing || (place?.group ?? -1) >= 0 {
                nearest = run.cursor.nearest(to: message, in: place, anyOfRole: false)
            }
            // A handshake for which the protocol has an error would open another conversation than the recorded one.
            let isAnother = message.role == .handshake && run.link?.writer.refusal(of: message, reason: "") != nil
            counterpart = isAnother ? nil : nearest
        }
        // The flood of a client whose divergences are ignored costs no text that nobody reads.
        let text =
            options.onDivergence == .ignore && record.divergences.isFull
            ? ""
            : DivergenceText.unexpected(
                message, nearest: nearest, came: came, in: run, tape: tapeName, after: now.since(run.claimedAt))
        runs[r].tally.stranger(message.title)
        let reason = "wiretape: diverged at \(message.title): not on \(tapeName)"
        let goesOn = options.onDivergence == .warn || options.onDivergence == .ignore
        if goesOn, let counterpart {
            if case .disordered = match {
                runs[r].accept(message, as: counterpart, at: now, options)
            } else {
                runs[r].accept(message, insteadOf: counterpart, at: now, options)
            }
        } else {
            refuse(message, of: r, into: &out)
        }
        diverge(r, text, reason: reason, into: &out)
    }

    /// A message takes its recorded place back from one that differs. That stands for the next one that it is like, if it
    /// has been told nothing yet; else it is at most counted as that, and what is open of it ends with the protocol's error.
    mutating func reclaim(_ step: Int, by message: Message, of r: Int, into out: inout [ReplayAction]) {
        guard let standIn = runs[r].reclaim(step, for: message, at: now, options) else { return }
        let (other, had) = (standIn.message, standIn.had)
        let place = runs[r].place(of: other)
        if let next = runs[r].cursor.nearest(to: other, in: place, anyOfRole: false) {
            guard had != .nothing else { return runs[r].accept(other, insteadOf: next, at: now, options) }
            runs[r].use(up: next, for: other, had, at: now, options)
        }
        if had != .all { refuse(other, of: r, into: &out) }
    }

    /// Refuses what came before the protocol was open.
    mutating func refuseStrangers(of r: Int, into out: inout [ReplayAction]) {
        guard runs[r].link?.readyAt != nil, let strangers = runs[r].link?.hearing.strangers else { return }
        runs[r].link?.hearing.strangers = []
        for message in strangers { refuse(message, of: r, into: &out) }
    }

    /// The protocol's own error to a request that the tape does not answer.
    mutating func refuse(_ message: Message, of r: Int, into out: inout [ReplayAction]) {
        guard options.onDivergence != .stall, let waiting = runs[r].link?.hearing.strangers.count else { return }
        if message.role == .handshake {
            // Nobody waits for the answer to a second one.
            guard runs[r].link?.readyAt == nil, runs[r].cursor.awaitsHandshake else { return }
        } else if runs[r].link?.readyAt == nil {
            // Before the protocol's opening a client would take it for that.
            if waiting < Link.Hearing.mostStrangers { runs[r].link?.hearing.strangers.append(message) }
            return
        }
        let reason = "wiretape: diverged at \(message.title): not on \(tapeName)"
        guard var reader = runs[r].link?.writer, let refusal = reader.refusal(of: message, reason: reason) else {
            return
        }
        var carried: [Message] = []
        reader.decode(refusal.payload.span, refusal.opcode, .toClient, into: &carried)
        for said in carried { runs[r].link?.rules?.said(said, on: said.chain) }
        deliver(refusal.payload, refusal.opcode, carried, to: r, into: &out)
    }

    /// The client's time is up.
    /// - Returns: whether the session may have something to send now.
    mutating func expire(_ r: Int, _ what: SessionRun.Expiry, into out: inout [ReplayAction]) -> Bool {
        switch what {
        case .repeats: runs[r].cursor.giveUpRepeats()
        case .grace(let push): runs[r].postpone(until: push, at: now)
        case .elsewhere: forgiveElsewhere(r, into: &out)
        case .patience:
            let blockers = runs[r].cursor.blockers
            let fault = runs[r].cursor.atFault(of: blockers)
            guard let first = fault.first ?? blockers.first else { return false }
            let text = DivergenceText.missing(runs[r], first, tape: tapeName, patience: options.patience)
            let reason = "wiretape: still waiting for \(DivergenceText.describe(runs[r], first, tape: tapeName))"
            runs[r].cursor.forgive(blockers, atFault: fault)
            if options.match == .off { break }
            if !fault.isEmpty {
                diverge(r, text, reason: reason, into: &out)
            } else if options.onDivergence == .warn {
                // The client is where it was: it costs more time, and is no other divergence.
                out.append(.log(text))
            }
        }
        return runs[r].isConnected && !runs[r].standing.isStalled
    }

    /// States a divergence and does what `--on-divergence` says.
    mutating func diverge(_ r: Int, _ text: String, reason: String, into out: inout [ReplayAction]) {
        switch options.onDivergence {
        case .fail: fail(r, text, reason: reason, into: &out)
        case .warn: diverged(text, into: &out)
        case .ignore: record.diverged(text)
        case .stall:
            diverged(text, into: &out)
            runs[r].standing.isStalled = true
        }
    }
}
