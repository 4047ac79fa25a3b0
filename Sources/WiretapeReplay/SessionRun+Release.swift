internal import WiretapeBytes
internal import WiretapeProtocol

extension SessionRun {
    /// What the session does next.
    enum Next: Hashable, Sendable {
        /// This step is due, at its time. Tell ``SessionRun/sent(_:at:)`` when it went out.
        case send(Int, due: WireInstant)
        /// Nothing before this time.
        case wait(WireInstant)
        /// The client's turn.
        case held
        /// No connection, a connection that is being cut, or nothing left.
        case idle
    }

    /// The next server message by the release rules of `docs/replay.md`: recorded order; a message that waits for the
    /// client holds back pushes and its own chain, and a reply whose chain is complete passes it; a message that waits for
    /// time holds back everything after it.
    /// - Parameter elsewhere: the line of the first client message that another session still waits for; with
    ///   `--causality tape` nothing recorded behind it leaves.
    func next(at now: WireInstant, elsewhere: Int32 = .max, _ options: ReplayOptions) -> Next {
        // Not `let link`: a copy of it for every message.
        guard failure == nil, !isStalled, link?.isCut == false else { return .idle }
        if link?.greeting.isEmpty == false { queueGreeting(options) }
        if link?.again.isEmpty == false, let first = link?.again.min(by: { $0.due < $1.due }),
            mayLeave(first.step, options)
        {
            return first.due <= now ? .send(first.step, due: first.due) : .wait(first.due)
        }
        guard link?.readyAt != nil else { return .held }
        guard head < script.steps.count else { return isPlayed ? .idle : .held }
        guard mayLeave(head, options) else { return .held }
        if canSend(head, elsewhere) { return timed(head, due(head, options), now) }
        if let reply = firstPassingReply(after: head, elsewhere) { return timed(reply, due(reply, options), now) }
        return .held
    }

    private func timed(_ step: Int, _ due: WireInstant, _ now: WireInstant) -> Next {
        due <= now ? .send(step, due: due) : .wait(due)
    }

    /// Whether every client message that the step waits for is there.
    private func canSend(_ index: Int, _ elsewhere: Int32) -> Bool {
        let step = script.steps[index]
        if step.line > elsewhere, step.role != .handshake { return false }
        // An end takes the client's chance to speak: it waits for all that was said before it.
        if step.isEnd { return firstAwaited > index && !awaitsRepeats }
        if let group = step.group {
            for mine in script.toServer(in: group) {
                if mine > index { break }
                if state[mine] == .waiting || (state[mine] == .abandoned && awaitsRepeats) { return false }
            }
        }
        if step.role == .reply {
            let request = step.group.flatMap { script.groups[$0].request } ?? index
            return !script.answers(between: request, and: index).contains {
                state[$0] == .waiting || state[$0] == .deferred
            }
        }
        return firstGate > index
    }

    /// The earliest reply behind `held` whose chain is complete and has nothing unsent before it.
    private func firstPassingReply(after held: Int, _ elsewhere: Int32) -> Int? {
        var found: Int?
        var stillOpen: [Int] = []
        for group in openGroups {
            let steps = script.toClient(in: group)
            var at = groupHead[group] ?? steps.startIndex
            while at < steps.endIndex, state[steps[at]] != .waiting { at += 1 }
            guard at < steps.endIndex else {
                groupHead[group] = nil
                continue
            }
            if steps.count > 1 { groupHead[group] = at }
            stillOpen.append(group)
            let unsent = steps[at]
            if unsent > held, unsent < found ?? .max, script.steps[unsent].role == .reply, canSend(unsent, elsewhere) {
                found = unsent
            }
        }
        openGroups = stillOpen
        return found
    }

    /// The step went out, or was lost with a fault in its place.
    func sent(_ step: Int, at now: WireInstant, due: WireInstant) {
        // A loop's small delays must not add up; large ones (a stopped process) must not end in a burst.
        // What a rule held back does not move what comes after it.
        let isHeld = link?.faults.heldUntil.map { due <= $0 } ?? false
        let moment = clockRanOn || isHeld || now.since(due) < 20_000_000 ? due : now
        // What is sent a second time is nothing that others waited for.
        if state[step] != .done { doneAt[step] = moment }
        state[step] = .done
        if link?.greeted.contains(step) != true { sent.append(Int32(clamping: step)) }
        tally.progressed(at: now)
        spend(step)
        if script.steps[step].role == nil { endedByScript = true }
        skipSettled()
        if link?.again.isEmpty == false { link?.again.removeAll { $0.step == step } }
        guard script.steps[step].role == .handshake, link?.readyAt == nil else { return }
        link?.readyAt = now
    }
}
