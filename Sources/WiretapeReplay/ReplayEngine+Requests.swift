internal import WiretapeAttempts
package import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol
package import WiretapeWire

extension ReplayEngine {
    /// A whole request arrived. Exactly one answer, stream or upgrade follows (a poll's perhaps much later), or the
    /// connection's end.
    package mutating func request(
        _ connection: ConnectionID, _ head: RequestHead, body: [UInt8], at now: WireInstant,
        into out: inout [ReplayAction]
    ) {
        clock.happened(at: now)
        guard let peer = peers[connection], !peer.isOver, peer.session == nil else { return }
        if runs.isEmpty { record.visitors.asked(connection, head) }
        record.requests.came(head)
        let first = out.count
        asking = Asking(connection: connection)
        let (head, body) = plain(head, body)
        if secrets.isActive {
            let client = identity(head, connection)
            peers.asked(connection, by: client)
            secrets.hear(head, of: client)
        } else {
            secrets.hear(head, of: "")
        }
        let rival = rival(of: head, on: connection)
        dispatch(connection, head, body: body, into: &out)
        if let rival { overlapped(rival, by: head, on: connection) }
        // What rules want before the answer.
        if let asking, !asking.prepared.isEmpty { out.insert(contentsOf: asking.prepared, at: first) }
        asking = nil
    }

    /// The request as it is meant, as the tape's are read. One that cannot be decoded stays as it is.
    private func plain(_ head: RequestHead, _ body: [UInt8]) -> (RequestHead, [UInt8]) {
        let codings = head.headers.contentCodings
        guard !codings.isEmpty, !body.isEmpty else { return (head, body) }
        let isSend = library.codecs.contains { $0.type.kind(head) == .send }
        let limit = isSend ? SessionReader.messageLimit : SessionReader.exchangeBodyLimit
        guard let plain = try? ContentDecoder.whole(body, codings, limit: limit) else { return (head, body) }
        var head = head
        head.headers = head.headers.without(nil)
        return (head, plain)
    }

    /// What the request is to the protocol, when it is one of its sessions'.
    func kind(of head: RequestHead, _ codec: CodecEntry) -> ExchangeKind {
        codec.type.isToldByAnswer ? .operation : codec.type.kind(head)
    }

    private mutating func dispatch(
        _ connection: ConnectionID, _ head: RequestHead, body: [UInt8], into out: inout [ReplayAction]
    ) {
        if answerInOutage(connection, head, into: &out) || redirectAgain(connection, head, into: &out) { return }
        if let answer = preflight(head) { return out.append(.respond(connection, answer, thenClose: false)) }
        if let codec = refreshCodec(head, on: connection) {
            return refresh(connection, head, body, codec, into: &out)
        }
        mergeOperations(for: head)
        guard let codec = codec(for: head, on: connection) else { return plain(connection, head, body, into: &out) }
        if codec.type.isTracked(head) { return track(connection, head, body, codec, into: &out) }
        let kind = kind(of: head, codec)
        switch kind {
        case .operation:
            if !operation(connection, head, body, codec, into: &out) { plain(connection, head, body, into: &out) }
        case .negotiate: negotiate(connection, head, codec, into: &out)
        case .upgrade: upgrade(connection, head, codec, into: &out)
        case .poll, .send, .stream, .end:
            guard let key = codec.type.sessionKey(StreamOpening(request: head)) else {
                return refuse(connection, head, .missingID, codec, into: &out)
            }
            passOn(key, kind, connection)
            guard let token = token(key, on: connection), !token.isDead else {
                if let session = self.token(key, on: connection)?.session, tries(kind, of: session) {
                    return tryAgain(connection, head, kind, of: session, into: &out)
                }
                if recordsAnew(key, connection, into: &out) { return }
                if kind == .send, let session = self.token(key, on: connection)?.session {
                    return sendToEnded(connection, head, body, key, of: session, into: &out)
                }
                return refuse(connection, head, .unknownID, codec, into: &out)
            }
            switch kind {
            case .poll: poll(connection, head, key, of: token.session, into: &out)
            case .stream: stream(connection, head, key, of: token.session, into: &out)
            case .send: send(connection, head, body, key, of: token.session, into: &out)
            case .negotiate, .upgrade, .operation, .end, .refresh, .preflight, .other:
                endSession(connection, head, key, of: token.session, into: &out)
            }
        case .refresh, .preflight, .other: plain(connection, head, body, into: &out)
        }
    }

