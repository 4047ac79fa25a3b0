internal import WiretapeAttempts
package import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

extension ReplayEngine {
    /// How long a client may take to read what its kernel has, before what would destroy it follows: 20 ms of our time. A
    /// clock that is moved by hand has none; the server waits instead.
    var settleTime: UInt64 {
        options.clock.isManual ? 0 : UInt64(min(20_000_000 * options.clock.scale, 1e15))
    }

    /// An ending of the tape, kept as it was.
    mutating func end(_ r: Int, with ending: RecordedSession.Ending, into out: inout [ReplayAction]) {
        let verdict: FaultEffect
        switch ending {
        case .close(let code?, let reason):
            let close = writer(of: r).translated(RuleBreach(code, reason))
            verdict = .close(code: close.code, reason: close.reason)
        case .close(nil, let reason): verdict = .close(code: nil, reason: reason)
        case .disconnect: verdict = .disconnect
        case .reset: verdict = .reset
        }
        cut(r, Link.Ending(verdict: verdict, hit: nil), following: false, into: &out)
    }

    /// Ends a session's connection. A reset, and whatever follows a message, waits until the peer has what goes before:
    /// neither must eat it.
    mutating func cut(_ r: Int, _ ending: Link.Ending, following: Bool, into out: inout [ReplayAction]) {
        guard let transport = runs[r].link?.transport else { return }
        answerPoll(of: r, into: &out)
        guard following || ending.verdict == .reset else {
            return carryOut(ending, of: r, complete: true, into: &out)
        }
        let ticket = ticket()
        runs[r].link?.cut = .acknowledging(ticket: ticket, ending)
        runs[r].wakeAt = nil
        guard transport == .lp else {
            if let c = runs[r].link?.connection { out.append(.awaitAcknowledged(c, ticket: ticket)) }
            return
        }
        if runs[r].link?.polls.queue.isEmpty == false {
            runs[r].link?.polls.acknowledgement = ticket
        } else if let carrier = runs[r].link?.polls.carrier {
            out.append(.awaitAcknowledged(carrier, ticket: ticket))
        } else {
            // Nothing went out before it.
            carryOut(ending, of: r, complete: true, into: &out)
        }
    }

    /// The answer to ``ReplayAction/awaitAcknowledged(_:ticket:)``; not `complete`: given up.
    package mutating func acknowledged(
        _ c: ConnectionID, ticket: UInt64, complete: Bool, at now: WireInstant, into out: inout [ReplayAction]
    ) {
        clock.reach(now)
        rules.acknowledged(ticket, complete: complete, until: self.now.advanced(by: settleTime))
        // A poll's connection may be gone, or be another session's by now.
        let r = runs.indices.first { r in
            if case .acknowledging(ticket, _) = runs[r].link?.cut { true } else { false }
        }
        guard let r, case .acknowledging(_, let ending) = runs[r].link?.cut else { return }
        let until = self.now.advanced(by: settleTime)
        runs[r].link?.cut = .settling(until: until, ending, complete: complete)
        runs[r].wakeAt = until
    }

    /// - Returns: whether the connection is being cut.
    mutating func finishSettling(_ r: Int, into out: inout [ReplayAction]) -> Bool {
        switch runs[r].link?.cut {
        case nil, .some(.none): return false
        case .acknowledging, .awaitingPoll: return true
        case .settling(let until, let ending, let complete):
            if until <= now {
                // Everything is acknowledged, so the kernel has it.
                if complete, !ending.isTruncated { runs[r].link?.underWay.handedOverAll() }
                carryOut(ending, of: r, complete: complete, into: &out)
                return runs[r].link?.isCut ?? true
            }
            return true
        }
    }

