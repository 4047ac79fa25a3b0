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
    mutating func next(at now: WireInstant, _ options: ReplayOptions) -> Next {
        guard failure == nil, let link, !link.isCut else { return .idle }
        if let first = link.again.min(by: { $0.due < $1.due }) {
            return first.due <= now ? .send(first.step, due: first.due) : .wait(first.due)
        }
        guard link.readyAt != nil else { return .held }
        guard head < script.toClient.count else { return isComplete ? .idle : .held }
        let step = script.toClient[head]
        if canSend(step) { return timed(step, due(step, options), now) }
        if let reply = firstPassingReply(after: step) { return timed(reply, due(reply, options), now) }
        return .held
    }

    private func timed(_ step: Int, _ due: WireInstant, _ now: WireInstant) -> Next {
        due <= now ? .send(step, due: due) : .wait(due)
    }

    /// Whether every client message that the step waits for is there.
    private func canSend(_ index: Int) -> Bool {
        let step = script.steps[index]
        if let group = step.group {
            for mine in script.groups[group].toServer {
                if mine > index { break }
                if state[mine] == .waiting { return false }
            }
        }
        if step.role == .reply {
            let request = step.group.flatMap { script.groups[$0].request } ?? index
            return !script.answers(between: request, and: index).contains { state[$0] == .waiting }
        }
        return firstGate == script.gates.count || script.gates[firstGate] > index
    }

    /// The earliest reply behind `held` whose chain is complete and has nothing unsent before it.
    private mutating func firstPassingReply(after held: Int) -> Int? {
        var found: Int?
        var stillOpen: [Int] = []
        for group in openGroups {
            let steps = script.groups[group].toClient
            while groupHead[group] < steps.count, state[steps[groupHead[group]]] != .waiting { groupHead[group] += 1 }
            guard groupHead[group] < steps.count else { continue }
            stillOpen.append(group)
            let unsent = steps[groupHead[group]]
            if unsent > held, unsent < found ?? .max, script.steps[unsent].role == .reply, canSend(unsent) {
                found = unsent
            }
        }
        openGroups = stillOpen
        return found
    }

    /// The step went out, or was lost with a fault in its place.
    mutating func sent(_ step: Int, at now: WireInstant, due: WireInstant) {
        // A loop's small delays must not add up; large ones (a stopped process) must not end in a burst.
        let moment = now.since(due) < 20_000_000 ? due : now
        state[step] = .done
        doneAt[step] = moment
        sent.append(step)
        lastProgress = max(lastProgress, now)
        pingsSinceProgress = 0
        skipSettled()
        link?.again.removeAll { $0.step == step }
        guard script.steps[step].role == .handshake, link?.readyAt == nil else { return }
        link?.readyAt = now
    }
}
