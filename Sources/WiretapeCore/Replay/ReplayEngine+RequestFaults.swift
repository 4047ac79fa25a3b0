extension ReplayEngine {
    /// An end that a rule wants after the answer to a request.
    struct RequestCut: Sendable {
        var connection: ConnectionID
        var ticket: UInt64
        var hit: FaultHit
        var moment: FaultMoment
        /// Known once the answer is acknowledged.
        var until: WireInstant?
        var complete = false
    }

    /// Asks the rules about a request of a session.
    mutating func judge(_ request: RequestHead, _ kind: ExchangeKind, opensAttempt: Bool, of r: Int) -> FaultHit? {
        requestCount += 1
        guard !faults.rules.isEmpty else { return nil }
        runs[r].requests += 1
        var moment = moment(of: r)
        moment.context.opensAttempt = opensAttempt
        return faultEngine.request(request, kind, ordinal: runs[r].requests, moment).last { $0.ending != nil }
    }

    /// Does what a rule wants instead of the answer.
    mutating func carryOut(
        _ hit: FaultHit, on c: ConnectionID, _ head: RequestHead, _ kind: ExchangeKind, of r: Int,
        into out: inout [ReplayAction]
    ) {
        record(hit, moment(of: r), cut: false)
        var step = Attempt.Step(request: kind.rawValue, transport: transport(kind, head, of: r), time: elapsed)
        switch hit.ending {
        case .respond(let answer):
            step.status = answer.status
            step.retryAfter = Attempt.Step.retryAfter(answer.headers)
            out.append(.respond(c, withCORS(answer, for: head), thenClose: false))
        case .disconnect, .close:
            peers[c]?.isOver = true
            out.append(.disconnect(c))
        default:
            peers[c]?.isOver = true
            out.append(.reset(c))
        }
        if kind != .negotiate, runs[r].link == nil {
            // What the client negotiates next is a second try, not a second client.
            runs[r].awaitsUpgrade = false
        }
        let failed = step.status.map { $0 < 200 || $0 >= 300 } ?? true
        runs[r].addStep(step, failed: failed ? "fault:\(hit.name)" : nil, at: now)
    }

    /// Over which transport the request would have opened or carried the session.
    private func transport(_ kind: ExchangeKind, _ head: RequestHead, of r: Int) -> Transport? {
        switch kind {
        case .upgrade: .ws
        case .stream, .poll, .operation: runs[r].session.codec.type.transport(head)
        default: nil
        }
    }

    /// Ends the connection once the client has the answer.
    mutating func cutAfterAnswer(_ hit: FaultHit, on c: ConnectionID, of r: Int, into out: inout [ReplayAction]) {
        let ticket = ticket()
        requestCuts.append(RequestCut(connection: c, ticket: ticket, hit: hit, moment: moment(of: r)))
        out.append(.awaitAcknowledged(c, ticket: ticket))
    }

    mutating func finishRequestCuts(into out: inout [ReplayAction]) {
        let due = requestCuts.filter { $0.until.map { $0 <= now } ?? false }
        guard !due.isEmpty else { return }
        requestCuts.removeAll { $0.until.map { $0 <= now } ?? false }
        for cut in due {
            record(cut.hit, cut.moment, cut: !cut.complete)
            if let r = peers[cut.connection]?.run, runs[r].link?.connection == cut.connection {
                // By now it carries a session.
                leave(r, by: "fault:\(cut.hit.name)", how: how(cut.hit.ending ?? .reset), .resumable)
            }
            peers[cut.connection]?.isOver = true
            out.append(cut.hit.ending == .reset ? .reset(cut.connection) : .disconnect(cut.connection))
        }
    }
}
