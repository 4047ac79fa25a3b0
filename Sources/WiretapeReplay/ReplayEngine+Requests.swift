internal import WiretapeAttempts
package import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeProtocol
package import WiretapeWire

extension ReplayEngine {
    /// A whole request arrived. Exactly one answer, stream or upgrade follows (a poll's perhaps much later), or the
    /// connection's end.
    package mutating func request(
        _ c: ConnectionID, _ head: RequestHead, body: [UInt8], at now: WireInstant, into out: inout [ReplayAction]
    ) {
        clock.happened(at: now)
        guard let peer = peers[c], !peer.isOver, peer.run == nil else { return }
        if runs.isEmpty { record.visitors.asked(c, head) }
        let first = out.count
        asking = Asking(connection: c)
        let (head, body) = plain(head, body)
        if secrets.isActive {
            let client = identity(head, c)
            peers[c]?.client = client
            secrets.hear(head, of: client)
        } else {
            secrets.hear(head, of: "")
        }
        let rival = rival(of: head, on: c)
        dispatch(c, head, body: body, into: &out)
        if let rival { overlapped(rival, by: head, on: c) }
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

    private mutating func dispatch(
        _ c: ConnectionID, _ head: RequestHead, body: [UInt8], into out: inout [ReplayAction]
    ) {
        if answerInOutage(c, head, into: &out) || redirectAgain(c, head, into: &out) { return }
        if let answer = preflight(head) { return out.append(.respond(c, answer, thenClose: false)) }
        mergeOperations(for: head)
        guard let codec = codec(for: head, on: c) else { return plain(c, head, body, into: &out) }
        if codec.type.isTracked(head) { return track(c, head, body, codec, into: &out) }
        let kind = codec.type.isToldByAnswer ? .operation : codec.type.kind(head)
        switch kind {
        case .operation:
            if !operation(c, head, body, codec, into: &out) { plain(c, head, body, into: &out) }
        case .negotiate: negotiate(c, head, codec, into: &out)
        case .upgrade: upgrade(c, head, codec, into: &out)
        case .poll, .send, .stream, .end:
            guard let key = codec.type.sessionKey(StreamOpening(request: head)) else {
                return refuse(c, head, .missingID, codec, into: &out)
            }
            passOn(key, kind, c)
            guard let token = token(key, on: c), !token.isDead else {
                if let r = self.token(key, on: c)?.run, tries(kind, of: r) {
                    return tryAgain(c, head, kind, of: r, into: &out)
                }
                if recordsAnew(key, c, into: &out) { return }
                return refuse(c, head, .unknownID, codec, into: &out)
            }
            switch kind {
            case .poll: poll(c, head, key, of: token.run, into: &out)
            case .stream: stream(c, head, key, of: token.run, into: &out)
            case .send: send(c, head, body, key, of: token.run, into: &out)
            case .negotiate, .upgrade, .operation, .end, .preflight, .other:
                endSession(c, head, key, of: token.run, into: &out)
            }
        case .preflight, .other: plain(c, head, body, into: &out)
        }
    }

    /// Whether the client goes on with a connection that was taken from it: an attempt, though not one that succeeds.
    private func tries(_ kind: ExchangeKind, of r: Int) -> Bool {
        guard kind == .poll || kind == .stream, !runs[r].isConnected, !runs[r].isOver else { return false }
        return runs[r].attempts.last?.ended.map { $0.by.isRule } ?? false
    }

    private mutating func tryAgain(
        _ c: ConnectionID, _ head: RequestHead, _ kind: ExchangeKind, of r: Int, into out: inout [ReplayAction]
    ) {
        let opensAttempt = runs[r].beginAttempt(at: now, origin: start)
        if let hit = judge(head, kind, opensAttempt: opensAttempt, of: r), hit.place != .after {
            return carryOut(hit, on: c, head, kind, of: r, into: &out)
        }
        let codec = runs[r].session.codec
        let answer = codec.type.answer(.unknownID, to: head)
        let transport = codec.type.transport(head)
        runs[r].addStep(
            .init(request: kind.rawValue, answer, transport: transport, time: elapsed), failed: .replay, at: now)
        out.append(.respond(c, answer.readable(by: head), thenClose: false))
    }

    /// An ordinary request.
    mutating func plain(
        _ c: ConnectionID, _ head: RequestHead, _ body: [UInt8], into out: inout [ReplayAction]
    ) {
        let body = settled(body, head, on: c)
        if !exchange(c, head, body: body, into: &out) { miss(c, head, into: &out) }
    }

    /// Whose request it is: of the session that it names, else of one on its route.
    private func codec(for head: RequestHead, on c: ConnectionID) -> CodecEntry? {
        for codec in library.codecs {
            guard let key = codec.type.sessionKey(StreamOpening(request: head)) else { continue }
            if token(key, on: c) != nil { return codec }
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
        _ transport: Transport, _ kind: ExchangeKind, _ c: ConnectionID, _ head: RequestHead, of r: Int,
        into out: inout [ReplayAction]
    ) -> Opening {
        settleParked(of: r)
        let opensAttempt = runs[r].beginAttempt(at: now, origin: start)
        let hit = judge(head, kind, opensAttempt: opensAttempt, of: r)
        if let hit, hit.place != .after {
            carryOut(hit, on: c, head, kind, of: r, into: &out)
            return .answered
        }
        let codec = runs[r].session.codec
        let answer: HTTPAnswer
        var by = Attempt.End.Party.replay
        var refusal: Attempt.OwnRefusal?
        if let failure = runs[r].standing.failure {
            answer = plain(409, failure)
            refusal = .diverged
        } else if let refusal = recordedRefusal(of: r, at: kind) {
            answer = refusal
            by = .server
        } else if let obstacle = runs[r].session.obstacle {
            answer = plain(404, obstructed(runs[r].session, obstacle, into: &out))
            refusal = .unplayable
        } else if !transports(of: runs[r].session).contains(transport) || runs[r].faults.blocked.contains(transport) {
            answer = codec.type.answer(.notOffered, to: head)
            runs[r].negotiation.awaitsUpgrade = false
        } else if runs[r].standing.isLeft || isUsedUp(r) && !mayReturn(to: r) {
            answer = codec.type.answer(.unknownID, to: head)
            if !runs[r].standing.isLeft { refusal = .over }
        } else if !runs[r].negotiation.awaitsUpgrade, reconnection(of: r) != .goesOn {
            runs[r].standing.isLeft = true
            answer = codec.type.answer(.unknownID, to: head)
        } else {
            return .goesOn(after: hit)
        }
        runs[r].addStep(
            .init(request: kind.rawValue, answer, transport: transport, time: elapsed), failed: by, refusal: refusal,
            at: now)
        if refusal == .over { refusedByReplay(over(r, head), into: &out) }
        out.append(.respond(c, answer.readable(by: head), thenClose: false))
        return .answered
    }

    /// Whether the session has had all that the tape has of it. One on which nothing was said has it with its connection.
    private func isUsedUp(_ r: Int) -> Bool { runs[r].isComplete && runs[r].generation > 0 }

    /// Every connection but the first gets an id of its own in the server's greeting, with `--fresh-ids` the first one too.
    private mutating func varyGreeting(of r: Int) {
        guard options.ids.areFresh || runs[r].generation > 1, let chain = runs[r].greetingChain else { return }
        let id = ids.vary(chain.id, runs[r].session.codec)
        runs[r].link?.chains.bind(chain, to: Chain(id, origin: chain.origin), at: nil)
    }

    /// What becomes of a request that would open a connection.
    enum Opening {
        case answered
        /// It is to be answered well, and a rule may want something afterwards.
        case goesOn(after: RequestFate?)
    }

    /// The client has a connection.
    mutating func attach(
        _ link: Link, _ c: ConnectionID, _ head: RequestHead, _ kind: ExchangeKind, to r: Int,
        into out: inout [ReplayAction]
    ) {
        if let old = runs[r].trailing?.connection, let peer = peers[old], !(peer.isOver && old == c) {
            peers[old]?.trails = nil
            if old == c {
                // It asks again where it was answered: it has all of that.
                runs[r].trailing = nil
            } else {
                // It has turned away from what it was still being sent.
                peers[old]?.isOver = true
                out.append(.reset(old))
            }
        }
        let status = link.transport == .ws ? 101 : 200
        runs[r].addStep(
            .init(request: kind.rawValue, status: status, transport: link.transport, time: elapsed), failed: nil,
            at: now)
        forgetParked(of: r)
        if let token = link.token { ids.use(token) }
        if link.connection == c { carries(c, r, into: &out) }
        remember(identity(head, c), of: r)
        runs[r].client.uses(link.transport)
        findGreeting(of: r, into: &out)
        runs[r].attach(link, at: now, options)
        runs[r].link?.codec.configure(options.codecSettings)
        if let other = runs[r].link?.writer.translation {
            let name = "session \(runs[r].session.number)"
            out.append(.log("wiretape: \(name): the client speaks \(other), and the session is translated"))
        }
        varyGreeting(of: r)
        watch(r)
        runs[r].link?.faults.moments = LinkMoments(rules.times)
        let hasHandshake = runs[r].session.codec.type.hasHandshake(on: link.transport)
        if !hasHandshake || runs[r].script.clientHandshake == nil && runs[r].script.serverHandshake == nil {
            runs[r].connected(at: now)
        }
    }
}
