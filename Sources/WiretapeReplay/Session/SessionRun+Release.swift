internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol

extension SessionRun {
    /// What the session does next.
    enum Next: Hashable, Sendable {
        /// This step is due, at its time. Tell ``SessionRun/sent(_:at:due:)`` when it went out.
        case send(Int, due: WireInstant)
        /// Nothing before this time.
        case wait(WireInstant)
        /// The client's turn.
        case held
        /// No connection, a connection that is being cut, or nothing left.
        case idle
    }

    /// Whether a step waits for something on another connection.
    enum Elsewhere: Hashable, Sendable {
        case held
        /// It does not. `since`: the cause that came last.
        case free(since: Anchor?)
    }

    /// The next server message by the release rules of `docs/replay.md`: recorded order; a message that waits for the
    /// client holds back pushes and its own chain, and a reply whose chain is complete passes it; a message that waits for
    /// time holds back everything after it.
    /// - Parameter elsewhere: whether a step waits for something on another connection.
    func next(
        at now: WireInstant, _ options: ReplayOptions,
        elsewhere: (_ step: Int) -> Elsewhere = { _ in .free(since: nil) }
    ) -> Next {
        // Not `let link`: a copy of it for every message.
        guard standing.failure == nil, !standing.isStalled, link?.isCut == false else { return .idle }
        if link?.repeats.greeting.isEmpty == false { queueGreeting(options) }
        if link?.repeats.isEmpty == false, let first = link?.repeats.first, mayLeave(first.step, options) {
            return first.due <= now ? .send(first.step, due: first.due) : .wait(first.due)
        }
        guard let ready = link?.readyAt else { return .held }
        let head = cursor.head
        guard head < script.steps.count else { return cursor.isPlayed ? .idle : .held }
        guard mayLeave(head, options) else { return .held }
        if cursor.canSend(head), case .free(let cause) = elsewhere(head) {
            return timed(head, ready, cause, now, options)
        }
        var held = head
        while let reply = cursor.firstPassingReply(after: held) {
            if case .free(let cause) = elsewhere(reply) { return timed(reply, ready, cause, now, options) }
            held = reply
        }
        return .held
    }

    private func timed(
        _ step: Int, _ ready: WireInstant, _ cause: Anchor?, _ now: WireInstant, _ options: ReplayOptions
    ) -> Next {
        let due = cursor.due(step, ready: ready, cause: cause, options)
        return due <= now ? .send(step, due: due) : .wait(due)
    }

    /// The step went out, or was lost with a fault in its place.
    func sent(_ step: Int, at now: WireInstant, due: WireInstant) {
        // A loop's small delays must not add up; large ones (a stopped process) must not end in a burst.
        // What a rule held back does not move what comes after it.
        let isHeld = link?.faults.heldUntil.map { due <= $0 } ?? false
        let moment = cursor.clockRanOn || isHeld || now.since(due) < 20_000_000 ? due : now
        cursor.sent(step, at: moment, isRepeated: link?.repeats.greeted.contains(step) == true)
        tally.progressed(at: now)
        spend(step)
        if link?.repeats.isEmpty == false { link?.repeats.sent(step) }
        guard script.steps[step].role == .handshake, link?.readyAt == nil else { return }
        link?.becomesReady(at: now)
    }
}

extension ReplayOptions {
    /// A recorded gap as it is played: at most `--idle-cap`, divided by the speed, in nanoseconds of the client's time.
    func scaled(from earlier: UInt64, to later: UInt64) -> UInt64 {
        guard later > earlier, case .factor(let factor) = speed else { return 0 }
        let gap = Double(min(later - earlier, clock.idleCap ?? .max)) * clock.scale / factor
        return gap < 9e18 ? UInt64(gap) : 9_000_000_000_000_000_000
    }
}
