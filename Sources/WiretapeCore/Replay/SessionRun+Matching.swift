extension SessionRun {
    /// How far ahead of the first unmatched client message a counterpart may stand.
    static let window = 4_096

    /// What a client message is to the script.
    enum Match: Hashable, Sendable {
        /// The counterpart of this step.
        case matched(Int)
        /// Equal to this step, which was matched on an earlier connection: its chain is open again.
        case repeated(Int)
        /// Keepalives, acknowledgements, a farewell: never compared.
        case aside
        case unexpected
    }

    /// Finds the counterpart of a message of the client: among unmatched ones of equal meaning the one recorded first;
    /// after a reconnect an interrupted chain of equal opening goes before, a completed one after those.
    mutating func match(_ message: Message, at now: WireInstant, _ options: ReplayOptions) -> Match {
        link?.lastHeard = now
        switch message.role {
        case .keepalive, .ack:
            pingsSinceProgress += message.role == .keepalive ? 1 : 0
            return .aside
        case .close:
            if let farewell = script.farewell, state[farewell] == .waiting { settle(farewell, at: now) }
            return .aside
        default: break
        }
        let place = place(of: message)
        if let list = script.byKey[Script.key(message, at: place, ignore: options.ignore)], let step = choose(list) {
            let repeated = state[step] == .done
            bind(message, to: step)
            settle(step, at: now)
            if repeated || isInterrupted(step) {
                reopen(step, at: now, options)
                return .repeated(step)
            }
            opened(step, at: now, options)
            return .matched(step)
        }
        return .unexpected
    }

    /// The chain that a live message continues; nil for one that opens its own, or for an id that was never heard of.
    private func place(of message: Message) -> Script.ChainPlace? {
        guard let chain = message.chain, let link, message.role != .handshake else { return nil }
        return link.chains[chain] ?? Script.ChainPlace(group: -1, slot: 0)
    }

    private mutating func choose(_ list: Int) -> Int? {
        let same = script.equals[list]
        if generation > 1, let interrupted = same.first(where: { isInterrupted($0) && matchedIn[$0] < generation }) {
            return interrupted
        }
        while equalHead[list] < same.count, state[same[equalHead[list]]] != .waiting { equalHead[list] += 1 }
        if equalHead[list] < same.count, isInWindow(same[equalHead[list]]) { return same[equalHead[list]] }
        guard generation > 1 else { return nil }
        return same.first { state[$0] == .done && matchedIn[$0] < generation }
    }

    /// Whether the step opened a chain that a lost connection interrupted.
    private func isInterrupted(_ step: Int) -> Bool {
        guard state[step] == .done, let group = script.steps[step].group, script.groups[group].request == step else {
            return false
        }
        return script.groups[group].toClient.last.map { state[$0] == .abandoned } ?? false
    }

    private func isInWindow(_ step: Int) -> Bool {
        guard firstAwaited < script.toServer.count else { return false }
        let first = script.steps[script.toServer[firstAwaited]].ordinal
        let matchedBeyond = max(0, matched - (first - 1))
        return script.steps[step].ordinal - first - matchedBeyond < SessionRun.window
    }

    /// Recorded ⇄ live ids of the message and of what it opens.
    private mutating func bind(_ message: Message, to step: Int) {
        guard let recorded = script.steps[step].message, let place = script.steps[step].place else { return }
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

    private mutating func settle(_ step: Int, at now: WireInstant) {
        if state[step] == .waiting { matched += 1 }
        state[step] = .done
        doneAt[step] = now
        matchedIn[step] = generation
        lastProgress = now
        pingsSinceProgress = 0
        skipSettled()
    }

    /// What a newly matched message sets going.
    private mutating func opened(_ step: Int, at now: WireInstant, _ options: ReplayOptions) {
        if script.steps[step].role == .handshake { return serveHandshake(after: step, at: now, options) }
        guard let group = script.steps[step].group, script.groups[group].request == step else { return }
        if !script.groups[group].toClient.isEmpty { openGroups.append(group) }
    }

    /// The protocol's opening is served on every connection anew.
    private mutating func serveHandshake(after step: Int, at now: WireInstant, _ options: ReplayOptions) {
        guard let answer = script.serverHandshake else {
            link?.readyAt = now
            return
        }
        let gap = scaled(from: script.steps[step].time, to: script.steps[answer].time, options.speed)
        link?.again.append((answer, now.advanced(by: gap)))
    }

    /// A repeated message: the handshake is served again, an interrupted chain goes on where it stopped, a completed one
    /// gets its recorded answer again.
    private mutating func reopen(_ step: Int, at now: WireInstant, _ options: ReplayOptions) {
        if script.steps[step].role == .handshake { return serveHandshake(after: step, at: now, options) }
        guard let group = script.steps[step].group, script.groups[group].request == step,
            let last = script.groups[group].toClient.last
        else { return }
        if state[last] == .done {
            guard script.steps[last].role == .reply else { return }
            let gap = scaled(from: script.steps[step].time, to: script.steps[last].time, options.speed)
            link?.again.append((last, now.advanced(by: gap)))
            return
        }
        for unsent in script.groups[group].toClient where state[unsent] == .abandoned { state[unsent] = .waiting }
        rewindPositions()
        groupHead[group] = 0
        openGroups.append(group)
    }

    /// After steps went back to waiting.
    mutating func rewindPositions() {
        head = 0
        firstGate = 0
        firstAwaited = 0
        skipSettled()
    }
}
