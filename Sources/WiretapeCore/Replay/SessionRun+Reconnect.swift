extension SessionRun {
    /// The client has a connection. What an earlier one left open is given up until its request comes again; a request of
    /// the server that was not answered is asked again.
    mutating func attach(_ link: Link, at now: WireInstant) {
        self.link = link
        generation += 1
        awaitsUpgrade = false
        lastProgress = max(lastProgress, now)
        if script.clientHandshake == nil { self.link?.readyAt = now }
        if generation == 1 {
            serverAnchor = Anchor(at: now, recorded: script.opened)
            gateAnchor = serverAnchor
            return
        }
        for group in openGroups {
            for step in script.groups[group].toClient where state[step] == .waiting { state[step] = .abandoned }
        }
        openGroups = []
        for answer in script.answers where state[answer] == .waiting {
            guard let group = script.steps[answer].group, let request = script.groups[group].request,
                state[request] == .done
            else { continue }
            state[request] = .waiting
            groupHead[group] = 0
        }
        rewindPositions()
    }

    /// The connection is gone, or is being ended by us. Messages that the kernel has not wholly taken were never sent.
    mutating func detach(at now: WireInstant) {
        guard let link else { return }
        restore(link.stepsUnderWay)
        self.link = nil
        lastEnd = now
        wakeAt = nil
    }

    /// The client never got those steps: they are due again.
    mutating func restore(_ steps: [Int]) {
        let lost = Set(steps)
        guard !lost.isEmpty else { return }
        for step in lost {
            state[step] = .waiting
            if let group = script.steps[step].group { groupHead[group] = 0 }
        }
        sent.removeAll { lost.contains($0) }
        for step in lost.sorted() {
            // Its chain is open again, so that the reconnect can tell whether its request is repeated.
            guard let group = script.steps[step].group, script.groups[group].chain.origin == .toServer,
                !openGroups.contains(group)
            else { continue }
            openGroups.append(group)
        }
        rewindPositions()
    }

    /// Steps that were lost are on their way again, by the protocol's own means.
    mutating func deliverAgain(_ steps: [Int]) {
        for step in steps where state[step] == .waiting {
            state[step] = .done
            sent.append(step)
        }
        skipSettled()
    }

    /// The client goes on over a new connection as if there had been no end of the old one. The time without a connection
    /// stood still.
    mutating func goOn(_ link: Link, at now: WireInstant) {
        self.link = link
        if link.readyAt != nil { self.link?.readyAt = now }
        awaitsUpgrade = false
        lastProgress = max(lastProgress, now)
    }
}
