internal import WiretapeAttempts
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

/// Clients that name their session in every request by an id, without a negotiation (``SessionNaming/hasTrackingIDs``).
extension ReplayEngine {
    mutating func track(
        _ connection: ConnectionID, _ head: RequestHead, _ body: [UInt8], _ codec: CodecEntry,
        into out: inout [ReplayAction]
    ) {
        let kind = codec.type.kind(head)
        let key = codec.type.sessionKey(StreamOpening(request: head))
        let known = key.flatMap { token($0, on: connection) }.flatMap { $0.isDead ? nil : $0.session }
        switch kind {
        case .poll, .stream, .upgrade:
            guard let key, let session = known else { return begin(connection, head, key, codec, into: &out) }
            let isPolled = codec.type.transport(head) == .lp
            let last = session.link?.transport ?? session.parked?.link.transport
            if isPolled, last == .lp { return poll(connection, head, key, of: session, into: &out) }
            resume(connection, head, key, of: session, into: &out)
        case .send:
            guard let key, let session = known else {
                // The client sent the message before it ended its session, and the message arrived after that.
                if let left = key.flatMap({ token($0, on: connection) })?.session, left.standing.departure == .inOrder {
                    let answer = codec.type.answer(.sent, to: head).readable(by: head)
                    return out.append(.respond(connection, answer, thenClose: false))
                }
                return plain(connection, head, body, into: &out)
            }
            send(connection, head, body, key, of: session, into: &out)
        case .end:
            guard let key, let session = known else { return plain(connection, head, body, into: &out) }
            endSession(connection, head, key, of: session, into: &out)
        case .negotiate, .operation, .refresh, .preflight, .other: plain(connection, head, body, into: &out)
        }
    }

    /// A client without an id, or with one that was never heard of.
    private mutating func begin(
        _ connection: ConnectionID, _ head: RequestHead, _ key: String?, _ codec: CodecEntry,
        into out: inout [ReplayAction]
    ) {
        guard let claimed = claim(for: head, codec, connection, into: &out) else { return }
        let session = passOver(claimed, head, on: connection)
        let transport = codec.type.transport(head)
        guard
            case .goesOn(let after) = open(transport, codec.type.kind(head), connection, head, of: session, into: &out)
        else {
            return
        }
        // An id that another upstream knows stays that one's.
        let own = key.flatMap { ids[$0] == nil || token($0, on: connection) != nil ? $0 : nil }
        let id = own ?? ids.mint(for: session.recorded, codec, isFresh: options.ids.areFresh).token
        ids.issue(id, to: session)
        var link = link(transport, connection, head, id, of: session)
        link.polls.restartsClock(at: now)
        attach(link, connection, head, codec.type.kind(head), to: session, into: &out)
        carry(connection, head, id, of: session, then: after, into: &out)
    }

    /// The client goes on with its session over a new connection. One that is open ends.
    private mutating func resume(
        _ connection: ConnectionID, _ head: RequestHead, _ key: String, of session: SessionRun,
        into out: inout [ReplayAction]
    ) {
        let codec = session.recorded.codec
        let kind = codec.type.kind(head)
        let transport = codec.type.transport(head)
        replaceLink(of: session, into: &out)
        guard session.parked != nil, session.standing.failure == nil else {
            return begin(connection, head, key, codec, into: &out)
        }
        guard transports(of: session.recorded).contains(transport), !session.faults.blocked.contains(transport) else {
            return refuse(connection, head, .notOffered, codec, into: &out)
        }
        settleParked(of: session)
        let opensAttempt = session.beginAttempt(at: now, origin: start)
        let hit = judge(head, kind, opensAttempt: opensAttempt, of: session)
        if let hit, hit.place != .after { return carryOut(hit, on: connection, head, kind, of: session, into: &out) }
        // What was on its way is due again: going on restored it when the connection was lost.
        session.forgetParked()
        var link = link(transport, connection, head, key, of: session)
        link.becomesReady(at: now)
        link.polls.restartsClock(at: now)
        session.addStep(
            .init(
                request: kind.rawValue, status: transport == .ws ? 101 : 200, transport: transport, time: elapsed),
            failed: nil, at: now)
        session.assign(by: .token)
        session.uses(transport)
        if transport != .lp { carries(connection, session, into: &out) }
        remember(identity(head, connection), of: session)
        session.goOn(link, mayRepeat: true, at: now, options)
        session.connected(at: now)
        carry(connection, head, key, of: session, then: hit, into: &out)
    }

