package import WiretapeAttempts
package import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapePlayback
internal import WiretapeProtocol
package import WiretapeWire

extension LiveFaults {
    /// The head of a request: finds its session and attempt and asks the rules.
    package func request(_ head: RequestHead, on c: UInt32, at now: WireInstant) -> LiveExchange {
        requests.came(head)
        let (kind, entry) = classify(head)
        let exchange = LiveExchange(head, kind, entry, on: c, at: now)
        if let loop = redirects(head) {
            exchange.refusal = loop
            return exchange
        }
        var opensAttempt = false
        if let entry {
            find(exchange, entry, on: c, at: now)
            if let session = exchange.session, kind.beginsAttempts,
                !session.isConnected || kind == .negotiate
                    || exchange.carrier == nil
            {
                let negotiates = kind == .negotiate && !session.isRedirected
                if kind == .negotiate { session.isRedirected = false }
                opensAttempt = session.beginAttempt(negotiates: negotiates, at: now, origin: origin)
            }
            noteOverlap(exchange, entry, at: now)
            exchange.session?.requests += 1
        }
        var moment = moment(of: exchange.session, exchange.carrier, at: now)
        moment.context.opensAttempt = opensAttempt
        if moment.context.transport == nil, kind == .upgrade || kind == .poll || kind == .stream {
            moment.context.transport = exchange.transport
        }
        if moment.context.protocolID == nil { moment.context.protocolID = entry?.id }
        let ordinal = exchange.session?.requests ?? countOther()
        let hits = kind == .preflight ? [] : engine.request(head, kind, ordinal: ordinal, moment)
        exchange.fate = RequestFate(hits)
        refuse(exchange, at: now)
        if let carrier = exchange.carrier, let awaited = carrier.awaited, exchange.refusal == nil {
            if kind == .poll {
                exchange.awaited = awaited
                carrier.awaited = nil
            } else if kind == .end {
                // The client has left before.
                if let end = awaited.end { record(end.hit, carrier.session, cut: true, at: now) }
                carrier.awaited = nil
            }
        }
        return exchange
    }

    /// A client that follows a redirect of ours goes on in its circle.
    private func redirects(_ head: RequestHead) -> (answer: HTTPAnswer?, by: String)? {
        guard RedirectLoop.follows(head) else { return nil }
        let rule = plan.rules.first { $0.actions.contains { $0.verdict == .redirectLoop } }
        return rule.map { (RedirectLoop.answer(head), $0.name) }
    }

    func find(_ exchange: LiveExchange, _ entry: CodecEntry, on c: UInt32, at now: WireInstant) {
        let key = entry.type.sessionKey(exchange.opening)
        if let key, let carrier = directory.carrier(named: key) {
            exchange.session = carrier.session
            exchange.carrier = carrier
            return
        }
        if let key, let session = directory.owner(of: key) {
            exchange.session = session
            return
        }
        let route = entry.type.route(exchange.head)
        let identity = directory.identity(exchange.head, c)
        if let known = waiting(route, identity, at: now) { return exchange.session = known }
        let session = directory.begin(route, identity, changes)
        countEarlyFailures(session, from: directory.host(of: c))
        exchange.session = session
    }

    /// The client's oldest session that has no connection, else one whose connection went silent by a rule: by asking anew
    /// the client shows that it has given that up.
    private func waiting(_ route: String, _ identity: String, at now: WireInstant) -> LiveSession? {
        let mine = directory.sessions(of: identity, on: route)
        if let known = mine.first(where: { !$0.isConnected }) { return known }
        guard let silent = mine.first(where: { $0.carrier?.silentUntil.map { $0 > now } ?? false }),
            let carrier = silent.carrier
        else { return nil }
        end(carrier, by: .client, how: .givenUp, at: now)
        return silent
    }

    /// The client asks for a connection while another one of its own on that route is open.
    private func noteOverlap(_ exchange: LiveExchange, _ entry: CodecEntry, at now: WireInstant) {
        guard exchange.kind == .upgrade || exchange.kind == .stream || exchange.kind == .poll else { return }
        let route = entry.type.route(exchange.head)
        let identity = directory.identity(exchange.head, exchange.connection)
        let mine = directory.sessions(of: identity, on: route)
        let rival = mine.first { session in
            guard let carrier = session.carrier, carrier.silentUntil.map({ $0 <= now }) ?? true,
                carrier.entry?.type.kind(carrier.opening.request) != .operation
            else { return false }
            return exchange.kind != .poll || carrier !== exchange.carrier
        }
        rival?.overlapped(by: exchange.kind.rawValue, at: now, origin: origin)
    }

