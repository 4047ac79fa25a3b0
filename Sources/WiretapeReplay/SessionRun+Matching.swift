internal import WiretapeBytes
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

    /// Finds the counterpart of a message of the client: among unmatched ones of equal meaning the one recorded first;
    /// after a reconnect an interrupted chain of equal opening goes before, a completed one after those.
    func match(_ message: Message, at now: WireInstant, _ options: ReplayOptions) -> Match {
        link?.lastHeard = now
        switch message.role {
        case .keepalive, .ack:
            if message.role == .keepalive { tally.ping() }
            return .aside
        case .close:
            if let farewell = script.farewell, state[farewell] == .waiting { settle(farewell, at: now) }
            return .aside
        default: link?.lastSpoke = now
        }
        guard options.match != .off else {
            guard let step = nearest(to: message, in: place(of: message)) else { return .extra }
            accept(message, as: step, at: now, options)
            return .matched(step)
        }
        let place = place(of: message)
        let mayCancel = message.role == .cancel && session.codec.type.allowsCancels
        let key = Script.key(message, at: place, ignore: options.ignore)
        guard let step = choose(key) else {
            if !awaitsHandshake, let step = stoodFor(key) {
                accept(message, insteadOf: step, at: now, options)
                return .repeated(step)
            }
            guard mayCancel else { return .unexpected }
            if let place { cancelled(place) }
            return .aside
        }
        if options.match == .strict, state[step] == .waiting, step != firstAwaited { return .disordered(step) }
        if awaitsHandshake, message.role != .handshake { return .disordered(step) }
        if isStoodFor(step) { return .reclaims(step) }
        defer { if mayCancel, let place { cancelled(place, at: step) } }
        return accept(message, as: step, at: now, options) ? .repeated(step) : .matched(step)
    }

    /// Whether the client still owes this connection the protocol's opening, before which no protocol lets it speak.
    var awaitsHandshake: Bool {
        guard let opening = script.clientHandshake else { return false }
        return state[opening] == .waiting
            || (state[opening] == .done && matchedIn[opening] < UInt16(clamping: generation))
    }

    /// Takes the message as that step, whatever it says.
    /// - Returns: whether the step was matched before.
    @discardableResult
    func accept(_ message: Message, as step: Int, at now: WireInstant, _ options: ReplayOptions) -> Bool {
        let repeated = state[step] == .done
        bind(message, to: step)
        settle(step, at: now)
        if repeated || isInterrupted(step) {
            reopen(step, at: now, options)
            return true
        }
        opened(step, at: now, options)
        return false
    }

    /// The chain that a live message continues; nil for one that opens its own, or for an id that was never heard of.
    func place(of message: Message) -> Script.ChainPlace? {
        guard let chain = message.chain, let link, message.role != .handshake else { return nil }
        return link.chains[chain] ?? Script.ChainPlace(group: -1, slot: 0)
    }

    private func choose(_ key: UInt64) -> Int? {
        let same = script.equals(key)
        guard let first = same.first else { return nil }
        if generation > 1,
            let interrupted = same.first(where: { isInterrupted($0) && matchedIn[$0] < UInt16(clamping: generation) })
        {
            return interrupted
        }
        var at = max(same.startIndex, equalHead[first] ?? 0)
        while at < same.endIndex, ![.waiting, .deferred, .abandoned].contains(state[same[at]]) { at += 1 }
        if same.count > 4 { equalHead[first] = at }
        if at < same.endIndex, state[same[at]] == .abandoned || isInWindow(same[at]) { return same[at] }
        if let again = same.first(where: dropped.contains) {
            undrop(again)
            return again
        }
        if let taken = same.first(where: isStoodFor) { return taken }
        // Late ones, oldest first; then what an earlier connection had.
        if let late = same.first(where: { state[$0] == .forgiven || state[$0] == .unreached }) { return late }
        guard generation > 1 else { return nil }
        return same.first { state[$0] == .done && matchedIn[$0] < UInt16(clamping: generation) }
    }

    /// The message never arrives: neither it nor what would answer it is waited for.
    func drop(_ message: Message, _ options: ReplayOptions) {
        guard options.match != .off, message.role != .close, message.role != .handshake,
            let step = choose(Script.key(message, at: place(of: message), ignore: options.ignore)),
            state[step] == .waiting || state[step] == .deferred
        else { return }
        dropped.insert(step)
        state[step] = .lost
        for other in chain(openedBy: step) where state[other] == .waiting { state[other] = .lost }
        skipSettled()
    }

    /// A message that was dropped comes again: everything is as if it had not been sent before.
    private func undrop(_ step: Int) {
        dropped.remove(step)
        state[step] = .waiting
        for other in chain(openedBy: step) where state[other] == .lost { state[other] = .waiting }
        if let group = script.steps[step].group { groupHead[group] = nil }
        rewindPositions(to: step)
    }

    /// What follows in the chain of a request.
    private func chain(openedBy step: Int) -> [Int] {
        guard let group = script.steps[step].group, script.groups[group].request == step else { return [] }
        return script.toClient(in: group) + script.toServer(in: group).filter { $0 != step }
    }

    /// Whether the message is equal to one that came already.
    func cameAlready(_ message: Message, _ options: ReplayOptions) -> Int? {
        script.equals(Script.key(message, at: place(of: message), ignore: options.ignore)).last { state[$0] == .done }
    }

    /// Whether the step opened a chain that a lost connection interrupted.
    func isInterrupted(_ step: Int) -> Bool {
        guard state[step] == .done, let group = script.steps[step].group, script.groups[group].request == step else {
            return false
        }
        // A rule may have taken the last one away, and the lost connection what was on its way before.
        return script.toClient(in: group).suffix(2).contains { state[$0] == .abandoned }
    }

    func isInWindow(_ step: Int) -> Bool {
        // Only what is optional is left.
        guard firstAwaited < script.steps.count else { return true }
        let first = Int(script.steps[firstAwaited].ordinal)
        let matchedBeyond = max(0, tally.matchedSinceRestart - (first - 1))
        return Int(script.steps[step].ordinal) - first - matchedBeyond < Script.window
    }

    /// Recorded ⇄ live ids of the message and of what it opens.
    func bind(_ message: Message, to step: Int) {
        guard let recorded = script.message(step), let place = script.steps[step].place else { return }
        if let from = recorded.chain, let to = message.chain, message.role == .request {
            link?.ids.bind(from, to: to.id)
            link?.chains[to] = place
        }
        guard let group = script.steps[step].group else { return }
        for (i, (from, to)) in zip(recorded.opens, message.opens).enumerated() {
            link?.ids.bind(from, to: to.id)
            link?.chains[to] = Script.ChainPlace(group: group, slot: i + 1)
        }
    }

    func settle(_ step: Int, at now: WireInstant) {
        switch state[step] {
        case .waiting: tally.match(.inTime)
        case .abandoned:
            tally.match(.inTime)
            mayComeBack = max(0, mayComeBack - 1)
        case .deferred:
            tally.match(.reordered)
            anchorLate(gate: step, at: now)
        case .forgiven:
            tally.match(.late(step: step))
            anchorLate(gate: step, at: now)
        case .unreached:
            tally.match(.inTime)
            anchorLate(gate: step, at: now)
        case .done, .dormant, .lost: break
        }
        state[step] = .done
        if script.steps[step].isOfOwnAccord { lastSaid = max(lastSaid, step) }
        doneAt[step] = now
        matchedIn[step] = UInt16(clamping: generation)
        tally.progressed(at: now)
        anchors.client(said: Anchor(at: now, recorded: script.steps[step].time))
        takeBack(except: script.steps[step].group.flatMap { script.groups[$0].request == step ? $0 : nil })
        skipSettled()
    }

    /// What a newly matched message sets going.
    func opened(_ step: Int, at now: WireInstant, _ options: ReplayOptions) {
        if script.steps[step].role == .handshake { return serveHandshake(after: step, at: now, options) }
        guard let group = script.steps[step].group, script.groups[group].request == step else { return }
        if !script.toClient(in: group).isEmpty { openGroups.append(group) }
    }

    /// The protocol's opening is served on every connection anew.
    private func serveHandshake(after step: Int, at now: WireInstant, _ options: ReplayOptions) {
        guard let answer = script.serverHandshake else {
            link?.readyAt = now
            return
        }
        let gap = scaled(from: script.steps[step].time, to: script.steps[answer].time, options)
        link?.again.append((answer, now.advanced(by: gap)))
    }

    /// A repeated message: the handshake is served again, and what answered the request before; an interrupted chain then
    /// goes on where it stopped.
    private func reopen(_ step: Int, at now: WireInstant, _ options: ReplayOptions) {
        if script.steps[step].role == .handshake { return serveHandshake(after: step, at: now, options) }
        guard let group = script.steps[step].group, script.groups[group].request == step else { return }
        let answers = script.toClient(in: group)
        reopenUploads(of: group)
        rewindPositions(to: step)
        // What was lost before the last one goes before it.
        if let last = answers.last, state[last] == .done, isInterrupted(step) { state[last] = .waiting }
        for said in answers where state[said] == .done && script.steps[said].role == .reply {
            let gap = scaled(from: script.steps[step].time, to: script.steps[said].time, options)
            link?.again.append((said, now.advanced(by: gap)))
        }
        if let last = answers.last, state[last] == .done { return }
        if answers.contains(where: { state[$0] == .done && script.steps[$0].role == .push }) { noteGoingOn(options) }
        for unsent in answers where state[unsent] == .abandoned { revive(unsent) }
        rewindPositions(to: step)
        groupHead[group] = nil
        if !answers.isEmpty { openGroups.append(group) }
    }

    private func revive(_ step: Int) {
        state[step] = .waiting
        mayComeBack = max(0, mayComeBack - 1)
    }

    /// What the client had still to say in the chain is awaited. What it had said comes again or not: a client that goes on
    /// where it stood does nothing wrong.
    private func reopenUploads(of group: Int) {
        equalHead = [:]
        for mine in script.toServer(in: group) {
            if state[mine] == .abandoned, matchedIn[mine] == 0 {
                revive(mine)
            } else if state[mine] == .done, script.steps[mine].role == .part,
                matchedIn[mine] < UInt16(clamping: generation)
            {
                state[mine] = .abandoned
                tally.unmatch()
                mayComeBack += 1
            }
        }
    }
}