    private func link(
        _ transport: Transport, _ connection: ConnectionID, _ head: RequestHead, _ id: String, of session: SessionRun
    ) -> Link {
        let opening = StreamOpening(request: head)
        let writer = session.recorded.writer.serving(opening)
        return Link(transport, on: transport == .lp ? nil : connection, token: id, opening, codec: writer, at: now)
    }

    /// Answers the request that opened the session's connection, and says what the protocol says first.
    private mutating func carry(
        _ connection: ConnectionID, _ head: RequestHead, _ id: String, of session: SessionRun, then after: RequestFate?,
        into out: inout [ReplayAction]
    ) {
        guard let link = session.link else { return }
        let greeting = Greeting(writer(of: session).greeting(head, id: id), head, session.recorded.codec.type)
        let fate = judge(greeting, of: session)
        switch link.transport {
        case .lp: break
        case .ws:
            let headers = upgradeHeaders(head, of: session, after)
            out.append(acceptance(of: head, on: connection, for: session, headers: headers, after))
        case .sse, .stream, .multipart, .http:
            out.append(.beginStream(connection, answer(.stream, head, of: session).readable(by: head)))
        }
        greet(greeting, fate, on: connection, of: session, into: &out)
        if link.transport == .lp {
            wait(connection, head, of: session, then: after, into: &out)
        } else if cutAfterOpening(after, of: session, into: &out) {
            return
        }
        if let fate, finish(fate, greeting, on: connection, of: session, into: &out) { return }
        hearEarly(of: session, into: &out)
        advance(session, into: &out)
    }

    /// A newer connection takes the place of the one that is open.
    private mutating func replaceLink(of session: SessionRun, into out: inout [ReplayAction]) {
        guard let link = session.link else { return }
        if let old = link.connection {
            switch link.transport {
            case .ws:
                out.append(.closeFrame(old, code: 1000, reason: ""))
                peers.end(old)
            case .lp:
                let head = link.polls.waiting ?? link.opening.request
                finishPoll(of: session, with: answer(.pollSuperseded, head, of: session), into: &out)
            case .sse, .stream, .multipart, .http: out.append(.endStream(old))
            }
        }
        leave(session, by: .client, how: .replaced, .resumable)
    }

    /// The recorded refusal of a transport is no answer to a client that asks for another one, nor to one that has had it:
    /// it gets the next session of the route.
    private mutating func passOver(_ claimed: SessionRun, _ head: RequestHead, on connection: ConnectionID)
        -> SessionRun
    {
        var session = claimed
        while let refused = refusal(of: session),
            refused.codec.type.kind(refused.opening.request)
                != refused.codec.type.kind(head)
                || refused.codec.type.transport(refused.opening.request) != refused.codec.type.transport(head)
        {
            let claim = claims[session]
            guard let next = claims.free(in: claim.tapeRun, [claim.route], library.table, name: claim.name) else {
                return session
            }
            session = begin(
                next, in: claim.tapeRun, session.client.identities.first ?? "", name: claim.name, on: connection)
        }
        return session
    }

    private func refusal(of session: SessionRun) -> RecordedSession? {
        session.recorded.refusal == nil ? nil : session.recorded
    }

    // MARK: Answers of a session

    /// What writes for the session's client.
    func writer(of session: SessionRun) -> any FrameCodec { session.link?.writer ?? session.recorded.writer }

    func place(of session: SessionRun) -> CarrierPlace {
        let queued = session.link?.polls.queue.reduce(0) { $0 + $1.messages } ?? 0
        return CarrierPlace(id: session.link?.token ?? "", sent: max(0, session.cursor.sent.count - queued))
    }

    func answer(_ what: CarrierAnswer, _ head: RequestHead, of session: SessionRun) -> HTTPAnswer {
        writer(of: session).answer(what, to: head, in: place(of: session))
    }

    /// What the poll says that its client has not got is due again, and so is what is queued behind it.
    mutating func takeBackMissed(_ head: RequestHead, of session: SessionRun) {
        let place = place(of: session)
        let count = min(writer(of: session).missed(head, in: place), place.sent)
        guard count > 0 else { return }
        let queued = session.cursor.sent.count - place.sent
        session.link?.polls.forget()
        session.link?.underWay.handedOverAll()
        session.cursor.restore(session.cursor.sent.suffix(count + queued).map(Int.init))
    }
}
