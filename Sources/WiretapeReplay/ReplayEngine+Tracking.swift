internal import WiretapeAttempts
internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

/// Clients that name their session in every request by an id, without a negotiation (``SessionNaming/hasTrackingIDs``).
extension ReplayEngine {
    mutating func track(
        _ c: ConnectionID, _ head: RequestHead, _ body: [UInt8], _ codec: CodecEntry, into out: inout [ReplayAction]
    ) {
        let kind = codec.type.kind(head)
        let key = codec.type.sessionKey(StreamOpening(request: head))
        let known = key.flatMap { token($0, on: c) }.flatMap { $0.isDead ? nil : $0.run }
        switch kind {
        case .poll, .stream, .upgrade:
            guard let key, let r = known else { return begin(c, head, key, codec, into: &out) }
            let isPolled = codec.type.transport(head) == .lp
            let last = runs[r].link?.transport ?? runs[r].parked?.link.transport
            if isPolled, last == .lp { return poll(c, head, key, of: r, into: &out) }
            resume(c, head, key, of: r, into: &out)
        case .send:
            guard let key, let r = known else { return plain(c, head, body, into: &out) }
            send(c, head, body, key, of: r, into: &out)
        case .end:
            guard let key, let r = known else { return plain(c, head, body, into: &out) }
            endSession(c, head, key, of: r, into: &out)
        case .negotiate, .operation, .preflight, .other: plain(c, head, body, into: &out)
        }
    }

    /// A client without an id, or with one that was never heard of.
    private mutating func begin(
        _ c: ConnectionID, _ head: RequestHead, _ key: String?, _ codec: CodecEntry, into out: inout [ReplayAction]
    ) {
        guard let claimed = claim(for: head, codec, c, into: &out) else { return }
        let r = passOver(claimed, head, on: c)
        let transport = codec.type.transport(head)
        guard case .goesOn(let after) = open(transport, codec.type.kind(head), c, head, of: r, into: &out) else {
            return
        }
        // An id that another upstream knows stays that one's.
        let own = key.flatMap { ids[$0] == nil || token($0, on: c) != nil ? $0 : nil }
        let id = own ?? ids.mint(for: runs[r].session, codec, isFresh: options.ids.areFresh).token
        ids.issue(id, to: r)
        var link = link(transport, c, head, id, of: r)
        link.polls.since = now
        attach(link, c, head, codec.type.kind(head), to: r, into: &out)
        carry(c, head, id, of: r, then: after, into: &out)
    }

    /// The client goes on with its session over a new connection. One that is open ends.
    private mutating func resume(
        _ c: ConnectionID, _ head: RequestHead, _ key: String, of r: Int, into out: inout [ReplayAction]
    ) {
        let codec = runs[r].session.codec
        let kind = codec.type.kind(head)
        let transport = codec.type.transport(head)
        replaceLink(of: r, into: &out)
        guard runs[r].parked != nil, runs[r].standing.failure == nil else {
            return begin(c, head, key, codec, into: &out)
        }
        guard transports(of: runs[r].session).contains(transport), !runs[r].faults.blocked.contains(transport) else {
            return refuse(c, head, .notOffered, codec, into: &out)
        }
        settleParked(of: r)
        let opensAttempt = runs[r].beginAttempt(at: now, origin: start)
        let hit = judge(head, kind, opensAttempt: opensAttempt, of: r)
        if let hit, hit.place != .after { return carryOut(hit, on: c, head, kind, of: r, into: &out) }
        // What was on its way is due again: going on restored it when the connection was lost.
        runs[r].parked = nil
        var link = link(transport, c, head, key, of: r)
        link.readyAt = now
        link.polls.since = now
        runs[r].addStep(
            .init(
                request: kind.rawValue, status: transport == .ws ? 101 : 200, transport: transport, time: elapsed),
            failed: nil, at: now)
        runs[r].client.assigned = .token
        runs[r].client.uses(transport)
        if transport != .lp { carries(c, r, into: &out) }
        remember(identity(head, c), of: r)
        runs[r].goOn(link, at: now, options)
        runs[r].connected(at: now)
        carry(c, head, key, of: r, then: hit, into: &out)
    }

