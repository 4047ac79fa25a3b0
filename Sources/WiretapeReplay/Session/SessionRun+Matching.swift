internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol

extension SessionRun {
    /// What a client message is to the script.
    enum Match: Hashable, Sendable {
        /// The counterpart of this step.
        case matched(Int)
        /// Equal to this step, which was matched on an earlier connection: its chain is open again.
        case repeated(Int)
        /// The counterpart of this step, which has gone to a message that differs.
        case reclaims(Int)
        /// Keepalives, acknowledgements, a farewell: never compared.
        case aside
        /// No counterpart: a divergence.
        case unexpected
        /// The counterpart of this step, which is not its turn: `--match strict`, or before the protocol's opening.
        case disordered(Int)
        /// More than the tape has, where nothing is compared (`--match off`).
        case extra
    }

    /// Finds the counterpart of a message of the client, and takes it for that.
    func match(_ message: Message, at now: WireInstant, _ options: ReplayOptions) -> Match {
        link?.hearing.hears(at: now)
        switch message.role {
        case .keepalive, .ack:
            if message.role == .keepalive { tally.ping() }
            return .aside
        case .close:
            if let farewell = script.farewell, cursor.state[farewell] == .waiting {
                cursor.settle(farewell, at: now, &tally)
            }
            return .aside
        case .request, .send, .push, .part, .reply, .cancel, .handshake, .opaque: link?.hearing.speaks(at: now)
        }
        guard options.match != .off else {
            guard let step = cursor.nearest(to: message, in: place(of: message)) else { return .extra }
            accept(message, as: step, at: now, options)
            return .matched(step)
        }
        let place = place(of: message)
        let mayCancel = message.role == .cancel && recorded.codec.type.allowsCancels
        let key = Script.key(message, at: place, ignore: options.ignore)
        guard let step = cursor.choose(key, matched: tally.matchedSinceRestart) else {
            if !cursor.awaitsHandshake, let step = cursor.stoodFor(key) {
                accept(message, insteadOf: step, at: now, options)
                return .repeated(step)
            }
            guard mayCancel else { return .unexpected }
            if let place { cursor.cancelled(place) }
            return .aside
        }
        if options.match == .strict, cursor.state[step] == .waiting, step != cursor.firstAwaited {
            return .disordered(step)
        }
        if cursor.awaitsHandshake, message.role != .handshake { return .disordered(step) }
        if cursor.isStoodFor(step) { return .reclaims(step) }
        defer { if mayCancel, let place { cursor.cancelled(place, at: step) } }
        return accept(message, as: step, at: now, options) ? .repeated(step) : .matched(step)
    }

    /// Takes the message as that step, whatever it says.
    /// - Returns: whether the step was matched before.
    @discardableResult
    func accept(_ message: Message, as step: Int, at now: WireInstant, _ options: ReplayOptions) -> Bool {
        let repeated = cursor.state[step] == .done
        bind(message, to: step)
        cursor.settle(step, at: now, &tally)
        if repeated || cursor.isInterrupted(step) {
            reopen(step, at: now, options)
            return true
        }
        open(step, at: now, options)
        return false
    }

    /// Takes a message that differs as that step, until an equal one comes.
    func accept(_ message: Message, insteadOf step: Int, at now: WireInstant, _ options: ReplayOptions) {
        let key = key(of: message, options)
        accept(message, as: step, at: now, options)
        if message.role != .handshake { cursor.stand(message, key: key, for: step) }
    }

    /// The message takes its recorded place from what stood there. Its chain is played to it from the beginning; what the
    /// other was told of it counts for nothing.
    /// - Returns: what stood there, and how much of the chain it had been told.
    func reclaim(
        _ step: Int, for message: Message, at now: WireInstant, _ options: ReplayOptions
    ) -> ScriptCursor.StandIn? {
        guard let standIn = cursor.reclaim(step, &tally) else { return nil }
        if cursor.group(openedBy: step) != nil { release(standIn.message, from: step) }
        bind(message, to: step)
        cursor.settleReclaimed(step, at: now, &tally)
        open(step, at: now, options)
        return standIn
    }

