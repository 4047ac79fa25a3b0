internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapePlayback
internal import WiretapeProtocol
internal import WiretapeWire

/// What rules do to requests and their answers.
extension ReplayEngine {
    /// Asks the rules about a request of a session. What goes before its answer is prepared for ``request(_:_:body:at:into:)``
    /// to do; the caller gives the answer, or calls ``carryOut(_:on:_:_:of:into:)`` when the place is not `after`, and then
    /// ``cutAfterAnswer(_:on:of:into:)``.
    mutating func judge(_ request: RequestHead, _ kind: ExchangeKind, opensAttempt: Bool, of r: Int) -> RequestFate? {
        rules.countRequest()
        guard !rules.isEmpty else { return nil }
        runs[r].tally.request()
        var moment = moment(of: r)
        moment.context.opensAttempt = opensAttempt
        moment.context.transport = transport(kind, request, of: r)
        guard let fate = rules.judge(request, kind, ordinal: runs[r].tally.requests, moment) else { return nil }
        for hit in fate.hits where hit != fate.end?.hit && hit != fate.endAfter?.hit { record(hit, moment, cut: false) }
        guard let c = asking?.connection else { return fate }
        if fate.delay > 0, fate.truncated != nil || fate.end.map({ RequestFate.isSaid($0.verdict) }) ?? true {
            asking?.prepared.append(.hold(c, for: fate.delay))
        }
        var before: [ReplayAction] = []
        for effect in fate.effectsBefore { apply(effect, on: c, of: r, into: &before) }
        asking?.prepared += before
        if let count = fate.truncated { asking?.prepared.append(.limit(c, bytes: count)) }
        var notes: [ReplayAction] = []
        for hit in fate.hits where hit != fate.end?.hit && hit != fate.endAfter?.hit {
            noteFault(hit, .answer, on: c, into: &notes)
        }
        asking?.prepared += notes
        return fate
    }

    /// Does what a rule wants instead of the answer.
    mutating func carryOut(
        _ fate: RequestFate, on c: ConnectionID, _ head: RequestHead, _ kind: ExchangeKind, of r: Int,
        into out: inout [ReplayAction]
    ) {
        guard let end = fate.end else { return }
        record(end.hit, moment(of: r), cut: false)
        noteFault(end.hit, .end, on: c, into: &out)
        let wait = fate.delay.addingReportingOverflow(fate.lingering).partialValue
        var step = Attempt.Step(
            request: kind.rawValue, transport: transport(kind, head, of: r), time: elapsed + min(wait, Delay.longest))
        if case .outage(let outage) = end.verdict {
            begin(outage, by: end.hit, into: &out)
            if outage.cut.verdict == nil { _ = answerInOutage(c, head, into: &out) }
        } else {
            step.status = say(end.verdict, on: c, head, kind, after: wait, of: r, into: &out)
            if case .respond(let answer) = end.verdict { step.retryAfter = Attempt.Step.retryAfter(answer.headers) }
            if step.status == 401 { noteExpired(head, c) }
        }
        if kind != .negotiate, !runs[r].isConnected {
            // What the client negotiates next is a second try, not a second client.
            runs[r].negotiation.awaitsUpgrade = false
        }
        // A redirect is a step of an attempt that goes on.
        let failed = end.verdict != .redirectLoop && (step.status.map { $0 < 200 || $0 >= 300 } ?? true)
        runs[r].addStep(
            step, failed: failed ? "fault:\(end.hit.name)" : nil, how: ReplayEngine.how(end.verdict),
            at: now.advanced(by: wait))
    }

    /// How a request ends that gets no status; nil: by a reset, or it gets one.
    private static func how(_ verdict: FaultEffect) -> String? {
        switch verdict {
        case .disconnect, .close: "fin"
        case .malformed: "malformed"
        default: nil
        }
    }

    /// - Returns: the status of the answer; nil when there is none.
    mutating func say(
        _ verdict: FaultEffect, on c: ConnectionID, _ head: RequestHead, _ kind: ExchangeKind, after wait: UInt64,
        of r: Int?, into out: inout [ReplayAction]
    ) -> Int? {
        switch FaultAnswer(verdict, to: head, kind) {
        case .whole(let answer):
            out.append(.respond(c, answer.readable(by: head), thenClose: false))
            return answer.status
        case .garbage(let bytes):
            out.append(.raw(c, bytes))
            end(c, .disconnect, after: wait, of: r, into: &out)
            return nil
        case .none:
            end(c, verdict, after: wait, of: r, into: &out)
            return nil
        }
    }

