extension ReplayEngine {
    /// A whole request arrived. Exactly one answer or upgrade follows, or the connection's end.
    package mutating func request(
        _ c: ConnectionID, _ head: RequestHead, body: [UInt8], at now: WireInstant, into out: inout [ReplayAction]
    ) {
        happened(at: now)
        guard let peer = peers[c], !peer.isOver, peer.run == nil else { return }
        if let answer = preflight(head) { return out.append(.respond(c, answer, thenClose: false)) }
        guard let codec = codecs.first(where: { !candidates(for: head, $0).isEmpty }) else {
            return miss(c, head, into: &out)
        }
        switch codec.type.kind(head) {
        case .negotiate: negotiate(c, head, codec, into: &out)
        case .upgrade: upgrade(c, head, codec, into: &out)
        case .poll, .send, .stream, .end:
            let text = "only WebSockets are served from a tape as yet; \(head.method) \(head.path) is another transport"
            refuse(c, head, 404, text, into: &out)
        case .preflight, .other: miss(c, head, into: &out)
        }
    }

    // MARK: Negotiate

    private mutating func negotiate(
        _ c: ConnectionID, _ head: RequestHead, _ codec: CodecEntry, into out: inout [ReplayAction]
    ) {
        guard let r = claim(for: head, codec, c, into: &out) else { return }
        let opensAttempt = runs[r].beginAttempt(at: now, origin: origin ?? now)
        let hit = judge(head, .negotiate, opensAttempt: opensAttempt, of: r)
        if let hit, hit.place != .after { return carryOut(hit, on: c, head, .negotiate, of: r, into: &out) }
        if let failure = runs[r].failure {
            runs[r].addStep(.init(request: "negotiate", status: 409, time: elapsed), failed: "replay", at: now)
            return refuse(c, head, 409, failure, into: &out)
        }
        let session = runs[r].session
        let obstacle =
            session.transport == .ws
            ? session.writer.obstacle
            : "was recorded over \(session.transport.rawValue), which replay does not serve yet"
        if let obstacle {
            let reason = "session \(session.number) of \(tapeName) \(obstacle)"
            let answer = codec.type.refuseNegotiate(head, reason: reason) ?? plain(404, reason)
            runs[r].addStep(
                .init(request: "negotiate", status: answer.status, time: elapsed), failed: "replay", at: now)
            if !refusedSessions.contains(session.number) {
                refusedSessions.append(session.number)
                diverged("wiretape: \(reason)", into: &out)
            }
            return out.append(.respond(c, withCORS(answer, for: head), thenClose: false))
        }
        let ids = mint(for: session, codec)
        guard
            let answer = codec.type.negotiate(
                head, recorded: session.negotiate, ids: ids, transports: [.ws])
        else {
            return refuse(c, head, 404, "\(codec.id) has no negotiation", into: &out)
        }
        remember(ids, head, answer, codec, for: r)
        runs[r].awaitsUpgrade = answer.status == 200
        let failed = answer.status != 200
        runs[r].addStep(
            .init(request: "negotiate", status: answer.status, time: elapsed), failed: failed ? "replay" : nil, at: now)
        out.append(.respond(c, withCORS(answer, for: head), thenClose: false))
        if let hit { cutAfterAnswer(hit, on: c, of: r, into: &out) }
    }

    /// The recorded ids the first time, varied ones for every later negotiation.
    private mutating func mint(for session: RecordedSession, _ codec: CodecEntry) -> ServerIDs {
        var hash = StableHash()
        hash.combine("session \(session.number)")
        let made = ReplayEngine.madeUpID(hash.value)
        let recorded = session.serverIDs ?? ServerIDs(connectionID: made, token: made)
        while true {
            let n = handedOut[recorded.token, default: 0]
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
        tokens[ids.token] = r
        let exchange = StreamOpening(
            request: head, response: ResponseHead(status: answer.status, headers: answer.headers),
            responseBody: answer.body)
        if let key = codec.type.sessionKey(exchange) { tokens[key] = r }
    }

    // MARK: Upgrade

    private mutating func upgrade(
        _ c: ConnectionID, _ head: RequestHead, _ codec: CodecEntry, into out: inout [ReplayAction]
    ) {
        let key = codec.type.sessionKey(StreamOpening(request: head))
        let r: Int
        if let key {
            guard let named = tokens[key] else { return refuse(c, head, 404, "No Connection with that ID", into: &out) }
            r = named
            guard runs[r].link == nil else {
                return refuse(c, head, 409, "the session has a connection already", into: &out)
            }
            if runs[r].generation > 0, !runs[r].awaitsUpgrade { runs[r].assigned = .token }
        } else {
            guard let claimed = claim(for: head, codec, c, into: &out) else { return }
            r = claimed
        }
        let opensAttempt = runs[r].beginAttempt(at: now, origin: origin ?? now)
        let hit = judge(head, .upgrade, opensAttempt: opensAttempt, of: r)
        if let hit, hit.place != .after { return carryOut(hit, on: c, head, .upgrade, of: r, into: &out) }
        if runs[r].failure != nil || runs[r].isComplete {
            let text = runs[r].failure ?? "No Connection with that ID"
            let status = runs[r].failure == nil ? 404 : 409
            runs[r].addStep(
                .init(request: "upgrade", status: status, transport: .ws, time: elapsed), failed: "replay", at: now)
            return refuse(c, head, status, text, into: &out)
        }
        runs[r].addStep(.init(request: "upgrade", status: 101, transport: .ws, time: elapsed), failed: nil, at: now)
        peers[c]?.run = r
        remember(identity(head, c), of: r)
        runs[r].attach(Link(id: c, codec: codec.type.init(StreamOpening(request: head)), at: now), at: now)
        if runs[r].script.clientHandshake == nil { runs[r].connected() }
        var headers: [HeaderField] = []
        if let chosen = subprotocol(of: runs[r].session) {
            headers.append(HeaderField("Sec-WebSocket-Protocol", chosen))
        }
        out.append(.upgrade(c, headers: headers + cors(head)))
        if let hit { return cut(r, Link.Ending(verdict: hit.action.verdict, hit: hit), following: true, into: &out) }
        advance(r, into: &out)
    }
}
