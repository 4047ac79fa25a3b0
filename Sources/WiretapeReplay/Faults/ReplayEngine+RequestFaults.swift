internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeWire

/// What rules do to requests and their answers.
extension ReplayEngine {
    /// Asks the rules about a request of a session. What goes before its answer is prepared for ``request(_:_:body:at:into:)``
    /// to do; the caller gives the answer, or calls ``carryOut(_:on:_:_:of:into:)`` when the place is not `after`, and then
    /// ``cutAfterAnswer(_:on:of:into:)``.
    mutating func judge(_ request: RequestHead, _ kind: ExchangeKind, opensAttempt: Bool, of session: SessionRun)
        -> RequestFate?
    {
        rules.countRequest()
        guard !rules.isEmpty else { return nil }
        session.tally.request()
        var moment = moment(of: session)
        moment.context.opensAttempt = opensAttempt
        moment.context.transport = transport(kind, request, of: session)
        guard let fate = rules.judge(request, kind, ordinal: session.tally.requests, moment) else { return nil }
        for hit in fate.hits where hit != fate.end?.hit && hit != fate.endAfter?.hit { record(hit, moment, cut: false) }
        guard let connection = asking?.connection else { return fate }
        if fate.delay > 0, fate.truncated != nil || !fate.leavesNoAnswer {
            asking?.prepared.append(.hold(connection, for: fate.delay))
        }
        var before: [ReplayAction] = []
        for effect in fate.effectsBefore { apply(effect, on: connection, of: session, into: &before) }
        asking?.prepared += before
        if let count = fate.truncated { asking?.prepared.append(.limit(connection, bytes: count)) }
        var notes: [ReplayAction] = []
        for hit in fate.hits where hit != fate.end?.hit && hit != fate.endAfter?.hit {
            noteFault(hit, .answer, on: connection, into: &notes)
        }
        asking?.prepared += notes
        return fate
    }

    /// Does what a rule wants instead of the answer.
    mutating func carryOut(
        _ fate: RequestFate, on connection: ConnectionID, _ head: RequestHead, _ kind: ExchangeKind,
        of session: SessionRun,
        into out: inout [ReplayAction]
    ) {
        guard let end = fate.end else { return }
        record(end.hit, moment(of: session), cut: false)
        noteFault(end.hit, .end, on: connection, into: &out)
        let wait = fate.delay.addingReportingOverflow(fate.lingering).partialValue
        var step = Attempt.Step(
            request: kind.rawValue, transport: transport(kind, head, of: session),
            time: elapsed + min(wait, Delay.longest))
        step.status = say(end, on: connection, head, kind, after: wait, of: session, into: &out)
        if case .respond(let answer) = end.verdict { step.retryAfter = Attempt.Step.retryAfter(answer.headers) }
        if step.status == 401 { noteExpired(head, connection) }
        // A send that was on its way when its connection ended belongs to no attempt.
        if kind == .send, !session.isConnected, session.parked != nil { return }
        if kind != .negotiate, !session.isConnected {
            // What the client negotiates next is a second try, not a second client.
            session.awaitUpgrade(false)
        }
        // A redirect is a step of an attempt that goes on.
        let failed = end.verdict != .redirectLoop && (step.status.map { $0 < 200 || $0 >= 300 } ?? true)
        session.addStep(
            step, failed: failed ? .fault(end.hit.name) : nil, how: ReplayEngine.how(end.verdict),
            at: now.advanced(by: wait))
    }

    /// How a request ends that gets no status; nil: by a reset, or it gets one.
    private static func how(_ verdict: FaultEffect) -> Attempt.End.Manner? {
        switch verdict.kind {
        case .end(.fin), .end(.close): return .fin
        case .answer:
            if case .malformed = verdict { return .malformed }
            return nil
        case .end(.reset), .outage, .upgrade, .message, .connection, .session, .handshake: return nil
        }
    }

    /// Does what a rule wants in the place of the answer.
    /// - Returns: the status of the answer; nil when there is none.
    mutating func say(
        _ end: MessageFate.End, on connection: ConnectionID, _ head: RequestHead, _ kind: ExchangeKind,
        after wait: UInt64,
        of session: SessionRun?, into out: inout [ReplayAction]
    ) -> Int? {
        carryOut(end.verdict, .request(head, kind, end.hit, after: wait), on: connection, of: session, into: &out)
            .status
    }