    /// Does what a rule or the tape wants with a session's connection, which is over then. On long polling it is the poll
    /// that waits, or the next one once everything before has gone.
    mutating func carryOut(
        _ ending: Link.Ending, of r: Int, complete: Bool, into out: inout [ReplayAction]
    ) {
        guard let link = runs[r].link else { return }
        if link.transport == .lp, ending.verdict != nil, link.connection == nil || !link.polls.queue.isEmpty {
            runs[r].link?.cut = .awaitingPoll(ending, complete: complete)
            runs[r].wakeAt = nil
            return
        }
        for effect in ending.effects {
            if effect == .expire, ending.verdict != nil {
                forgetNames(of: r)
            } else {
                apply(effect, on: link.connection, of: r, into: &out)
            }
        }
        guard let verdict = ending.verdict else {
            runs[r].link?.cut = .none
            return
        }
        if ending.lingering > 0 { return linger(r, ending, complete, into: &out) }
        if let hit = ending.hit, !ending.isToldAlready { record(hit, moment(of: r), cut: !complete) }
        carryOut(verdict, .session(ending), on: link.connection, of: r, into: &out)
    }

    /// What carries the session's messages ends, and its client has no connection any more.
    mutating func end(
        _ r: Int, _ end: ConnectionEnd, _ ending: Link.Ending, on c: ConnectionID?, into out: inout [ReplayAction]
    ) {
        noteFault(ending.hit, step: ending.step, of: r, .end, on: c, into: &out)
        shut(r, end, isRecorded: ending.hit == nil, into: &out)
        // What is queued goes out before a FIN or a close frame.
        if end != .reset {
            runs[r].trail()
            if runs[r].trailing != nil, let c { peers[c]?.trails = r }
        }
        let isLast = ending.hit == nil && runs[r].cursor.isPlayed
        var stay = Stay.resumable
        let hasTrackingIDs = runs[r].session.codec.type.hasTrackingIDs
        if case .close = end, runs[r].link?.transport == .lp, !hasTrackingIDs { stay = .gone }
        leave(
            r, by: ending.hit.map { Attempt.End.Party.fault($0.name) } ?? .server, how: .init(end),
            isLast && !hasTrackingIDs ? .gone : stay)
    }

    /// What goes before the end lasts for a while.
    private mutating func linger(
        _ r: Int, _ ending: Link.Ending, _ complete: Bool, into out: inout [ReplayAction]
    ) {
        var rest = ending
        rest.effects = []
        rest.lingering = 0
        // What lasts has begun: that is when the rule fires, not when the end behind it comes.
        if let hit = ending.hit, !ending.isToldAlready {
            record(hit, moment(of: r), cut: !complete)
            noteFault(hit, step: ending.step, of: r, .none, on: runs[r].link?.connection, into: &out)
            rest.isToldAlready = true
        }
        let until = now.advanced(by: ending.lingering)
        runs[r].link?.cut = .settling(until: until, rest, complete: complete)
        runs[r].wakeAt = until
    }

    /// How a poll ends that a rule has ended, for its session.
    func how(_ verdict: FaultEffect) -> Attempt.End.Manner {
        switch verdict.kind {
        case .end(let end): return .init(end)
        case .answer:
            if case .respond(let answer) = verdict { return .status(answer.status) }
            return .reset
        case .outage, .upgrade, .message, .connection, .session, .handshake: return .reset
        }
    }

    /// Ends what carries a session's messages: the WebSocket, the event stream, the poll that waits.
    /// - Returns: whether the client is told by it; not when no poll waits.
    @discardableResult
    mutating func shut(
        _ r: Int, _ end: ConnectionEnd, isRecorded: Bool = true, into out: inout [ReplayAction]
    ) -> Bool {
        answerPoll(of: r, into: &out)
        guard let link = runs[r].link, let c = link.connection else { return false }
        if runs[r].session.isOperation { return shutOperation(r, c, end, isRecorded, into: &out) }
        switch end {
        case .reset: out.append(.reset(c))
        case .fin: out.append(.disconnect(c))
        case .close(let code, let reason):
            switch link.transport {
            case .lp:
                let head = link.polls.waiting ?? runs[r].session.opening.request
                finishPoll(of: r, with: answer(.pollEnd, head, of: r), into: &out)
            case .sse, .stream, .multipart, .http:
                let last = runs[r].session.codec.type.closing(link.transport)
                if !last.isEmpty { out.append(.piece(c, last, ticket: ticket())) }
                out.append(.endStream(c))
            case .ws:
                // Only a rule may want a code that must not be on the wire.
                let told = code.flatMap { !isRecorded || CloseFrame.maySend($0) ? $0 : nil }
                out.append(.closeFrame(c, code: told, reason: ReplayEngine.closeReason(reason)))
            }
            if link.transport != .ws { return true }
        }
        peers[c]?.isOver = true
        return true
    }

