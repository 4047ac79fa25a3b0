internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

// What may be asked of a session's place on its script. Nothing here changes it.

extension ScriptCursor {
    /// Everything is out and matched that is not optional or given up.
    var isPlayed: Bool { head == script.steps.count && firstAwaited == script.steps.count }

    var awaitsRepeats: Bool { mayComeBack > 0 }

    /// The first client message that must still come.
    var firstAwaitedStep: Int? { firstAwaited < script.steps.count ? firstAwaited : nil }

    /// Whether the session still wants that client message to come.
    func isAwaited(_ index: Int) -> Bool {
        let step = script.steps[index]
        return step.direction == .toServer && !step.optional && (state[index] == .waiting || state[index] == .deferred)
    }

    /// Whether pushes behind that step wait for it. Of an interrupted chain, as long as its request may be repeated.
    func holdsPushes(_ index: Int) -> Bool {
        guard script.steps[index].isGate else { return false }
        return state[index] == .waiting || (state[index] == .abandoned && awaitsRepeats)
    }

    /// The group of which that step is the request.
    func group(openedBy step: Int) -> Int? {
        guard let group = script.steps[step].group, script.groups[group].request == step else { return nil }
        return group
    }

    /// What follows in the chain of a request.
    func chain(openedBy step: Int) -> [Int] {
        guard let group = group(openedBy: step) else { return [] }
        return script.toClient(in: group) + script.toServer(in: group).filter { $0 != step }
    }

    // MARK: - What the client says

    /// Whether the client still owes this connection the protocol's opening, before which no protocol lets it speak.
    var awaitsHandshake: Bool {
        guard let opening = script.clientHandshake else { return false }
        return state[opening] == .waiting || (state[opening] == .done && matchedIn[opening] < thisConnection)
    }

    /// Whether the step opened a chain that a lost connection interrupted.
    func isInterrupted(_ step: Int) -> Bool {
        guard state[step] == .done, let group = group(openedBy: step) else { return false }
        // A rule may have taken the last one away, and the lost connection what was on its way before.
        return script.toClient(in: group).suffix(2).contains { state[$0] == .abandoned }
    }

    /// Whether the step stands near enough behind the first that is awaited to be meant.
    /// - Parameter matched: how many client messages have their counterpart since the script was last begun anew.
    func isInWindow(_ step: Int, matched: Int) -> Bool {
        // Only what is optional is left.
        guard firstAwaited < script.steps.count else { return true }
        let first = Int(script.steps[firstAwaited].ordinal)
        let matchedBeyond = max(0, matched - (first - 1))
        return Int(script.steps[step].ordinal) - first - matchedBeyond < Script.window
    }

    /// The step that a message of that meaning would be taken for.
    func counterpart(ofKey key: UInt64) -> Int? {
        let same = script.equals(key)
        return same.first { state[$0] == .waiting || state[$0] == .deferred } ?? same.last
    }

    /// Whether an optional client message has not arrived yet.
    var awaitsOptionalMessage: Bool {
        script.steps.indices.contains { step in
            script.steps[step].direction == .toServer && script.steps[step].optional && state[step] == .waiting
        }
    }

    /// The last step of that meaning that has come already.
    func cameAlready(_ key: UInt64) -> Int? { script.equals(key).last { state[$0] == .done } }

    /// Whether something else has the step's place on this connection.
    func isStoodFor(_ step: Int) -> Bool {
        state[step] == .done && standIns[step] != nil && matchedIn[step] == thisConnection
    }

    /// The step for which an equal message stood in on an earlier connection: the client repeats it.
    func stoodFor(_ key: UInt64) -> Int? {
        guard generation > 1 else { return nil }
        return standIns.filter { step, standIn in
            standIn.key == key && state[step] == .done && matchedIn[step] < thisConnection
        }.keys.min()
    }

    // MARK: - What the server says