    /// An event stream of no known protocol begins while another one of the client on that route is open. Only its answer
    /// shows that it is one.
    private func noteStreamOverlap(_ exchange: LiveExchange, _ entry: CodecEntry, at now: WireInstant) {
        guard exchange.kind == .operation, entry.type.isToldByAnswer, exchange.head.method == "GET" else { return }
        let identity = directory.identity(exchange.head, exchange.connection)
        let rival = directory.sessions(of: identity, on: entry.type.route(exchange.head)).first { session in
            guard session !== exchange.session, let carrier = session.carrier,
                carrier.silentUntil.map({ $0 <= now }) ?? true
            else { return false }
            return carrier.entry?.type.isToldByAnswer == true && carrier.opening.request.method == "GET"
        }
        rival?.overlapped(by: ExchangeKind.stream.rawValue, at: now, origin: origin)
    }

    /// What has been taken from the session by a rule.
    private func refuse(_ exchange: LiveExchange, at now: WireInstant) {
        if let outage, outage.until > now {
            exchange.refusal = (outage.answer.map { HTTPAnswer(status: $0) }, outage.rule)
            return
        }
        guard let entry = exchange.entry else { return }
        if let key = entry.type.sessionKey(exchange.opening), let rule = directory.forgotten(key) {
            exchange.refusal = (entry.type.answer(.unknownID, to: exchange.head), rule)
        } else if let session = exchange.session, session.downgraded.contains(exchange.transport), opens(exchange) {
            exchange.refusal = (entry.type.answer(.notOffered, to: exchange.head), "downgrade")
        }
    }

    /// Whether it asks for a connection: one that is open goes on without its transport.
    private func opens(_ exchange: LiveExchange) -> Bool {
        switch exchange.kind {
        case .upgrade, .stream: true
        case .poll: exchange.carrier.map { $0.isOver || $0.transport != .lp } ?? true
        case .negotiate, .send, .operation, .end, .refresh, .preflight, .other: false
        }
    }

    /// The head of the answer. For what carries messages the session has a connection from here on.
    package func answered(
        _ exchange: LiveExchange, _ head: ResponseHead, by: Attempt.End.Party? = nil, at now: WireInstant
    ) {
        exchange.opening.response = head
        let isGood = head.status < 300 && head.status != 204
        if isGood, by == nil { tell(exchange) }
        step(exchange, status: head.status, failed: head.status >= 400 ? by ?? .server : nil, at: now)
        if let by { return answeredPoll(exchange, head.status, by: by, at: now) }
        guard let entry = exchange.entry, head.status == 101 || isGood else { return }
        switch exchange.kind {
        case .upgrade where head.status == 101: carry(exchange, entry, .ws, at: now)
        case .poll: carry(exchange, entry, exchange.transport, at: now)
        case .operation:
            exchange.framing = entry.type.framing(exchange.opening)
            if entry.type.isToldByAnswer, let framing = exchange.framing {
                carry(exchange, entry, framing.carrier, at: now)
            }
        case .stream:
            exchange.framing = entry.type.framing(exchange.opening)
            if exchange.framing != nil { carry(exchange, entry, exchange.transport, at: now) }
        case .negotiate, .upgrade, .send, .end, .refresh, .preflight, .other: break
        }
    }