    /// Whether the client goes on with a connection that was taken from it: an attempt, though not one that succeeds.
    private func tries(_ kind: ExchangeKind, of session: SessionRun) -> Bool {
        guard kind == .poll || kind == .stream, !session.isConnected, !session.isOver else { return false }
        return session.attempts.last?.ended.map { $0.by.isRule } ?? false
    }

    private mutating func tryAgain(
        _ connection: ConnectionID, _ head: RequestHead, _ kind: ExchangeKind, of session: SessionRun,
        into out: inout [ReplayAction]
    ) {
        let opensAttempt = session.beginAttempt(at: now, origin: start)
        if let hit = judge(head, kind, opensAttempt: opensAttempt, of: session), hit.place != .after {
            return carryOut(hit, on: connection, head, kind, of: session, into: &out)
        }
        let codec = session.recorded.codec
        let answer = codec.type.answer(.unknownID, to: head)
        let transport = codec.type.transport(head)
        session.addStep(
            .init(request: kind.rawValue, answer, transport: transport, time: elapsed), failed: .replay, at: now)
        out.append(.respond(connection, answer.readable(by: head), thenClose: false))
    }

    /// An ordinary request.
    mutating func plain(
        _ connection: ConnectionID, _ head: RequestHead, _ body: [UInt8], into out: inout [ReplayAction]
    ) {
        let body = settled(body, head, on: connection)
        if !exchange(connection, head, body: body, into: &out) { miss(connection, head, into: &out) }
    }

    /// Whose request it is: of the session that it names, else of one on its route.
    private func codec(for head: RequestHead, on connection: ConnectionID) -> CodecEntry? {
        for codec in library.codecs {
            guard let key = codec.type.sessionKey(StreamOpening(request: head)) else { continue }
            if token(key, on: connection) != nil { return codec }
        }
        return library.codecs.first { !candidates(for: head, $0).isEmpty }
    }

    /// The transports over which a session is served.
    func transports(of session: RecordedSession) -> [Transport] {
        session.writer.transports.filter { options.transports.contains($0) }
    }

    /// A request that opens a connection of a session which has none: counts the attempt and asks the rules, and answers
    /// what cannot be served.
    mutating func open(
        _ transport: Transport, _ kind: ExchangeKind, _ connection: ConnectionID, _ head: RequestHead,
        of session: SessionRun,
        into out: inout [ReplayAction]
    ) -> Opening {
        settleParked(of: session)
        let opensAttempt = session.beginAttempt(at: now, origin: start)
        let hit = judge(head, kind, opensAttempt: opensAttempt, of: session)
        if let hit, hit.place != .after {
            carryOut(hit, on: connection, head, kind, of: session, into: &out)
            return .answered
        }
        let codec = session.recorded.codec
        let answer: HTTPAnswer
        var by = Attempt.End.Party.replay
        var refusal: Attempt.OwnRefusal?
        if let failure = session.standing.failure {
            answer = plain(409, failure)
            refusal = .diverged
        } else if let refusal = recordedRefusal(of: session, at: kind) {
            answer = refusal
            by = .server
        } else if let obstacle = session.recorded.obstacle {
            answer = plain(404, obstructed(session.recorded, obstacle, into: &out))
            refusal = .unplayable
        } else if !transports(of: session.recorded).contains(transport) || session.faults.blocked.contains(transport) {
            answer = codec.type.answer(.notOffered, to: head)
            session.awaitUpgrade(false)
        } else if session.standing.isLeft || isUsedUp(session) && !mayReturn(to: session) {
            answer = codec.type.answer(.unknownID, to: head)
            if !session.standing.isLeft { refusal = .over }
        } else if !session.negotiation.awaitsUpgrade, reconnection(of: session) != .goesOn {
            session.abandon()
            answer = codec.type.answer(.unknownID, to: head)
        } else {
            return .goesOn(after: hit)
        }
        session.addStep(
            .init(request: kind.rawValue, answer, transport: transport, time: elapsed), failed: by, refusal: refusal,
            at: now)
        if refusal == .over { refusedByReplay(over(session, head), into: &out) }
        out.append(.respond(connection, answer.readable(by: head), thenClose: false))
        return .answered
    }