    /// What becomes of a connection's token when the connection is gone.
    enum Stay {
        /// The client may go on with it where the protocol lets it.
        case resumable
        /// The client may go on with it where the protocol lets it. The connection counts as ended only when the client does
        /// not.
        case unsettled
        /// Nobody has told the client that it is over.
        case over
        case gone
    }

    /// The session has no connection any more.
    /// - Parameter reason: for people, beyond what `how` says.
    mutating func leave(
        _ r: Int, by: Attempt.End.Party, how: Attempt.End.Manner, reason: String? = nil, _ stay: Stay = .gone
    ) {
        guard var link = runs[r].link else { return }
        if let c = link.connection { peers[c]?.run = nil }
        let isUnsettled = stay == .unsettled
        if !isUnsettled { runs[r].ended(by: by, how: how, reason: reason, at: now, origin: start) }
        link.connection = nil
        link.cut = .none
        link.faults = LinkFaults()
        link.faults.moments = LinkMoments(rules.times)
        link.polls.waiting = nil
        link.polls.afterAnswer = nil
        link.polls.isBegun = false
        link.polls.acknowledgement = nil
        let mayGoOn = keepsSession(r) || link.transport == .lp && by == .client
        let type = runs[r].session.codec.type
        let remembers =
            mayGoOn && (link.transport == .lp || link.memory != nil || type.hasTrackingIDs && link.token != nil)
        let isKept = stay == .resumable || isUnsettled ? remembers : stay == .over && link.transport == .lp
        forgetParked(of: r)
        if isKept {
            runs[r].parked = ParkedLink(
                link: link, isOver: stay == .over,
                until: now.advanced(by: type.polling?.patience ?? Polling.usualPatience),
                end: isUnsettled ? ParkedLink.End(how: how, at: now) : nil)
        } else if let token = link.token, link.transport != .ws || link.memory != nil {
            ids.retire(token)
        }
        runs[r].detach(at: now)
    }

    /// The client does not come back to a connection that was kept for it.
    mutating func forgetParked(of r: Int) {
        guard let parked = runs[r].parked else { return }
        settleParked(of: r)
        if let token = parked.link.token { ids.retire(token) }
        runs[r].parked = nil
    }

    /// The client turns to something else than the connection that was kept: that ended when it was lost.
    mutating func settleParked(of r: Int) {
        guard let end = runs[r].parked?.end else { return }
        runs[r].parked?.end = nil
        runs[r].ended(by: .client, how: end.how, at: end.at, origin: start)
    }

    /// An end that was on its way comes too late: what it followed may have been lost.
    mutating func recordCut(of r: Int) {
        guard let (ending, complete) = runs[r].link?.ending, let hit = ending.hit, !ending.isToldAlready else { return }
        record(hit, moment(of: r), cut: !complete)
    }

    mutating func record(_ hit: FaultHit, _ moment: FaultMoment, cut: Bool) {
        rules.record(
            ReplayReport.Firing(
                rule: hit.name, time: elapsed, session: moment.session, run: moment.run, attempt: moment.attempt,
                message: hit.message, counted: hit.counted, action: hit.text, cut: cut, isSilence: hit.isSilence))
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
