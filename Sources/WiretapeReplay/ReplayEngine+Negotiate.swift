internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

extension ReplayEngine {
    mutating func negotiate(
        _ connection: ConnectionID, _ head: RequestHead, _ codec: CodecEntry, into out: inout [ReplayAction]
    ) {
        let session: SessionRun
        let redirected = redirected(head, codec, connection)
        if let redirected {
            session = redirected
            remember(identity(head, connection), of: session)
        } else {
            guard let claimed = claim(for: head, codec, connection, into: &out) else { return }
            session = claimed
            session.endRedirects()
        }
        settleParked(of: session)
        let opensAttempt = session.beginAttempt(negotiates: redirected == nil, at: now, origin: start)
        let hit = judge(head, .negotiate, opensAttempt: opensAttempt, of: session)
        if let hit, hit.place != .after {
            return carryOut(hit, on: connection, head, .negotiate, of: session, into: &out)
        }
        let (answer, by, refusal) = negotiation(head, codec, of: session, into: &out)
        session.addStep(
            .init(request: "negotiate", answer, time: elapsed), failed: by, refusal: refusal, at: now)
        out.append(.respond(connection, answer.readable(by: head), thenClose: false))
        if let until = answerWaits(on: connection) { rules.holdsResponse(for: session, on: connection, until: until) }
        if let hit { cutAfterAnswer(hit, on: connection, of: session, into: &out) }
    }

    /// Grants one more reservation to a client that has a session already. The session belongs to the reservation that the client uses.
    mutating func reserveAgain(
        _ session: SessionRun, _ connection: ConnectionID, _ head: RequestHead, _ codec: CodecEntry,
        into out: inout [ReplayAction]
    ) {
        let hit = judge(head, .negotiate, opensAttempt: false, of: session)
        if let hit, hit.place != .after {
            return carryOut(hit, on: connection, head, .negotiate, of: session, into: &out)
        }
        let answer = grant(head, codec, of: session) ?? plain(404, "\(codec.id) has no negotiation")
        out.append(.respond(connection, answer.readable(by: head), thenClose: false))
        if let hit { cutAfterAnswer(hit, on: connection, of: session, into: &out) }
    }

    /// Answers a negotiation with ids of its own that name the session. Nil if the protocol has no negotiations.
    private mutating func grant(_ head: RequestHead, _ codec: CodecEntry, of session: SessionRun) -> HTTPAnswer? {
        let recorded = session.recorded
        let offered = transports(of: recorded).filter { !session.faults.blocked.contains($0) }
        let minted = ids.mint(for: recorded, codec, isFresh: options.ids.areFresh)
        guard
            let answer = codec.type.negotiate(head, recorded: recorded.negotiate, ids: minted, transports: offered)
        else { return nil }
        remember(minted, head, answer, codec, for: session)
        return withRecordedFields(of: recorded.negotiate?.response, session.applyLifetime(to: answer, at: elapsed))
    }

    /// - Returns: the answer, who makes the attempt fail with it, and why when that is the replay itself.
    private mutating func negotiation(
        _ head: RequestHead, _ codec: CodecEntry, of session: SessionRun, into out: inout [ReplayAction]
    ) -> (HTTPAnswer, failed: Attempt.End.Party?, Attempt.OwnRefusal?) {
        if let failure = session.standing.failure { return (plain(409, failure), .replay, .diverged) }
        let recorded = session.recorded
        if session.negotiation.redirects < recorded.redirects.count {
            let hop = recorded.redirects[session.negotiation.redirects]
            if let answer = codec.type.redirect(head, recorded: hop) {
                session.redirected()
                session.awaitUpgrade(true)
                return (withRecordedFields(of: hop.response, answer), nil, nil)
            }
        }
        if let answer = recordedRefusal(of: session, at: .negotiate) { return (answer, .server, nil) }
        let served = transports(of: recorded)
        if let obstacle = recorded.obstacle ?? (served.isEmpty ? notServed(recorded) : nil) {
            let reason = obstructed(recorded, obstacle, into: &out)
            return (codec.type.refuseNegotiate(head, reason: reason) ?? plain(404, reason), .replay, .unplayable)
        }
        guard let answer = grant(head, codec, of: session) else {
            return (plain(404, "\(codec.id) has no negotiation"), .replay, nil)
        }
        session.endRedirects()
        let isGiven = (200..<300).contains(answer.status)
        session.awaitUpgrade(isGiven)
        return (answer, isGiven ? nil : .replay, nil)
    }

    /// A session that cannot be played was asked for: that is told once.
    mutating func obstructed(
        _ recorded: RecordedSession, _ obstacle: String, into out: inout [ReplayAction]
    ) -> String {
        let reason = "session \(recorded.number) of \(tapeName) \(obstacle)"
        if record.obstructed(recorded.number) { refusedByReplay(reason, into: &out) }
        return reason
    }

    private func notServed(_ recorded: RecordedSession) -> String {
        let served = recorded.writer.transports.map(\.rawValue).joined(separator: ", ")
        let wanted = options.transports.map(\.rawValue).joined(separator: ",")
        return served.isEmpty
            ? "has no transport that replay serves" : "can be served over \(served) only (--transports \(wanted))"
    }