    /// The whole answer to a negotiation, or to a request that renews the credential.
    /// - Returns: the answer without the transports that have stopped working for the session, and with the lifetime that a rule sets.
    package func negotiated(_ exchange: LiveExchange, body: [UInt8], at now: WireInstant) -> [UInt8] {
        exchange.opening.responseBody = body
        guard let entry = exchange.entry, let session = exchange.session else { return body }
        var body = body
        if let lifetime = session.lifetime { body = entry.type.replacingLifetime(in: body, with: lifetime) ?? body }
        if let seconds = entry.type.credentialLifetime(in: body) {
            if exchange.kind == .refresh { session.credentials.recordRenewal(at: elapsed(exchange.began)) }
            session.credentials.recordIssued(lifetime: seconds, at: elapsed(now))
        }
        guard exchange.kind == .negotiate else { return body }
        if let key = entry.type.sessionKey(exchange.opening) {
            directory.own(key, session)
            session.token = key
        }
        session.isRedirected = entry.type.redirection(exchange.opening) != nil
        guard !session.downgraded.isEmpty else { return body }
        return entry.type.negotiation(body, without: session.downgraded) ?? body
    }

    /// The request came to nothing that has a status.
    package func failed(
        _ exchange: LiveExchange, by: Attempt.End.Party, how: Attempt.End.Manner, at now: WireInstant
    ) {
        step(exchange, status: nil, failed: by, how: how, at: now)
    }

    private func step(
        _ exchange: LiveExchange, status: Int?, failed: Attempt.End.Party?, how: Attempt.End.Manner? = nil,
        at now: WireInstant
    ) {
        guard let session = exchange.session, !exchange.hasStep else { return }
        exchange.hasStep = true
        if isLate(exchange, session) { return }
        let transport: Transport? =
            switch exchange.kind {
            case .upgrade, .poll, .stream: exchange.transport
            case .negotiate, .send, .operation, .end, .refresh, .preflight, .other: nil
            }
        let answer = HTTPAnswer(status: status ?? 0, headers: exchange.opening.response?.headers ?? [])
        var step = Attempt.Step(
            request: exchange.kind.rawValue, answer, transport: transport, time: elapsed(exchange.began))
        if status == nil { step.status = nil }
        session.addStep(step, failed: failed, how: how ?? (status == nil ? .cut : nil), at: now)
    }

    /// Whether it is a send or a farewell of a connection before the one that the client has negotiated last: it was on its way before, and
    /// says nothing of the attempt that goes on.
    func isLate(_ exchange: LiveExchange, _ session: LiveSession) -> Bool {
        guard !exchange.kind.beginsAttempts, let token = session.token,
            let key = exchange.entry?.type.sessionKey(exchange.opening)
        else { return false }
        return key != token
    }

    /// The session has a connection.
    func carry(_ exchange: LiveExchange, _ entry: CodecEntry, _ transport: Transport, at now: WireInstant) {
        guard let session = exchange.session else { return }
        let key = entry.type.sessionKey(exchange.opening)
        if let old = exchange.carrier, old.transport == transport, transport == .lp {
            old.connection = exchange.connection
            carries(exchange.connection, session)
            old.isCarried(by: exchange.opening)
            return
        }
        noteStreamOverlap(exchange, entry, at: now)
        if exchange.kind == .operation { session.speech.hasNoOpening() }
        carries(exchange.connection, session)
        let carrier = LiveCarrier(
            session, transport, exchange.opening, key: key, on: exchange.connection, at: now)
        // A connection that goes on with an earlier one goes on with what its codec knows.
        if let old = exchange.carrier, let codec = old.codec, codec.memory != nil {
            carrier.take(codec, of: old.entry)
        } else if key != nil || entry.type.claim(exchange.opening) >= .likely {
            adopt(entry, carrier)
        }
        if let key { directory.name(key, carrier) }
        // What the protocol keeps goes on; the first connection follows none.
        if exchange.carrier?.codec?.memory != nil {
            session.speech.resumed()
        } else if exchange.carrier != nil, entry.type.hasTrackingIDs {
            session.speech.wentOn()
        } else if session.connections > 0, exchange.kind != .operation || session.speech.hasLost {
            // Operations over HTTP have a connection each: the next one is no return.
            session.speech.returned()
        }
        exchange.carrier = carrier
        session.carrier = carrier
        session.lost = nil
        begin(.connect, of: carrier, at: now)
        session.connections += 1
        if !session.transports.contains(transport) { session.transports.append(transport) }
    }

    func adopt(_ entry: CodecEntry, _ carrier: LiveCarrier) {
        carrier.take(entry.type.init(carrier.opening), of: entry)
        carrier.session.protocolID = entry.id
    }
}
