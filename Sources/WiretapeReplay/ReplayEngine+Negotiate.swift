internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeWire

extension ReplayEngine {
    mutating func negotiate(
        _ c: ConnectionID, _ head: RequestHead, _ codec: CodecEntry, into out: inout [ReplayAction]
    ) {
        let r: Int
        let redirected = redirected(head, codec, c)
        if let redirected {
            r = redirected
            remember(identity(head, c), of: r)
        } else {
            guard let claimed = claim(for: head, codec, c, into: &out) else { return }
            r = claimed
            runs[r].negotiation.redirects = 0
        }
        settleParked(of: r)
        let opensAttempt = runs[r].beginAttempt(negotiates: redirected == nil, at: now, origin: start)
        let hit = judge(head, .negotiate, opensAttempt: opensAttempt, of: r)
        if let hit, hit.place != .after { return carryOut(hit, on: c, head, .negotiate, of: r, into: &out) }
        let (answer, by, refusal) = negotiation(head, codec, of: r, into: &out)
        runs[r].addStep(
            .init(request: "negotiate", answer, time: elapsed), failed: by, refusal: refusal, at: now)
        out.append(.respond(c, answer.readable(by: head), thenClose: false))
        if let hit { cutAfterAnswer(hit, on: c, of: r, into: &out) }
    }

    /// - Returns: the answer, who makes the attempt fail with it, and why when that is the replay itself.
    private mutating func negotiation(
        _ head: RequestHead, _ codec: CodecEntry, of r: Int, into out: inout [ReplayAction]
    ) -> (HTTPAnswer, failed: Attempt.End.Party?, Attempt.OwnRefusal?) {
        if let failure = runs[r].standing.failure { return (plain(409, failure), .replay, .diverged) }
        let session = runs[r].session
        if runs[r].negotiation.redirects < session.redirects.count {
            let recorded = session.redirects[runs[r].negotiation.redirects]
            if let answer = codec.type.redirect(head, recorded: recorded) {
                runs[r].negotiation.redirects += 1
                runs[r].negotiation.awaitsUpgrade = true
                return (withCookies(of: recorded.response, answer), nil, nil)
            }
        }
        if let answer = recordedRefusal(of: r, at: .negotiate) { return (answer, .server, nil) }
        let served = transports(of: session)
        if let obstacle = session.obstacle ?? (served.isEmpty ? notServed(session) : nil) {
            let reason = obstructed(session, obstacle, into: &out)
            return (codec.type.refuseNegotiate(head, reason: reason) ?? plain(404, reason), .replay, .unplayable)
        }
        let offered = served.filter { !runs[r].faults.blocked.contains($0) }
        let minted = ids.mint(for: session, codec, isFresh: options.ids.areFresh)
        guard
            let answer = codec.type.negotiate(head, recorded: session.negotiate, ids: minted, transports: offered)
        else { return (plain(404, "\(codec.id) has no negotiation"), .replay, nil) }
        remember(minted, head, answer, codec, for: r)
        runs[r].negotiation.redirects = 0
        let isGiven = (200..<300).contains(answer.status)
        runs[r].negotiation.awaitsUpgrade = isGiven
        return (withCookies(of: session.negotiate?.response, answer), isGiven ? nil : .replay, nil)
    }

    /// A session that cannot be played was asked for: that is told once.
    mutating func obstructed(
        _ session: RecordedSession, _ obstacle: String, into out: inout [ReplayAction]
    ) -> String {
        let reason = "session \(session.number) of \(tapeName) \(obstacle)"
        if record.obstructed(session.number) { refusedByReplay(reason, into: &out) }
        return reason
    }

    private func notServed(_ session: RecordedSession) -> String {
        let served = session.writer.transports.map(\.rawValue).joined(separator: ", ")
        let wanted = options.transports.map(\.rawValue).joined(separator: ",")
        return served.isEmpty
            ? "has no transport that replay serves" : "can be served over \(served) only (--transports \(wanted))"
    }

    /// The session whose recorded redirect sent this client here: the one whose redirect gave the credential that the
    /// request brings, else that of the same client, else the oldest.
    mutating func redirected(_ head: RequestHead, _ codec: CodecEntry, _ c: ConnectionID) -> Int? {
        guard library.table.hasRedirects else { return nil }
        let route = mapped(codec.type.route(head))
        let waiting = runs.indices.filter { r in
            guard runs[r].negotiation.redirects > 0, !runs[r].isConnected, isServed(r, on: c) else { return false }
            let run = runs[r]
            guard run.session.codec.id == codec.id else { return false }
            let next =
                run.negotiation.redirects < run.session.redirects.count
                ? run.session.redirects[run.negotiation.redirects].request
                : run.session.negotiate?.request ?? run.session.opening.request
            return codec.type.route(next) == route || run.session.route == route
        }
        guard waiting.count > 1 else { return waiting.first }
        if let bearer = head.headers.first("Authorization")?.split(separator: " ").last {
            let mine = waiting.first { r in
                let redirect = runs[r].session.redirects[runs[r].negotiation.redirects - 1]
                return String(decoding: redirect.responseBody, as: UTF8.self).contains(bearer)
            }
            if let mine { return mine }
        }
        let identity = identity(head, c)
        return waiting.first { runs[$0].client.identities.contains(identity) } ?? waiting.first
    }

    /// The recorded answer that ended the attempt, when it was one to this kind of request.
    func recordedRefusal(of r: Int, at kind: ExchangeKind) -> HTTPAnswer? {
        let session = runs[r].session
        guard let refusal = session.refusal, session.codec.type.kind(session.opening.request) == kind else {
            return nil
        }
        let head = refusal.head
        let answer = HTTPAnswer(
            status: head.status, reason: head.reason,
            headers: head.headers.filter { field in
                !ReplayEngine.unstable.contains { equalIgnoringCase($0, field.name) }
                    && !field.name.lowercased().hasPrefix("access-control-")
            },
            body: refusal.body)
        return withCookies(of: head, answer)
    }

    /// Headers that belong to one connection, or that are made anew.
    private static let unstable = [
        "Connection", "Keep-Alive", "Proxy-Connection", "Transfer-Encoding", "Trailer", "Upgrade", "Content-Length",
        "Date", "Set-Cookie", "Alt-Svc", "Strict-Transport-Security",
    ]

    private mutating func remember(
        _ minted: ServerIDs, _ head: RequestHead, _ answer: HTTPAnswer, _ codec: CodecEntry, for r: Int
    ) {
        ids.issue(minted.token, to: r, minted)
        let exchange = StreamOpening(
            request: head, response: ResponseHead(status: answer.status, headers: answer.headers),
            responseBody: answer.body)
        if let key = codec.type.sessionKey(exchange) { ids.issue(key, to: r, minted) }
    }
}