    private mutating func end(
        _ c: ConnectionID, _ verdict: FaultEffect, after wait: UInt64, of r: Int?, into out: inout [ReplayAction]
    ) {
        guard wait == 0 else {
            return rules.add(
                .init(
                    connection: c, ticket: 0, ending: Link.Ending(verdict: verdict, hit: nil, isToldAlready: true),
                    moment: FaultMoment(session: 0), run: r, until: now.advanced(by: wait)))
        }
        peers[c]?.isOver = true
        switch verdict {
        case .disconnect, .close: out.append(.disconnect(c))
        default: out.append(.reset(c))
        }
    }

    /// Over which transport the request would have opened or carried the session.
    func transport(_ kind: ExchangeKind, _ head: RequestHead, of r: Int) -> Transport? {
        switch kind {
        case .upgrade: .ws
        case .stream, .poll, .operation: runs[r].session.codec.type.transport(head)
        case .send, .end: runs[r].link?.transport
        default: nil
        }
    }

    /// What follows the answer, once the client has it.
    mutating func cutAfterAnswer(
        _ fate: RequestFate, on c: ConnectionID, of r: Int, into out: inout [ReplayAction]
    ) {
        guard let ending = fate.following else { return }
        let ticket = ticket()
        let moment = moment(of: r)
        rules.add(.init(connection: c, ticket: ticket, ending: ending, moment: moment, run: r))
        out.append(.awaitAcknowledged(c, ticket: ticket))
    }

    /// The same for a request that opened a connection of the session.
    /// - Returns: whether anything follows: the session says nothing before that.
    mutating func cutAfterOpening(_ fate: RequestFate?, of r: Int, into out: inout [ReplayAction]) -> Bool {
        guard let ending = fate?.following else { return false }
        cut(r, ending, following: true, into: &out)
        return true
    }

    mutating func finishRequestCuts(into out: inout [ReplayAction]) {
        for cut in rules.takeCuts(by: now) { finish(cut, into: &out) }
    }

    private mutating func finish(_ due: RunFaults.RequestCut, into out: inout [ReplayAction]) {
        let c = due.connection
        for effect in due.ending.effects {
            if let r = due.run {
                apply(effect, on: c, of: r, into: &out)
            } else {
                apply(effect, on: c, into: &out)
            }
        }
        if due.ending.lingering > 0, due.ending.verdict != nil {
            var later = due
            later.ending.effects = []
            later.ending.lingering = 0
            if let hit = due.ending.hit, !due.ending.isToldAlready {
                record(hit, due.moment, cut: !due.complete)
                noteFault(hit, .none, on: c, into: &out)
                later.ending.isToldAlready = true
            }
            later.until = now.advanced(by: due.ending.lingering)
            return rules.add(later)
        }
        if let hit = due.ending.hit, !due.ending.isToldAlready { record(hit, due.moment, cut: !due.complete) }
        guard let verdict = due.ending.verdict else { return }
        if case .outage(let outage) = verdict, let hit = due.ending.hit { return begin(outage, by: hit, into: &out) }
        noteFault(due.ending.hit, step: due.ending.step, of: due.run, .end, on: c, into: &out)
        let by = due.ending.hit.map { "fault:\($0.name)" } ?? "server"
        if let r = peers[c]?.run, runs[r].link?.connection == c {
            // By now it carries a session.
            leave(r, by: by, how: how(verdict), .resumable)
        } else if due.isPoll, let r = due.run, runs[r].link?.transport == .lp, runs[r].link?.polls.waiting == nil {
            leave(r, by: by, how: how(verdict), .resumable)
        }
        peers[c]?.isOver = true
        out.append(verdict == .disconnect ? .disconnect(c) : .reset(c))
    }

    // MARK: Redirects that lead nowhere

    /// A client that follows goes on in its circle.
    mutating func redirectAgain(
        _ c: ConnectionID, _ head: RequestHead, into out: inout [ReplayAction]
    ) -> Bool {
        guard !rules.isEmpty, RedirectLoop.follows(head),
            faults.rules.contains(where: { $0.actions.contains { $0.verdict == .redirectLoop } })
        else { return false }
        out.append(.respond(c, RedirectLoop.answer(head).readable(by: head), thenClose: false))
        return true
    }
}

extension RequestFate {
    /// Whether something is sent, so that a delay holds it back.
    static func isSaid(_ verdict: FaultEffect) -> Bool {
        switch verdict {
        case .respond, .malformed, .redirectLoop: true
        default: false
        }
    }

    /// What comes behind the answer; nil when nothing does.
    var following: Link.Ending? {
        guard endBehind != nil || !effectsAfter.isEmpty else { return nil }
        return Link.Ending(
            verdict: endBehind?.verdict, hit: endBehind?.hit ?? hits.last, effects: effectsAfter, lingering: lingering,
            isToldAlready: endBehind == nil)
    }
}