    /// A message that had something of an answer already takes that step's place, whose chain nobody waits for then.
    func use(
        up step: Int, for message: Message, _ had: ScriptCursor.Had, at now: WireInstant, _ options: ReplayOptions
    ) {
        let standIn = ScriptCursor.StandIn(message: message, key: key(of: message, options), had: had)
        cursor.useUp(step, standIn, at: now, &tally)
    }

    /// The message never arrives: neither it nor what would answer it is waited for.
    func drop(_ message: Message, _ options: ReplayOptions) {
        guard options.match != .off, message.role != .close, message.role != .handshake else { return }
        cursor.drop(key(of: message, options), matched: tally.matchedSinceRestart)
    }

    /// What the message is compared by.
    func key(of message: Message, _ options: ReplayOptions) -> UInt64 {
        Script.key(message, at: place(of: message), ignore: options.ignore)
    }

    /// The chain that a live message continues; nil for one that opens its own, or for an id that was never heard of.
    func place(of message: Message) -> Script.ChainPlace? {
        guard let chain = message.chain, let link, message.role != .handshake else { return nil }
        return link.chains.place(of: chain) ?? Script.ChainPlace(group: -1, slot: 0)
    }

    // MARK: Ids

    /// Recorded ⇄ live ids of the message and of what it opens.
    private func bind(_ message: Message, to step: Int) {
        guard let recorded = script.message(step), let place = script.steps[step].place else { return }
        if let from = recorded.chain, let to = message.chain, message.role == .request {
            link?.chains.bind(from, to: to, at: place)
        }
        guard let group = script.steps[step].group else { return }
        for (i, (from, to)) in zip(recorded.opens, message.opens).enumerated() {
            link?.chains.bind(from, to: to, at: Script.ChainPlace(group: group, slot: i + 1))
        }
    }

    /// The ids of a message that lost its place name nothing on the tape any more.
    private func release(_ message: Message, from step: Int) {
        guard let recorded = script.message(step) else { return }
        for (from, to) in zip([recorded.chain].compactMap(\.self), [message.chain].compactMap(\.self)) {
            link?.chains.unbind(from, from: to)
        }
        for (from, to) in zip(recorded.opens, message.opens) {
            link?.chains.unbind(from, from: to)
        }
    }

    // MARK: What follows

    /// What a newly matched message sets going.
    private func open(_ step: Int, at now: WireInstant, _ options: ReplayOptions) {
        if script.steps[step].role == .handshake { return serveHandshake(after: step, at: now, options) }
        cursor.open(chainOf: step)
    }

    /// The protocol's opening is served on every connection anew.
    private func serveHandshake(after step: Int, at now: WireInstant, _ options: ReplayOptions) {
        guard let answer = script.serverHandshake else {
            link?.becomesReady(at: now)
            return
        }
        sayAgain(answer, after: step, at: now, options)
    }

    /// A repeated message: the handshake is served again, and what answered the request before.
    private func reopen(_ step: Int, at now: WireInstant, _ options: ReplayOptions) {
        if script.steps[step].role == .handshake { return serveHandshake(after: step, at: now, options) }
        let reopened = cursor.reopen(step, &tally)
        for said in reopened.again {
            sayAgain(said, after: step, at: now, options)
            if let retained = cursor.retainedStep(after: said, recorded.codec.type) {
                sayAgain(retained, after: step, timedAs: said, at: now, options)
            }
        }
        if reopened.goesOn { noteGoingOn(options) }
    }

    /// - Parameter timed: the step whose recorded gap to `step` counts. Nil: its own.
    private func sayAgain(
        _ said: Int, after step: Int, timedAs timed: Int? = nil, at now: WireInstant, _ options: ReplayOptions
    ) {
        let gap = options.scaled(from: script.steps[step].time, to: script.steps[timed ?? said].time)
        link?.repeats.add(said, due: now.advanced(by: gap))
    }
}
