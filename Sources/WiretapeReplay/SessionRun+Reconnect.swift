internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

extension SessionRun {
    /// The client has a connection. What an earlier one left open is given up until its request comes again; a request of
    /// the server that was not answered is asked again.
    func attach(_ link: Link, at now: WireInstant, _ options: ReplayOptions) {
        connect(link)
        self.link?.writer = session.writer.serving(link.opening)
        generation += 1
        departure = .lost
        awaitsUpgrade = false
        tally.extendTime(to: now)
        let hasHandshake = session.codec.type.hasHandshake(on: link.transport)
        if !hasHandshake {
            self.link?.readyAt = now
        } else if script.clientHandshake == nil {
            greet(at: now, options)
        }
        let isScripted = endedByScript
        endedByScript = false
        defer { if !hasHandshake { skipHandshake(at: now) } }
        if generation == 1 { return begin(at: now) }
        speech.returned()
        loseTrailing()
        if options.onReconnect == .restart, !isScripted { return restart(at: now) }
        if session.isOperation { endAgain() }
        abandonOpenChains()
        for answer in script.allAnswers where state[answer] == .waiting {
            guard let group = script.steps[answer].group, let request = script.groups[group].request,
                state[request] == .done
            else { continue }
            state[request] = .waiting
            groupHead[group] = nil
        }
        rewindPositions()
        if !isScripted || isPlayed { greetAgain(at: now) }
        if !isScripted { applyPolicy(options, remembered: false, at: now) }
        holdBack(what: options.subscribers.hanging)
    }

    /// Where the client says nothing first, the protocol's opening is the server's alone: each connection begins with it.
    private func greet(at now: WireInstant, _ options: ReplayOptions) {
        guard let greeting = script.serverHandshake else {
            link?.readyAt = now
            return
        }
        let gap = scaled(from: script.opened, to: script.steps[greeting].time, options)
        link?.again.append((greeting, now.advanced(by: gap)))
    }

    /// This client's transport has none: it counts as done.
    private func skipHandshake(at now: WireInstant) {
        for step in [script.clientHandshake, script.serverHandshake].compactMap(\.self) {
            matchedIn[step] = UInt16(clamping: generation)
            guard state[step] == .waiting else { continue }
            state[step] = .done
            doneAt[step] = now
        }
        skipSettled()
    }

    /// The session's time begins.
    func begin(at now: WireInstant) {
        anchors.restart(Anchor(at: now, recorded: script.opened))
    }

    /// Chains that the lost connection interrupted: neither side says more of them until their request comes again.
    private func abandonOpenChains() {
        for group in script.groups.indices {
            guard script.groups[group].origin == .toServer, let request = script.groups[group].request,
                state[request] == .done
            else { continue }
            for step in script.toClient(in: group) where state[step] == .waiting || state[step] == .dormant {
                state[step] = .abandoned
            }
            for step in script.toServer(in: group) where state[step] == .waiting || state[step] == .deferred {
                state[step] = .abandoned
            }
        }
        aside.removeAll { state[$0] == .abandoned }
        openGroups = []
        equalHead = [:]
        mayComeBack = state.count(of: .abandoned)
    }

    /// The connection is gone, or is being ended by us. Messages that the kernel has not wholly taken were never sent.
    func detach(at now: WireInstant) {
        guard let link else { return }
        // What a rule let others pass was never sent; a protocol that remembers sends it again itself.
        let passed = link.memory == nil ? link.faults.passed.compactMap(\.step) : []
        restore(link.stepsUnderWay + passed)
        connect(nil)
        speech.lost()
        mutedUntil = nil
        lastEnd = now
        wakeAt = nil
    }

    /// Our own end of the connection is behind what is still queued: until the kernel has that, it may yet be lost.
    func trail() {
        if let link, link.transport != .lp, link.hasUnderWay { trailing = link }
        link?.handedOverAll()
    }

    /// The connection is gone, or the client has turned away from it: what the kernel did not take was never sent. Where
    /// the protocol resends such messages itself, that is known once the client is back.
    func loseTrailing() {
        guard let lost = trailing, parked?.link.memory == nil else { return }
        trailing = nil
        // What the protocol had sent again is nobody's step, and the end behind it is lost all the same.
        if lost.hasUnderWay { restoreEnding() }
        restore(lost.stepsUnderWay)
    }

    /// The tape's last end, which was the last that was sent, never got there.
    private func restoreEnding() {
        guard endedByScript, let last = sent.last.map(Int.init), script.steps[last].role == nil else { return }
        endedByScript = false
        state[last] = .waiting
        sent.removeLast()
        rewindPositions(to: last)
    }

    /// The client never got those steps: they are due again, and so is the ending behind them that was on its way.
    func restore(_ steps: [Int]) {
        var lost = Set(steps)
        guard let first = lost.min() else { return }
        for step in sent.lazy.map(Int.init) where step > first && script.steps[step].role == nil {
            lost.insert(step)
            endedByScript = false
        }
        for step in lost {
            state[step] = .waiting
            if let group = script.steps[step].group { groupHead[group] = nil }
        }
        sent.removeAll { lost.contains(Int($0)) }
        for step in lost.sorted() {
            // Its chain is open again, so that the reconnect can tell whether its request is repeated.
            guard let group = script.steps[step].group, script.groups[group].origin == .toServer,
                !openGroups.contains(group)
            else { continue }
            openGroups.append(group)
        }
        rewindPositions(to: lost.min() ?? 0)
    }

    /// Steps that were lost are on their way again, by the protocol's own means.
    func deliverAgain(_ steps: [Int]) {
        for step in steps where state[step] == .waiting {
            state[step] = .done
            sent.append(Int32(clamping: step))
        }
        skipSettled()
    }

    /// The client goes on over a new connection as if there had been no end of the old one. The time without a connection
    /// stood still.
    /// - Parameter hasLost: a connection; not so a client of long polling that gave one poll up and makes another.
    func goOn(_ link: Link, hasLost: Bool = true, at now: WireInstant, _ options: ReplayOptions) {
        // The protocol resends what it remembers by itself.
        if link.memory == nil { loseTrailing() } else { trailing = nil }
        let isLoss = !endedByScript && hasLost
        endedByScript = false
        departure = .lost
        connect(link)
        speech.resumed()
        if link.readyAt != nil { self.link?.readyAt = now }
        awaitsUpgrade = false
        tally.extendTime(to: now)
        if isLoss { applyPolicy(options, remembered: true, at: now) }
    }
}