    /// Over which transport the request would have opened or carried the session.
    func transport(_ kind: ExchangeKind, _ head: RequestHead, of session: SessionRun) -> Transport? {
        switch kind {
        case .upgrade: .ws
        case .stream, .poll, .operation: session.recorded.codec.type.transport(head)
        case .send, .end: session.link?.transport
        case .negotiate, .refresh, .preflight, .other: nil
        }
    }

    /// What follows the answer, once the client has it.
    mutating func cutAfterAnswer(
        _ fate: RequestFate, on connection: ConnectionID, of session: SessionRun, into out: inout [ReplayAction]
    ) {
        guard let ending = fate.following else { return }
        let ticket = ticket()
        let moment = moment(of: session)
        rules.add(.init(connection: connection, ticket: ticket, ending: ending, moment: moment, session: session))
        out.append(.awaitAcknowledged(connection, ticket: ticket))
    }

    /// What follows the answer to a request that opened a connection of the session, once the client has it.
    /// - Returns: whether anything follows: the session says nothing before that.
    mutating func cutAfterOpening(_ fate: RequestFate?, of session: SessionRun, into out: inout [ReplayAction]) -> Bool
    {
        guard let ending = fate?.following else { return false }
        cut(session, ending, following: true, into: &out)
        return true
    }

    mutating func finishRequestCuts(into out: inout [ReplayAction]) {
        for cut in rules.takeCuts(by: now) { finish(cut, into: &out) }
    }

    private mutating func finish(_ due: RunFaults.RequestCut, into out: inout [ReplayAction]) {
        let connection = due.connection
        for effect in due.ending.effects {
            if let session = due.session {
                apply(effect, on: connection, of: session, into: &out)
            } else {
                apply(effect, on: connection, into: &out)
            }
        }
        if due.ending.lingering > 0, due.ending.verdict != nil {
            var later = due
            later.ending.effects = []
            later.ending.lingering = 0
            if let hit = due.ending.hit, !due.ending.isToldAlready {
                record(hit, due.moment, cut: !due.complete)
                noteFault(hit, .none, on: connection, into: &out)
                later.ending.isToldAlready = true
            }
            later.until = now.advanced(by: due.ending.lingering)
            return rules.add(later)
        }
        if let hit = due.ending.hit, !due.ending.isToldAlready { record(hit, due.moment, cut: !due.complete) }
        guard let verdict = due.ending.verdict else { return }
        carryOut(verdict, .answered(due), on: connection, of: due.session, into: &out)
    }

    /// The connection whose request has its answer ends behind that.
    mutating func end(_ due: RunFaults.RequestCut, _ end: ConnectionEnd, into out: inout [ReplayAction]) {
        let connection = due.connection
        noteFault(due.ending.hit, step: due.ending.step, of: due.session, .end, on: connection, into: &out)
        let by = due.ending.hit.map { Attempt.End.Party.fault($0.name) } ?? .server
        if let session = peers[connection]?.session, session.link?.connection == connection {
            // By now it carries a session.
            leave(session, by: by, how: .init(end), .resumable)
        } else if due.isPoll, let session = due.session, session.link?.transport == .lp,
            session.link?.polls.waiting == nil
        {
            leave(session, by: by, how: .init(end), .resumable)
        }
        shut(connection, end, into: &out)
    }

    // MARK: Redirects that lead nowhere

    /// A client that follows goes on in its circle.
    mutating func redirectAgain(
        _ connection: ConnectionID, _ head: RequestHead, into out: inout [ReplayAction]
    ) -> Bool {
        guard !rules.isEmpty, RedirectLoop.follows(head),
            faults.rules.contains(where: { $0.actions.contains { $0.verdict == .redirectLoop } })
        else { return false }
        out.append(.respond(connection, RedirectLoop.answer(head).readable(by: head), thenClose: false))
        return true
    }
}

extension RequestFate {
    /// Whether the place of the answer is left empty: then nothing is sent that a delay could hold back.
    var leavesNoAnswer: Bool { end.map { $0.verdict.kind != .answer } ?? false }

    /// What comes behind the answer; nil when nothing does.
    var following: Link.Ending? {
        guard endBehind != nil || !effectsAfter.isEmpty else { return nil }
        return Link.Ending(
            verdict: endBehind?.verdict, hit: endBehind?.hit ?? hits.last, effects: effectsAfter, lingering: lingering,
            pause: endBehind?.pause ?? 0, isToldAlready: endBehind == nil)
    }
}
