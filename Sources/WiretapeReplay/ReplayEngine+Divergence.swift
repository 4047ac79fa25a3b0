internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

extension ReplayEngine {
    /// A client message without a counterpart. A request gets the protocol's own refusal for its id, since silence hangs
    /// real clients.
    mutating func diverge(
        on message: Message, of session: SessionRun, _ match: SessionRun.Match, into out: inout [ReplayAction]
    ) {
        var nearest: Int?
        var counterpart: Int?
        let came = session.cursor.cameAlready(session.key(of: message, options))
        if case .disordered(let step) = match {
            (nearest, counterpart) = (
                session.cursor.awaitsHandshake ? session.script.clientHandshake : session.cursor.firstAwaitedStep, step
            )
        } else if came == nil {
            // A repetition is more than the tape has; anything else stands for the message that it is most like.
            let place = session.place(of: message)
            let continuing = [.part, .cancel, .reply].contains(message.role)
            if !continuing || (place?.group ?? -1) >= 0 {
                nearest = session.cursor.nearest(to: message, in: place, anyOfRole: false)
            }
            // A handshake for which the protocol has an error would open another conversation than the recorded one.
            let isAnother = message.role == .handshake && session.link?.writer.refusal(of: message, reason: "") != nil
            counterpart = isAnother ? nil : nearest
        }
        // The flood of a client whose divergences are ignored costs no text that nobody reads.
        let text =
            options.onDivergence == .ignore && record.divergences.isFull
            ? ""
            : DivergenceText.unexpected(
                message, nearest: nearest, came: came, in: session, tape: tapeName, after: now.since(session.claimedAt))
        session.tally.stranger(message.title)
        let reason = "wiretape: diverged at \(message.title): not on \(tapeName)"
        let goesOn = options.onDivergence == .warn || options.onDivergence == .ignore
        if goesOn, let counterpart {
            if case .disordered = match {
                session.accept(message, as: counterpart, at: now, options)
            } else {
                session.accept(message, insteadOf: counterpart, at: now, options)
            }
        } else {
            refuse(message, of: session, into: &out)
        }
        diverge(session, text, reason: reason, into: &out)
    }

    /// A message takes its recorded place back from one that differs. That stands for the next one that it is like, if it
    /// has been told nothing yet; else it is at most counted as that, and what is open of it ends with the protocol's error.
    mutating func reclaim(_ step: Int, by message: Message, of session: SessionRun, into out: inout [ReplayAction]) {
        guard let standIn = session.reclaim(step, for: message, at: now, options) else { return }
        let (other, had) = (standIn.message, standIn.had)
        let place = session.place(of: other)
        if let next = session.cursor.nearest(to: other, in: place, anyOfRole: false) {
            guard had != .nothing else { return session.accept(other, insteadOf: next, at: now, options) }
            session.use(up: next, for: other, had, at: now, options)
        }
        if had != .all { refuse(other, of: session, into: &out) }
    }

    /// Refuses what came before the protocol was open.
    mutating func refuseStrangers(of session: SessionRun, into out: inout [ReplayAction]) {
        guard session.link?.readyAt != nil, let strangers = session.link?.hearing.takeStrangers() else { return }
        for message in strangers { refuse(message, of: session, into: &out) }
    }

    /// The protocol's own error to a request that the tape does not answer.
    mutating func refuse(_ message: Message, of session: SessionRun, into out: inout [ReplayAction]) {
        guard options.onDivergence != .stall, session.link != nil else { return }
        if message.role == .handshake {
            // Nobody waits for the answer to a second one.
            guard session.link?.readyAt == nil, session.cursor.awaitsHandshake else { return }
        } else if session.link?.readyAt == nil {
            // Before the protocol's opening a client would take it for that.
            session.link?.hearing.meets(message)
            return
        }
        let reason = "wiretape: diverged at \(message.title): not on \(tapeName)"
        guard var reader = session.link?.writer, let refusal = reader.refusal(of: message, reason: reason) else {
            return
        }
        var carried: [Message] = []
        reader.decode(refusal.payload.span, refusal.opcode, .toClient, into: &carried)
        for said in carried { session.link?.rules?.said(said, on: said.chain) }
        deliver(refusal.payload, refusal.opcode, carried, to: session, into: &out)
    }

    /// The client's time is up.
    /// - Returns: whether the session may have something to send now.
    mutating func expire(_ session: SessionRun, _ what: SessionRun.Expiry, into out: inout [ReplayAction]) -> Bool {
        switch what {
        case .repeats: session.cursor.giveUpRepeats()
        case .grace(let push): session.postpone(until: push, at: now)
        case .elsewhere(let cause): giveUp(cause, for: session, into: &out)
        case .patience:
            let blockers = session.cursor.blockers
            let fault = session.cursor.atFault(of: blockers)
            guard let first = fault.first ?? blockers.first else { return false }
            let text = DivergenceText.missing(session, first, tape: tapeName, patience: options.patience)
            let reason = "wiretape: still waiting for \(DivergenceText.describe(session, first, tape: tapeName))"
            session.cursor.forgive(blockers, atFault: fault)
            if options.match == .off { break }
            if !fault.isEmpty {
                diverge(session, text, reason: reason, into: &out)
            } else if options.onDivergence == .warn {
                // The client is where it was: it costs more time, and is no other divergence.
                out.append(.log(text))
            }
        }
        return session.isConnected && !session.standing.isStalled
    }

    /// States a divergence and does what `--on-divergence` says.
    mutating func diverge(_ session: SessionRun, _ text: String, reason: String, into out: inout [ReplayAction]) {
        switch options.onDivergence {
        case .fail: fail(session, text, reason: reason, into: &out)
        case .warn: diverged(text, into: &out)
        case .ignore: record.diverged(text)
        case .stall:
            diverged(text, into: &out)
            session.stall()
        }
    }
}