    private func link(
        _ transport: Transport, _ c: ConnectionID, _ head: RequestHead, _ id: String, of r: Int
    ) -> Link {
        let opening = StreamOpening(request: head)
        let writer = runs[r].session.writer.serving(opening)
        return Link(transport, on: transport == .lp ? nil : c, token: id, opening, codec: writer, at: now)
    }

    /// Answers the request that opened the session's connection, and says what the protocol says first.
    private mutating func carry(
        _ c: ConnectionID, _ head: RequestHead, _ id: String, of r: Int, then after: RequestFate?,
        into out: inout [ReplayAction]
    ) {
        guard let link = runs[r].link else { return }
        let greeting = Greeting(writer(of: r).greeting(head, id: id), head, runs[r].session.codec.type)
        let fate = judge(greeting, of: r)
        switch link.transport {
        case .lp: break
        case .ws:
            let headers = upgradeHeaders(head, of: r, after)
            out.append(acceptance(of: head, on: c, for: r, headers: headers, after))
        case .sse, .stream, .multipart, .http:
            out.append(.beginStream(c, answer(.stream, head, of: r).readable(by: head)))
        }
        greet(greeting, fate, on: c, of: r, into: &out)
        if link.transport == .lp {
            wait(c, head, of: r, then: after, into: &out)
        } else if cutAfterOpening(after, of: r, into: &out) {
            return
        }
        if let fate, finish(fate, greeting, on: c, of: r, into: &out) { return }
        hearEarly(of: r, into: &out)
        advance(r, into: &out)
    }

    /// A newer connection takes the place of the one that is open.
    private mutating func replaceLink(of r: Int, into out: inout [ReplayAction]) {
        guard let link = runs[r].link else { return }
        if let old = link.connection {
            switch link.transport {
            case .ws:
                out.append(.closeFrame(old, code: 1000, reason: ""))
                peers[old]?.isOver = true
            case .lp:
                let head = link.polls.waiting ?? link.opening.request
                finishPoll(of: r, with: answer(.pollSuperseded, head, of: r), into: &out)
            case .sse, .stream, .multipart, .http: out.append(.endStream(old))
            }
        }
        leave(r, by: .client, how: .replaced, .resumable)
    }

    /// The recorded refusal of a transport is no answer to a client that asks for another one, nor to one that has had it:
    /// it gets the next session of the route.
    private mutating func passOver(_ r: Int, _ head: RequestHead, on c: ConnectionID) -> Int {
        var r = r
        while let session = refusal(of: r),
            session.codec.type.kind(session.opening.request)
                != session.codec.type.kind(head)
                || session.codec.type.transport(session.opening.request) != session.codec.type.transport(head)
        {
            let claim = claims.all[r]
            guard let next = claims.free(in: claim.tapeRun, [claim.route], library.table, name: claim.name) else {
                return r
            }
            r = begin(next, in: claim.tapeRun, runs[r].client.identities.first ?? "", name: claim.name, on: c)
        }
        return r
    }

    private func refusal(of r: Int) -> RecordedSession? {
        runs[r].session.refusal == nil ? nil : runs[r].session
    }

    // MARK: Answers of a session

    /// What writes for the session's client.
    func writer(of r: Int) -> any FrameCodec { runs[r].link?.writer ?? runs[r].session.writer }

    func place(of r: Int) -> CarrierPlace {
        let queued = runs[r].link?.polls.queue.reduce(0) { $0 + $1.messages } ?? 0
        return CarrierPlace(id: runs[r].link?.token ?? "", sent: max(0, runs[r].cursor.sent.count - queued))
    }

    func answer(_ what: CarrierAnswer, _ head: RequestHead, of r: Int) -> HTTPAnswer {
        writer(of: r).answer(what, to: head, in: place(of: r))
    }

    /// What the poll says that its client has not got is due again, and so is what is queued behind it.
    mutating func takeBackMissed(_ head: RequestHead, of r: Int) {
        let place = place(of: r)
        let count = min(writer(of: r).missed(head, in: place), place.sent)
        guard count > 0 else { return }
        let queued = runs[r].cursor.sent.count - place.sent
        runs[r].link?.polls.queue = []
        runs[r].link?.polls.body = []
        runs[r].link?.underWay.handedOverAll()
        runs[r].cursor.restore(runs[r].cursor.sent.suffix(count + queued).map(Int.init))
    }
}
