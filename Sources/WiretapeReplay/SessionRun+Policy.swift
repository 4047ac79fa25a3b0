internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

// What `--on-reconnect` makes of an interruption: a connection that a fault, the client or the network ended. An ending
// that is on the tape is part of the script, and the script goes on behind it whatever the policy.

extension SessionRun {
    /// Whether the client had a connection that was interrupted, and the session is not over.
    var wasInterrupted: Bool { generation > 0 && !isConnected && !isOver && !endedByScript }

    /// The client is back, on a connection of its own or one that goes on: what the policy takes away or gives again.
    /// - Parameter remembered: the protocol itself resends what was under way.
    func applyPolicy(_ options: ReplayOptions, remembered: Bool, at now: WireInstant) {
        clockRanOn = options.onReconnect == .live
        switch options.onReconnect {
        case .lose(let count): lose(count)
        case .rewind(let count): rewind(count)
        case .live where !remembered: loseWhatWasDue(options, at: now)
        case .resume, .live, .restart, .next, .refuse: break
        }
        // What the policy took away comes back no more.
        if awaitsRepeats { mayComeBack = state.count(of: .abandoned) }
    }

    /// The next pushes are gone, those of interrupted streams among them.
    private func lose(_ count: Int) {
        var left = count
        // Items of interrupted streams stand before the head.
        var index = 0
        while index < script.steps.count, left > 0 {
            if script.steps[index].role == .push, script.steps[index].direction == .toClient,
                state[index] == .waiting || (state[index] == .abandoned && openedLastTime(index))
            {
                state[index] = .lost
                left -= 1
            }
            index += 1
        }
        skipSettled()
    }

    /// Whether the step's chain was open until the connection was lost, not only until an earlier one was.
    private func openedLastTime(_ step: Int) -> Bool {
        guard let group = script.steps[step].group, let request = script.groups[group].request else { return false }
        return Int(matchedIn[request]) >= generation - 1
    }

    /// The last pushes come again: those of no chain, and those of streams whose end is still to come.
    private func rewind(_ count: Int) {
        var first: Int?
        var left = count
        var seen: Set<Int32> = []
        for step in sent.reversed() {
            guard left > 0 else { break }
            let index = Int(step)
            guard script.steps[index].role == .push, state[index] == .done, seen.insert(step).inserted,
                greeting?.steps.contains(index) != true
            else { continue }
            if let group = script.steps[index].group {
                guard let last = script.toClient(in: group).last, state[last] != .done || last == index else {
                    continue
                }
                state[index] = state[last] == .abandoned ? .abandoned : .waiting
                groupHead[group] = nil
            } else {
                state[index] = .waiting
            }
            first = min(first ?? index, index)
            left -= 1
        }
        if let first { rewindPositions(to: first) }
    }

    /// The session's clock ran on: pushes that became due without a connection are lost, items of interrupted streams among
    /// them, and so are questions, with their answers, and endings.
    private func loseWhatWasDue(_ options: ReplayOptions, at now: WireInstant) {
        // Items of interrupted streams stand before the head.
        var index = min(head, state.firstIndex(of: .abandoned) ?? head)
        while index < script.steps.count, index < firstGate {
            defer { index += 1 }
            let step = script.steps[index]
            guard index == head || (step.role == .push && state[index] == .abandoned && openedLastTime(index)) else {
                continue
            }
            guard step.role != .reply, step.role != .handshake else { break }
            let due = due(index, options)
            guard due <= now else { break }
            state[index] = .lost
            doneAt[index] = due
            if step.role == .request, let group = step.group {
                for answer in script.toServer(in: group) where state[answer] == .waiting { state[answer] = .lost }
            }
            skipSettled()
        }
    }

    /// From the first message. What was said and sent so far stays in the report. What the client had said it may say again,
    /// and need not: nothing waits for that once the client has been quiet for the grace.
    func restart(at now: WireInstant) {
        let count = script.steps.count
        let said = script.steps.indices.filter { mayStayAway($0) }
        state = StepColumn(.waiting, count: count)
        doneAt = StepTimes(count: count)
        matchedIn = StepColumn(0, count: count)
        judged = StepColumn(false, count: count)
        (head, firstGate, firstAwaited) = (0, 0, 0)
        anchors.lookAgain()
        (groupHead, equalHead, openGroups, aside) = ([:], [:], [], [])
        (standIns, lastSaid, lastStop) = ([:], -1, nil)
        tally.restart()
        mayComeBack = 0
        heldBack = []
        speech.forget()
        begin(at: now)
        for step in said {
            state[step] = .abandoned
            guard let group = script.steps[step].group, script.groups[group].request == step else { continue }
            for other in script.toClient(in: group) { state[other] = .abandoned }
            for other in script.toServer(in: group) { state[other] = .abandoned }
        }
        mayComeBack = state.count(of: .abandoned)
        skipSettled()
    }

    /// Whether the client has said that, by itself: neither the protocol's opening nor an answer to what it is asked again.
    private func mayStayAway(_ step: Int) -> Bool {
        guard script.steps[step].direction == .toServer, matchedIn[step] > 0 else { return false }
        switch script.steps[step].role {
        case .handshake, .close, nil: return false
        case .reply: return script.steps[step].group.map { script.groups[$0].origin == .toServer } ?? true
        case .request, .send, .push, .part, .cancel, .keepalive, .ack, .opaque: return true
        }
    }
}
