internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeWire

// Connections come, are lost, and come back. An ending that is on the tape is part of the script, and the script goes on behind it
// whatever `--on-reconnect` says.

extension SessionRun {
    /// Whether the client had a connection that was interrupted, and the session is not over.
    var wasInterrupted: Bool { generation > 0 && !isConnected && !isOver && !cursor.endedByScript }

    /// The client has a connection. What an earlier one left open is given up until its request comes again; a request of
    /// the server that was not answered is asked again.
    func attach(_ link: Link, at now: WireInstant, _ options: ReplayOptions) {
        connect(link)
        self.link?.writer = recorded.writer.serving(link.opening)
        let isScripted = cursor.connected()
        standing.departure = .lost
        negotiation.awaitsUpgrade = false
        tally.extendTime(to: now)
        let hasHandshake = recorded.codec.type.hasHandshake(on: link.transport)
        if !hasHandshake {
            self.link?.readyAt = now
        } else if script.clientHandshake == nil {
            greet(at: now, options)
        }
        defer { if !hasHandshake { cursor.skipHandshake(at: now) } }
        if generation == 1 { return cursor.begin(at: now) }
        speech.returned()
        loseTrailing()
        if options.onReconnect == .restart, !isScripted { return restart(at: now) }
        if recorded.isOperation { cursor.endAgain() }
        cursor.interrupt()
        if !isScripted || cursor.isPlayed { greetAgain(at: now) }
        if !isScripted { applyPolicy(options, remembered: false, at: now) }
        holdBack(what: options.subscribers.hanging)
    }

    /// The client is back, on a connection of its own or one that goes on: what the policy takes away or gives again.
    /// - Parameter remembered: the protocol itself resends what was under way.
    private func applyPolicy(_ options: ReplayOptions, remembered: Bool, at now: WireInstant) {
        cursor.apply(
            options, remembered: remembered, greeting: greeting?.steps ?? [], ready: link?.readyAt, at: now)
    }

    /// From the first message.
    private func restart(at now: WireInstant) {
        cursor.restart(at: now, &tally)
        faults.restart()
        speech.forget()
    }

    /// Where the client says nothing first, the protocol's opening is the server's alone: each connection begins with it.
    private func greet(at now: WireInstant, _ options: ReplayOptions) {
        guard let greeting = script.serverHandshake else {
            link?.readyAt = now
            return
        }
        let gap = options.scaled(from: script.opened, to: script.steps[greeting].time)
        link?.repeats.add(greeting, due: now.advanced(by: gap))
    }

    /// The connection is gone, or is being ended by us. Messages that the kernel has not wholly taken were never sent.
    func detach(at now: WireInstant) {
        guard let link else { return }
        // What a rule let others pass was never sent; a protocol that remembers sends it again itself.
        let passed = link.memory == nil ? link.faults.parked.steps : []
        cursor.restore(link.underWay.steps + passed)
        connect(nil)
        speech.lost()
        faults.mutedUntil = nil
        lastEnd = now
        wakeAt = nil
    }

    /// Our own end of the connection is behind what is still queued: until the kernel has that, it may yet be lost.
    func trail() {
        if let link, link.transport != .lp, !link.underWay.isEmpty { trailing = link }
        link?.underWay.handedOverAll()
    }

    /// The connection is gone, or the client has turned away from it: what the kernel did not take was never sent. Where
    /// the protocol resends such messages itself, that is known once the client is back.
    func loseTrailing() {
        guard let lost = trailing, parked?.link.memory == nil else { return }
        trailing = nil
        // What the protocol had sent again is nobody's step, and the end behind it is lost all the same.
        if !lost.underWay.isEmpty { cursor.restoreEnding() }
        cursor.restore(lost.underWay.steps)
    }

    /// The client goes on over a new connection as if there had been no end of the old one. The time without a connection
    /// stood still.
    /// - Parameter hasLost: a connection; not so a client of long polling that gave one poll up and makes another.
    func goOn(_ link: Link, hasLost: Bool = true, at now: WireInstant, _ options: ReplayOptions) {
        // The protocol resends what it remembers by itself.
        if link.memory == nil { loseTrailing() } else { trailing = nil }
        let isScripted = cursor.wentOn()
        standing.departure = .lost
        connect(link)
        speech.resumed()
        if link.readyAt != nil { self.link?.readyAt = now }
        negotiation.awaitsUpgrade = false
        tally.extendTime(to: now)
        if hasLost, !isScripted { applyPolicy(options, remembered: true, at: now) }
    }
}
