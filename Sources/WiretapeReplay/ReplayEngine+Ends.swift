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
    mutating func end(_ session: SessionRun, with ending: RecordedSession.Ending, into out: inout [ReplayAction]) {
        let verdict: FaultEffect
        switch ending {
        case .close(let code?, let reason):
            let close = writer(of: session).translated(RuleBreach(code, reason))
            verdict = .close(code: close.code, reason: close.reason)
        case .close(nil, let reason): verdict = .close(code: nil, reason: reason)
        case .disconnect: verdict = .disconnect
        case .reset: verdict = .reset
        }
        cut(session, Link.Ending(verdict: verdict, hit: nil), following: false, into: &out)
    }

    /// Ends a session's connection. A reset, and whatever follows a message, waits until the peer has what goes before:
    /// neither must eat it.
    mutating func cut(_ session: SessionRun, _ ending: Link.Ending, following: Bool, into out: inout [ReplayAction]) {
        guard let transport = session.link?.transport else { return }
        answerPoll(of: session, into: &out)
        guard following || ending.verdict == .reset else {
            return carryOut(ending, of: session, complete: true, into: &out)
        }
        let ticket = ticket()
        session.link?.end(ending, acknowledged: ticket)
        session.wakeAt = nil
        guard transport == .lp else {
            if let connection = session.link?.connection { out.append(.awaitAcknowledged(connection, ticket: ticket)) }
            return
        }
        if session.link?.polls.queue.isEmpty == false {
            session.link?.polls.acknowledges(with: ticket)
        } else if let carrier = session.link?.polls.carrier {
            out.append(.awaitAcknowledged(carrier, ticket: ticket))
        } else {
            // Nothing went out before it.
            carryOut(ending, of: session, complete: true, into: &out)
        }
    }

    /// The answer to ``ReplayAction/awaitAcknowledged(_:ticket:)``; not `complete`: given up.
    package mutating func acknowledged(
        _ connection: ConnectionID, ticket: UInt64, complete: Bool, at now: WireInstant, into out: inout [ReplayAction]
    ) {
        clock.reach(now)
        rules.acknowledged(ticket, complete: complete, until: self.now.advanced(by: settleTime))
        // A poll's connection may be gone, or be another session's by now.
        if complete, let session = peers[connection]?.trails, session.trailing?.connection == connection,
            session.trailingHandedOver(ticket)
        {
            peers.endTrail(connection)
        }
        let session = runs.first {
            if case .acknowledging(ticket, _) = $0.link?.cut { true } else { false }
        }
        guard let session, case .acknowledging(_, let ending) = session.link?.cut else { return }
        settle(session, ending, complete: complete)
    }

    /// Ends the connection after the settle time and the rule's pause.
    /// - Parameter complete: the client has acknowledged everything before the end.
    mutating func settle(_ session: SessionRun, _ ending: Link.Ending, complete: Bool) {
        let until = now.advanced(by: settleTime).advanced(by: ending.pause)
        session.link?.end(ending, at: until, complete: complete)
        session.wakeAt = until
    }

    /// - Returns: whether the connection is being cut.
    mutating func finishSettling(_ session: SessionRun, into out: inout [ReplayAction]) -> Bool {
        switch session.link?.cut {
        case nil, .some(.none): return false
        case .acknowledging, .awaitingPoll: return true
        case .settling(let until, let ending, let complete):
            if until <= now {
                // Everything is acknowledged, so the kernel has it.
                if complete, !ending.isTruncated { session.link?.underWay.handedOverAll() }
                carryOut(ending, of: session, complete: complete, into: &out)
                return session.link?.isCut ?? true
            }
            return true
        }
    }

    /// Does what a rule or the tape wants with a session's connection, which is over then. On long polling it is the poll
    /// that waits, or the next one once everything before has gone.
    mutating func carryOut(
        _ ending: Link.Ending, of session: SessionRun, complete: Bool, into out: inout [ReplayAction]
    ) {
        guard let link = session.link else { return }
        if link.transport == .lp, ending.verdict != nil, link.connection == nil || !link.polls.queue.isEmpty {
            session.link?.endWithPoll(ending, complete: complete)
            session.wakeAt = nil
            return
        }
        for effect in ending.effects {
            if effect == .expire, ending.verdict != nil {
                forgetNames(of: session)
            } else {
                apply(effect, on: link.connection, of: session, into: &out)
            }
        }
        guard let verdict = ending.verdict else {
            session.link?.goesOn()
            return
        }
        if ending.lingering > 0 { return linger(session, ending, complete, into: &out) }
        if let hit = ending.hit, !ending.isToldAlready { record(hit, moment(of: session), cut: !complete) }
        carryOut(verdict, .session(ending), on: link.connection, of: session, into: &out)
    }

    /// What carries the session's messages ends, and its client has no connection any more.
    mutating func end(
        _ session: SessionRun, _ end: ConnectionEnd, _ ending: Link.Ending, on connection: ConnectionID?,
        into out: inout [ReplayAction]
    ) {
        noteFault(ending.hit, step: ending.step, of: session, .end, on: connection, into: &out)
        shut(session, end, isRecorded: ending.hit == nil, into: &out)
        // What is queued goes out before a FIN or a close frame.
        if end != .reset {
            if let connection, session.link?.halfClosedAt != nil, session.link?.transport != .lp {
                // Whether the client is there to get the end is known once that is acknowledged.
                let ticket = ticket()
                session.link?.underWay.gave(ticket, [], bytes: 0)
                out.append(.awaitAcknowledged(connection, ticket: ticket))
            }
            session.trail()
            if session.trailing != nil, let connection { peers.trails(connection, session) }
        }
        let isLast = ending.hit == nil && session.cursor.isPlayed
        var stay = Stay.resumable
        let hasTrackingIDs = session.recorded.codec.type.hasTrackingIDs
        if case .close = end, session.link?.transport == .lp, !hasTrackingIDs { stay = .gone }
        leave(
            session, by: ending.hit.map { Attempt.End.Party.fault($0.name) } ?? .server, how: .init(end),
            isLast && !hasTrackingIDs ? .gone : stay)
    }

    /// What goes before the end lasts for a while.
    private mutating func linger(
        _ session: SessionRun, _ ending: Link.Ending, _ complete: Bool, into out: inout [ReplayAction]
    ) {
        var rest = ending
        rest.effects = []
        rest.lingering = 0
        // What lasts has begun: that is when the rule fires, not when the end behind it comes.
        if let hit = ending.hit, !ending.isToldAlready {
            record(hit, moment(of: session), cut: !complete)
            noteFault(hit, step: ending.step, of: session, .none, on: session.link?.connection, into: &out)
            rest.isToldAlready = true
        }
        let until = now.advanced(by: ending.lingering)
        session.link?.end(rest, at: until, complete: complete)
        session.wakeAt = until
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
        _ session: SessionRun, _ end: ConnectionEnd, isRecorded: Bool = true, into out: inout [ReplayAction]
    ) -> Bool {
        answerPoll(of: session, into: &out)
        guard let link = session.link, let connection = link.connection else { return false }
        if session.recorded.isOperation { return shutOperation(session, connection, end, isRecorded, into: &out) }
        switch end {
        case .reset: out.append(.reset(connection))
        case .fin: out.append(.disconnect(connection))
        case .close(let code, let reason):
            switch link.transport {
            case .lp:
                let head = link.polls.waiting ?? session.recorded.opening.request
                finishPoll(of: session, with: answer(.pollEnd, head, of: session), into: &out)
            case .sse, .stream, .multipart, .http:
                let last = session.recorded.codec.type.closing(link.transport)
                if !last.isEmpty { out.append(.piece(connection, last, ticket: ticket())) }
                out.append(.endStream(connection))
            case .ws:
                // Only a rule may want a code that must not be on the wire.
                let told = code.flatMap { !isRecorded || CloseFrame.maySend($0) ? $0 : nil }
                out.append(.closeFrame(connection, code: told, reason: ReplayEngine.closeReason(reason)))
            }
            if link.transport != .ws { return true }
        }
        peers.end(connection)
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
    /// - Parameters:
    ///   - reason: for people, beyond what `how` says.
    ///   - moment: when it ended; nil: now.
    mutating func leave(
        _ session: SessionRun, by: Attempt.End.Party, how: Attempt.End.Manner, reason: String? = nil,
        at moment: WireInstant? = nil, _ stay: Stay = .gone
    ) {
        guard var link = session.link else { return }
        var moment = moment ?? now
        if let connection = link.connection { peers.free(connection) }
        rules.forgetResponse(for: session)
        let isUnsettled = stay == .unsettled
        if !isUnsettled { moment = session.ended(by: by, how: how, reason: reason, at: moment, origin: start) }
        link.disconnected(rules.times)
        let mayGoOn = keepsSession(session) || link.transport == .lp && by == .client
        let type = session.recorded.codec.type
        let remembers =
            mayGoOn && (link.transport == .lp || link.memory != nil || type.hasTrackingIDs && link.token != nil)
        let isKept = stay == .resumable || isUnsettled ? remembers : stay == .over && link.transport == .lp
        forgetParked(of: session)
        if isKept {
            session.park(
                ParkedLink(
                    link: link, isOver: stay == .over,
                    until: now.advanced(by: type.polling?.patience ?? Polling.usualPatience),
                    end: isUnsettled ? ParkedLink.End(how: how, at: moment) : nil))
        } else if let token = link.token, link.transport != .ws || link.memory != nil {
            ids.retire(token)
        }
        session.detach(at: moment)
    }

    /// The client does not come back to a connection that was kept for it.
    mutating func forgetParked(of session: SessionRun) {
        guard let parked = session.parked else { return }
        settleParked(of: session)
        if let token = parked.link.token { ids.retire(token) }
        session.forgetParked()
    }

    /// The client turns to something else than the connection that was kept: that ended when it was lost.
    mutating func settleParked(of session: SessionRun) {
        guard let end = session.parked?.end else { return }
        session.changeParkedEnd(to: nil)
        session.ended(by: .client, how: end.how, at: end.at, origin: start)
    }

    /// An end that was on its way comes too late: what it followed may have been lost.
    mutating func recordCut(of session: SessionRun) {
        guard let (ending, complete) = session.link?.ending, let hit = ending.hit, !ending.isToldAlready else { return }
        record(hit, moment(of: session), cut: !complete)
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

/// Clients that sent a FIN and may have left.
extension ReplayEngine {
    /// Whether the script sends more on the connection without another message of the client.
    mutating func goesOn(_ session: SessionRun) -> Bool {
        guard let link = session.link, !session.isStopped || !link.faults.isStoppedForGood else { return false }
        if link.isCut || !link.underWay.isEmpty || link.faults.nextWake != nil { return true }
        if let held = link.faults.heldUntil, held > now { return true }
        return switch next(of: session).next {
        case .send, .wait: true
        case .held, .idle: false
        }
    }

    /// Ends the half-closed connection of a session when nothing more is due on it.
    /// - Returns: whether it has ended.
    mutating func endsHalfClosed(_ session: SessionRun, into out: inout [ReplayAction]) -> Bool {
        guard session.link?.halfClosedAt != nil, !goesOn(session) else { return false }
        giveUpHalfClosed(session, into: &out)
        return true
    }

    /// Ends a half-closed connection: its client uses another one, or nothing more is due.
    mutating func giveUpHalfClosed(_ session: SessionRun, into out: inout [ReplayAction]) {
        guard let since = session.link?.halfClosedAt, let connection = session.link?.connection else { return }
        wasGone(connection, since: since, into: &out)
        out.append(.disconnect(connection))
    }

    /// The client had left when its FIN arrived. Bytes that it has not acknowledged were not delivered.
    /// - Parameter inOrder: the connection closed in order, and the client received everything.
    mutating func wasGone(
        _ connection: ConnectionID, since: WireInstant, inOrder: Bool = false, into out: inout [ReplayAction]
    ) {
        guard let peer = peers[connection] else { return }
        peers.forget(connection)
        giveUpExchanges(on: connection, at: since)
        if let session = peer.trails, session.trailing?.connection == connection {
            session.loseTrailing()
            session.cursor.recountTime()
            session.endedEarlier(by: .client, how: .fin, at: since, origin: start)
        }
        if let session = peer.carried, !inOrder {
            session.pollsLost(connection)
            if let link = session.link, link.transport == .lp, link.connection == nil, link.polls.carrier == connection
            {
                leave(session, by: .client, how: .fin, at: since, .unsettled)
                session.cursor.recountTime()
            }
        }
        guard !peer.isOver, let session = peer.session, session.link?.connection == connection else { return }
        recordCut(of: session)
        let fate = judgeClose(.fin, of: session, into: &out)
        session.cancelOperation(at: now)
        leave(session, by: .client, how: .fin, at: since, session.link?.transport == .lp ? .unsettled : .resumable)
        session.cursor.recountTime()
        if let end = fate?.end, case .outage(let outage) = end.verdict { begin(outage, by: end.hit, into: &out) }
    }

    /// The client of a connection did not wait for the answers that were under way on it: they were not delivered, and the next equal
    /// request gets them.
    mutating func giveUpExchanges(on connection: ConnectionID, at moment: WireInstant) {
        for one in exchanges.takeUndelivered(on: connection) {
            claims.takeBack(one.turn.list, in: one.turn.tapeRun, place: one.turn.place)
            let exchange = exchanges.recorded[one.turn.exchange]
            let time = DurationText.milliseconds(moment.since(one.asked) / 1_000_000 * 1_000_000)
            exchanges.giveUp(
                one.turn.exchange,
                "\(exchange.request.method) \(exchange.request.path) (\(tapeName):\(exchange.line)), after \(time) ms")
        }
    }

    /// Asks the rules of the point `close` when the client ends its connection.
    mutating func judgeClose(
        _ how: ClientEnd, of session: SessionRun, into out: inout [ReplayAction]
    ) -> MessageFate? {
        guard !rules.isEmpty else { return nil }
        var code: UInt16?
        if case .closeFrame(let told, _) = how { code = told }
        let asked = moment(of: session)
        let fate = rules.judgeClose(by: .toServer, code: code, asked)
        for hit in fate?.hits ?? [] {
            record(hit, moment(of: session), cut: false)
            noteFault(hit, hit == fate?.end?.hit ? .end : .none, on: session.link?.connection, into: &out)
        }
        for effect in (fate?.effectsBefore ?? []) + (fate?.effectsAfter ?? []) {
            apply(effect, on: nil, of: session, into: &out)
        }
        return fate
    }
}