    /// Whether the session has had all that the tape has of it. One on which nothing was said has it with its connection.
    private func isUsedUp(_ session: SessionRun) -> Bool { session.isComplete && session.generation > 0 }

    /// Every connection but the first gets an id of its own in the server's greeting, with `--fresh-ids` the first one too.
    private mutating func varyGreeting(of session: SessionRun) {
        guard options.ids.areFresh || session.generation > 1, let chain = session.greetingChain else { return }
        let id = ids.vary(chain.id, session.recorded.codec)
        session.link?.chains.bind(chain, to: Chain(id, origin: chain.origin), at: nil)
    }

    /// What becomes of a request that would open a connection.
    enum Opening {
        case answered
        /// It is to be answered well, and a rule may want something afterwards.
        case goesOn(after: RequestFate?)
    }

    /// The time until which rules hold back the response to the current request. Nil if no rule does.
    func answerWaits(on connection: ConnectionID) -> WireInstant? {
        guard let asking, asking.connection == connection else { return nil }
        var until: WireInstant?
        for action in asking.prepared {
            if case .hold(_, let time) = action { until = max(until ?? now, now.advanced(by: time)) }
            if case .stall(_, _, writes: true) = action { return WireInstant(nanoseconds: .max) }
        }
        return until
    }

    /// The client has a connection.
    mutating func attach(
        _ link: Link, _ connection: ConnectionID, _ head: RequestHead, _ kind: ExchangeKind, to session: SessionRun,
        into out: inout [ReplayAction]
    ) {
        if let old = session.trailing?.connection, let peer = peers[old], !(peer.isOver && old == connection) {
            peers.endTrail(old)
            if old == connection {
                // It asks again where it was answered: it has all of that.
                session.forgetTrailing()
            } else {
                // It has turned away from what it was still being sent.
                peers.end(old)
                out.append(.reset(old))
            }
        }
        let status = link.transport == .ws ? 101 : 200
        session.addStep(
            .init(request: kind.rawValue, status: status, transport: link.transport, time: elapsed), failed: nil,
            at: now)
        forgetParked(of: session)
        if let token = link.token { ids.use(token) }
        if link.connection == connection { carries(connection, session, into: &out) }
        remember(identity(head, connection), of: session)
        session.uses(link.transport)
        findGreeting(of: session, into: &out)
        session.attach(link, at: now, options)
        if let until = answerWaits(on: connection) { rules.holdsResponse(for: session, on: connection, until: until) }
        session.link?.codec.configure(options.codecSettings)
        if let other = session.link?.writer.translation {
            let name = "session \(session.recorded.number)"
            out.append(.log("wiretape: \(name): the client speaks \(other), and the session is translated"))
        }
        varyGreeting(of: session)
        watch(session)
        session.link?.faults.moments = LinkMoments(rules.times)
        let hasHandshake = session.recorded.codec.type.hasHandshake(on: link.transport)
        if !hasHandshake || session.script.clientHandshake == nil && session.script.serverHandshake == nil {
            session.connected(at: now)
        }
    }
}
