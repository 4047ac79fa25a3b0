extension ReplayEngine {
    static let settleTime: UInt64 = 20_000_000

    /// An ending of the tape, kept as it was.
    mutating func end(_ r: Int, with ending: RecordedSession.Ending, into out: inout [ReplayAction]) {
        let verdict: FaultVerdict
        switch ending {
        case .close(let code, let reason): verdict = .close(code: code, reason: reason)
        case .disconnect: verdict = .disconnect
        case .reset: verdict = .reset
        }
        cut(r, Link.Ending(verdict: verdict, hit: nil), following: false, into: &out)
    }

    /// Ends a session's connection. A reset, and whatever follows a message, waits until the peer has what goes before:
    /// neither must eat it.
    mutating func cut(_ r: Int, _ ending: Link.Ending, following: Bool, into out: inout [ReplayAction]) {
        guard let link = runs[r].link else { return }
        if following || ending.verdict == .reset {
            let ticket = ticket()
            runs[r].link?.cut = .acknowledging(ticket: ticket, ending)
            runs[r].wakeAt = nil
            out.append(.awaitAcknowledged(link.id, ticket: ticket))
        } else {
            carryOut(ending, of: r, complete: true, into: &out)
        }
    }

    /// The answer to ``ReplayAction/awaitAcknowledged(_:ticket:)``; not `complete`: given up.
    package mutating func acknowledged(
        _ c: ConnectionID, ticket: UInt64, complete: Bool, at now: WireInstant, into out: inout [ReplayAction]
    ) {
        self.now = max(self.now, now)
        for i in requestCuts.indices where requestCuts[i].ticket == ticket {
            requestCuts[i].until = self.now.advanced(by: ReplayEngine.settleTime)
            requestCuts[i].complete = complete
        }
        guard let r = peers[c]?.run, case .acknowledging(ticket, let ending) = runs[r].link?.cut else { return }
        let until = self.now.advanced(by: ReplayEngine.settleTime)
        runs[r].link?.cut = .settling(until: until, ending, complete: complete)
        runs[r].wakeAt = until
    }

    /// - Returns: whether the connection is being cut.
    mutating func finishSettling(_ r: Int, into out: inout [ReplayAction]) -> Bool {
        switch runs[r].link?.cut {
        case nil, .some(.none): return false
        case .acknowledging: return true
        case .settling(let until, let ending, let complete):
            if until <= now {
                // Everything is acknowledged, so the kernel has it.
                if complete { runs[r].link?.underWay = [] }
                carryOut(ending, of: r, complete: complete, into: &out)
            }
            return true
        }
    }

    /// Does what a rule or the tape wants with a session's connection, which is over then.
    private mutating func carryOut(
        _ ending: Link.Ending, of r: Int, complete: Bool, into out: inout [ReplayAction]
    ) {
        guard let link = runs[r].link else { return }
        let how: String
        switch ending.verdict {
        case .reset:
            out.append(.reset(link.id))
            how = "reset"
        case .disconnect, .respond:
            out.append(.disconnect(link.id))
            how = "fin"
        case .close(let code, let reason):
            out.append(.closeFrame(link.id, code: code, reason: ReplayEngine.closeReason(reason)))
            how = code.map { "close \($0)" } ?? "close"
        }
        if let hit = ending.hit { record(hit, moment(of: r), cut: !complete) }
        if ending.verdict != .reset {
            // What is queued goes out before a FIN or a close frame.
            runs[r].link?.underWay = []
        }
        leave(r, by: ending.hit.map { "fault:\($0.name)" } ?? "server", how: how)
    }

    /// The session has no connection any more.
    mutating func leave(_ r: Int, by: String, how: String) {
        guard let link = runs[r].link else { return }
        peers[link.id]?.isOver = true
        runs[r].ended(by: by, how: how, at: now, origin: origin ?? now)
        runs[r].detach(at: now)
    }

    mutating func record(_ hit: FaultHit, _ moment: FaultEngine.Moment, cut: Bool) {
        firings.append(
            ReplayReport.Firing(
                rule: hit.name, time: elapsed, session: moment.session, run: moment.run, attempt: moment.attempt,
                message: hit.message, action: hit.action.text, cut: cut))
    }

    /// All bytes of that send are in the kernel.
    package mutating func handedOver(
        _ c: ConnectionID, ticket: UInt64, at now: WireInstant, into out: inout [ReplayAction]
    ) {
        self.now = max(self.now, now)
        guard let r = peers[c]?.run, runs[r].link?.id == c else { return }
        runs[r].handedOver(ticket)
    }

    /// The client ended its side, or the connection is gone. May be told more than once.
    package mutating func clientClosed(
        _ c: ConnectionID, _ how: ClientEnd, at now: WireInstant, into out: inout [ReplayAction]
    ) {
        guard let peer = peers[c] else { return }
        happened(at: now)
        if case .closeFrame = how {} else { peers[c] = nil }
        guard !peer.isOver, let r = peer.run, runs[r].link?.id == c else { return }
        if case .acknowledging(_, let ending) = runs[r].link?.cut, let hit = ending.hit {
            // The client left before the fault that was on its way: what it followed may have been lost.
            record(hit, moment(of: r), cut: true)
        } else if case .settling(_, let ending, let complete) = runs[r].link?.cut, let hit = ending.hit {
            record(hit, moment(of: r), cut: !complete)
        }
        let text: String
        switch how {
        case .closeFrame(let code, let reason):
            text = code.map { "close \($0)" } ?? "close"
            out.append(.closeFrame(c, code: code, reason: reason))
        case .fin:
            text = "fin"
            out.append(.disconnect(c))
        case .rst: text = "reset"
        }
        leave(r, by: "client", how: text)
    }

    /// At most 123 bytes: what fits into a close frame (RFC 6455 §5.5.1).
    static func closeReason(_ text: String) -> String {
        guard text.utf8.count > 123 else { return text }
        var kept = ""
        for character in text {
            guard kept.utf8.count + character.utf8.count <= 120 else { break }
            kept.append(character)
        }
        return kept + "…"
    }
}