    /// The session whose recorded redirect sent this client here: the one whose redirect gave the credential that the
    /// request brings, else that of the same client, else the oldest.
    mutating func redirected(_ head: RequestHead, _ codec: CodecEntry, _ connection: ConnectionID) -> SessionRun? {
        guard library.table.hasRedirects else { return nil }
        let route = mapped(codec.type.route(head))
        let waiting = runs.filter { session in
            guard session.negotiation.redirects > 0, !session.isConnected, isServed(session, on: connection) else {
                return false
            }
            guard session.recorded.codec.id == codec.id else { return false }
            let next =
                session.negotiation.redirects < session.recorded.redirects.count
                ? session.recorded.redirects[session.negotiation.redirects].request
                : session.recorded.negotiate?.request ?? session.recorded.opening.request
            return codec.type.route(next) == route || session.recorded.route == route
        }
        guard waiting.count > 1 else { return waiting.first }
        if let bearer = head.headers.first("Authorization")?.split(separator: " ").last {
            let mine = waiting.first { session in
                let redirect = session.recorded.redirects[session.negotiation.redirects - 1]
                return String(decoding: redirect.responseBody, as: UTF8.self).contains(bearer)
            }
            if let mine { return mine }
        }
        let identity = identity(head, connection)
        return waiting.first { $0.client.identities.contains(identity) } ?? waiting.first
    }

    /// The recorded answer that ended the attempt, when it was one to this kind of request.
    func recordedRefusal(of session: SessionRun, at kind: ExchangeKind) -> HTTPAnswer? {
        let recorded = session.recorded
        guard let refusal = recorded.refusal, recorded.codec.type.kind(recorded.opening.request) == kind else {
            return nil
        }
        let head = refusal.head
        return HTTPAnswer(
            status: head.status, reason: head.reason,
            headers: head.headers.filter { field in
                let name = field.name.lowercased()
                return !ReplayEngine.ofConnection.contains(name) && !name.hasPrefix("access-control-")
            },
            body: refusal.body)
    }

    private mutating func remember(
        _ minted: ServerIDs, _ head: RequestHead, _ answer: HTTPAnswer, _ codec: CodecEntry, for session: SessionRun
    ) {
        let exchange = StreamOpening(
            request: head, response: ResponseHead(status: answer.status, headers: answer.headers),
            responseBody: answer.body)
        let mayRefresh = codec.type.mayRefresh(exchange)
        ids.issue(minted.token, to: session, minted, mayRefresh: mayRefresh)
        if let key = codec.type.sessionKey(exchange) { ids.issue(key, to: session, minted, mayRefresh: mayRefresh) }
    }
}

/// Clients that renew the credential of a living connection. The client's timer decides how often it renews, so a replay may have more renewals
/// than the tape.
extension ReplayEngine {
    /// The codec whose refresh endpoint the request addresses. Nil if the tape has no credential lifetime for that session or route.
    func refreshCodec(_ head: RequestHead, on connection: ConnectionID) -> CodecEntry? {
        library.codecs.first { codec in
            guard let route = codec.type.refreshRoute(head) else { return false }
            let key = codec.type.sessionKey(StreamOpening(request: head))
            if let session = key.flatMap({ token($0, on: connection) })?.session {
                return session.recorded.route == mapped(route) && lifetime(of: session, head) != nil
            }
            return library.sessions.contains { session in
                session.route == mapped(route) && recordedLifetime(of: session) != nil
            }
        }
    }

    /// Responds to a refresh request with the next recorded response. When none is left, responds as the protocol's server would.
    mutating func refresh(
        _ connection: ConnectionID, _ head: RequestHead, _ body: [UInt8], _ codec: CodecEntry,
        into out: inout [ReplayAction]
    ) {
        guard head.method == "POST" else { return answer(connection, head, .notAllowed, codec, into: &out) }
        guard let key = codec.type.sessionKey(StreamOpening(request: head)) else {
            return answer(connection, head, .missingConnection, codec, into: &out)
        }
        guard let token = token(key, on: connection), !token.isDead, !token.isUsed || token.session.isNamed(by: key)
        else {
            return answer(connection, head, .unknownConnection, codec, into: &out)
        }
        let session = token.session
        // The client may have a new bearer token.
        remember(identity(head, connection), of: session)
        let hit = judge(head, .refresh, opensAttempt: false, of: session)
        if let hit, hit.place != .after {
            return carryOut(hit, on: connection, head, .refresh, of: session, into: &out)
        }
        if !token.mayRefresh {
            answer(connection, head, .oldVersion, codec, into: &out)
        } else if respondWithNextExchange(connection, head, body, of: session, into: &out) == nil {
            let renewed = codec.type.refreshResponse(for: .renewed(lifetime: lifetime(of: session, head) ?? 0))
            let answer = session.applyLifetime(to: renewed, at: elapsed, requested: elapsed).readable(by: head)
            out.append(.respond(connection, answer, thenClose: false))
        }
        advanceWaiting(into: &out)
        if let hit { cutAfterAnswer(hit, on: connection, of: session, into: &out) }
    }

    private mutating func answer(
        _ connection: ConnectionID, _ head: RequestHead, _ what: RefreshOutcome, _ codec: CodecEntry,
        into out: inout [ReplayAction]
    ) {
        out.append(.respond(connection, codec.type.refreshResponse(for: what).readable(by: head), thenClose: false))
    }

    /// The lifetime in seconds for a renewal response that is not on the tape. It is the lifetime in the last recorded renewal, or else in the
    /// session's negotiation. Nil if neither has a lifetime.
    private func lifetime(of session: SessionRun, _ head: RequestHead) -> Int? {
        let type = session.recorded.codec.type
        let renewals = exchanges.recorded.filter {
            $0.request.method == "POST" && $0.request.path == mapped(head.path) && $0.response.status == 200
        }
        return renewals.lazy.reversed().compactMap { type.credentialLifetime(in: $0.responseBody) }.first
            ?? recordedLifetime(of: session.recorded)
    }

    private func recordedLifetime(of session: RecordedSession) -> Int? {
        session.negotiate.flatMap { session.codec.type.credentialLifetime(in: $0.responseBody) }
    }
}
