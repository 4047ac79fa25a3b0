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
            runs[r].redirects = 0
        }
        settleParked(of: r)
        let opensAttempt = runs[r].beginAttempt(negotiates: redirected == nil, at: now, origin: origin ?? now)
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
    ) -> (HTTPAnswer, failed: String?, Attempt.OwnRefusal?) {
        if let failure = runs[r].failure { return (plain(409, failure), "replay", .diverged) }
        let session = runs[r].session
        if runs[r].redirects < session.redirects.count {
            let recorded = session.redirects[runs[r].redirects]
            if let answer = codec.type.redirect(head, recorded: recorded) {
                runs[r].redirects += 1
                runs[r].awaitsUpgrade = true
                return (withCookies(of: recorded.response, answer), nil, nil)
            }
        }
        if let answer = recordedRefusal(of: r, at: .negotiate) { return (answer, "server", nil) }
        let served = transports(of: session)
        if let obstacle = session.obstacle ?? (served.isEmpty ? notServed(session) : nil) {
            let reason = obstructed(session, obstacle, into: &out)
            return (codec.type.refuseNegotiate(head, reason: reason) ?? plain(404, reason), "replay", .unplayable)
        }
        let offered = served.filter { !runs[r].blocked.contains($0) }
        let ids = mint(for: session, codec)
        guard
            let answer = codec.type.negotiate(head, recorded: session.negotiate, ids: ids, transports: offered)
        else { return (plain(404, "\(codec.id) has no negotiation"), "replay", nil) }
        remember(ids, head, answer, codec, for: r)
        runs[r].redirects = 0
        let isGiven = (200..<300).contains(answer.status)
        runs[r].awaitsUpgrade = isGiven
        return (withCookies(of: session.negotiate?.response, answer), isGiven ? nil : "replay", nil)
    }

    /// A session that cannot be played was asked for: that is told once.
    mutating func obstructed(
        _ session: RecordedSession, _ obstacle: String, into out: inout [ReplayAction]
    ) -> String {
        let reason = "session \(session.number) of \(tapeName) \(obstacle)"
        if !refusedSessions.contains(session.number) {
            refusedSessions.append(session.number)
            refusedByReplay(reason, into: &out)
        }
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
        guard table.hasRedirects else { return nil }
        let route = mapped(codec.type.route(head))
        let waiting = runs.indices.filter { r in
            guard runs[r].redirects > 0, !runs[r].isConnected, isServed(r, on: c) else { return false }
            let run = runs[r]
            guard run.session.codec.id == codec.id else { return false }
            let next =
                run.redirects < run.session.redirects.count
                ? run.session.redirects[run.redirects].request
                : run.session.negotiate?.request ?? run.session.opening.request
            return codec.type.route(next) == route || run.session.route == route
        }
        guard waiting.count > 1 else { return waiting.first }
        if let bearer = head.headers.first("Authorization")?.split(separator: " ").last {
            let mine = waiting.first { r in
                let redirect = runs[r].session.redirects[runs[r].redirects - 1]
                return String(decoding: redirect.responseBody, as: UTF8.self).contains(bearer)
            }
            if let mine { return mine }
        }
        let identity = identity(head, c)
        return waiting.first { runs[$0].identities.contains(identity) } ?? waiting.first
    }

    /// The recorded answer that ended the attempt, when it was one to this kind of request.
    func recordedRefusal(of r: Int, at kind: ExchangeKind) -> HTTPAnswer? {
        let session = runs[r].session
        guard let head = session.refusal, session.codec.type.kind(session.opening.request) == kind else { return nil }
        let answer = HTTPAnswer(
            status: head.status, reason: head.reason,
            headers: head.headers.filter { field in
                !ReplayEngine.unstable.contains { equalIgnoringCase($0, field.name) }
                    && !field.name.lowercased().hasPrefix("access-control-")
            },
            body: session.refusalBody)
        return withCookies(of: head, answer)
    }

    /// Headers that belong to one connection, or that are made anew.
    private static let unstable = [
        "Connection", "Keep-Alive", "Proxy-Connection", "Transfer-Encoding", "Trailer", "Upgrade", "Content-Length",
        "Date", "Set-Cookie", "Alt-Svc", "Strict-Transport-Security",
    ]

    /// The recorded ids the first time, varied ones for every later negotiation.
    mutating func mint(for session: RecordedSession, _ codec: CodecEntry) -> ServerIDs {
        var hash = StableHash()
        hash.combine("session \(session.number)")
        let made = ReplayEngine.madeUpID(hash.value)
        let recorded = session.serverIDs ?? ServerIDs(connectionID: made, token: made)
        while true {
            let n = handedOut[recorded.token, default: options.freshIDs ? 1 : 0]
            handedOut[recorded.token] = n + 1
            let ids = ServerIDs(
                connectionID: codec.type.vary(recorded.connectionID, n), token: codec.type.vary(recorded.token, n))
            if tokens[ids.token] == nil || n > tokens.count { return ids }
        }
    }

    /// 22 characters of base64url, as servers make them.
    private static func madeUpID(_ seed: UInt64) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var generator = SplitMix64(seed: seed)
        return String(decoding: (0..<22).map { _ in letters[generator.below(64)] }, as: UTF8.self)
    }

    private mutating func remember(
        _ ids: ServerIDs, _ head: RequestHead, _ answer: HTTPAnswer, _ codec: CodecEntry, for r: Int
    ) {
        tokens[ids.token] = SessionToken(run: r, ids: ids)
        let exchange = StreamOpening(
            request: head, response: ResponseHead(status: answer.status, headers: answer.headers),
            responseBody: answer.body)
        if let key = codec.type.sessionKey(exchange) { tokens[key] = SessionToken(run: r, ids: ids) }
    }
}