    /// Whether every message of its own client that the step waits for has arrived. It is mutating only to avoid a copy of the cursor.
    mutating func canSend(_ index: Int) -> Bool {
        let step = script.steps[index]
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

    /// The awaited messages that hold back the script's next step; all that are awaited when nothing is held back.
    var blockers: [Int] {
        let before = awaited(before: head)
        return before.isEmpty ? awaited(before: script.steps.count) : before
    }

    /// At most 4,096 are listed at once: what is behind them gets its own time.
    func awaited(before end: Int, most: Int = Script.window) -> [Int] {
        var found: [Int] = []
        _ = hasAwaited(before: end, most: most) { step in
            found.append(step)
            return false
        }
        return found
    }

    /// The first push that a client message holds back and that its own chain would let go. An ending is none: it would
    /// take the client's chance to speak.
    var heldPush: Int? {
        var index = head
        let end = min(script.steps.count, head + Script.window)
        while let push = script.pushes.first(from: index, before: end) {
            if state[push] == .waiting {
                if script.steps[push].isEnd { return nil }
                if isOpen(before: push) { return push }
            }
            index = push + 1
        }
        return nil
    }

    /// A push that may go before the client messages that hold it back, and the first of these.
    var postponable: (push: Int, held: Int)? {
        guard let push = heldPush, firstAwaited < push else { return nil }
        if script.mayBeCaused(push), hasAwaited(before: push, where: { causes($0, push) }) { return nil }
        // Something must be left to postpone: what other sessions hold back does not go out for it.
        guard head < push || hasAwaited(before: push, where: { state[$0] == .waiting }) else { return nil }
        return (push, firstAwaited)
    }

    /// Whether one of the client messages that are listed by ``awaited(before:most:)`` is such a one.
    private func hasAwaited(before end: Int, most: Int = Script.window, where isOne: (Int) -> Bool) -> Bool {
        var found = 0
        var index = firstAwaited
        while index < end, found < most {
            if isAwaited(index) {
                if isOne(index) { return true }
                found += 1
            }
            index += 1
        }
        return false
    }

    /// Whether the push is recorded between a call, or what belongs to it, and its one answer: it is what the call did.
    /// Streams are long, and much that happens meanwhile has nothing to do with them.
    func causes(_ step: Int, _ push: Int) -> Bool {
        guard let group = script.steps[step].group, script.isOneAnswer(in: group) else { return false }
        return script.toClient(in: group).first.map { $0 > push } ?? false
    }

    /// Whether a call of the client is being answered. Streams do not count.
    var isAnswering: Bool {
        chains.open.contains { group in
            script.isOneAnswer(in: group) && script.toClient(in: group).contains { state[$0] == .waiting }
        }
    }

    /// Whether the request of the step's chain has come, or is the step itself.
    func isOpen(before step: Int) -> Bool {
        let request = script.steps[step].group.flatMap { script.groups[$0].request }
        return request.map { $0 == step || state[$0] == .done } ?? true
    }

    /// Whether the chain of a step that was set aside has come so far.
    func isReady(_ step: Int) -> Bool {
        guard isOpen(before: step), let group = script.steps[step].group else { return isOpen(before: step) }
        for mine in script.toServer(in: group) {
            if mine > step { break }
            if state[mine] == .waiting || state[mine] == .deferred { return false }
        }
        guard script.steps[step].role == .reply else { return true }
        let request = script.groups[group].request ?? step
        return !script.answers(between: request, and: step).contains { state[$0] == .waiting || state[$0] == .deferred }
    }

    /// Whether all that the server still has to say is out; what a reconnect left out is not said any more.
    var isSaid: Bool {
        script.steps.indices.allSatisfy { i in
            script.steps[i].role == nil || script.steps[i].direction == .toServer || state[i] == .done
                || state[i] == .lost
        }
    }

    // MARK: - Connections

    /// Whether the step's chain was open until the connection was lost, not only until an earlier one was.
    func openedLastTime(_ step: Int) -> Bool {
        guard let group = script.steps[step].group, let request = script.groups[group].request else { return false }
        return Int(matchedIn[request]) >= generation - 1
    }

    /// Whether the client has said that, by itself: neither the protocol's opening nor an answer to what it is asked again.
    func mayStayAway(_ step: Int) -> Bool {
        guard script.steps[step].direction == .toServer, matchedIn[step] > 0 else { return false }
        switch script.steps[step].role {
        case .handshake, .close, nil: return false
        case .reply: return script.steps[step].group.map { script.groups[$0].origin == .toServer } ?? true
        case .request, .send, .push, .part, .cancel, .keepalive, .ack, .opaque: return true
        }
    }

    /// All that is left belongs to chains which the client has ended itself: one that has left is owed nothing of them.
    var owesOnlyCancelled: Bool {
        guard firstAwaited == script.steps.count else { return false }
        var ended: Set<Int> = []
        for cancel in script.cancels(before: script.steps.count) where state[cancel] == .done {
            if let group = script.steps[cancel].group { ended.insert(group) }
        }
        return !ended.isEmpty
            && script.steps.indices.allSatisfy { step in
                ![.waiting, .dormant, .abandoned].contains(state[step])
                    || script.steps[step].group.map(ended.contains) ?? false
            }
    }

    /// The state of the client messages on one line of the tape.
    enum Said {
        case awaited
        case came(WireInstant)
        /// Nothing waits for them.
        case settled
    }

    func said(onLine line: Int32) -> Said {
        var index = script.firstStep(fromLine: line)
        var said = Said.settled
        while index < script.steps.count, script.steps[index].line == line {
            if script.steps[index].isGate {
                if state[index] == .waiting { return .awaited }
                if state[index] == .done { said = .came(doneAt[index]) }
            }
            index += 1
        }
        return said
    }

    /// Server messages that a lost connection interrupted and nobody has asked for again.
    var abandonedCount: Int {
        state.indices.count { state[$0] == .abandoned && script.steps[$0].direction == .toClient }
    }
}
