package import WiretapeAttempts
package import WiretapeBytes
package import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol
package import WiretapeWire

extension LiveFaults {
    /// One side ends a WebSocket or event stream: asks the rules of the point `close`.
    /// - Parameters:
    ///   - by: whose bytes end: `toClient` when the server does.
    ///   - code: of its close frame; nil when there is none.
    package func closing(
        by: Direction, code: UInt16?, of exchange: LiveExchange, at now: WireInstant
    ) -> [FaultHit] {
        guard let carrier = exchange.carrier, !carrier.isOver, !reach.isEmpty else { return [] }
        return engine.close(by: by, code: code, moment(of: carrier.session, carrier, at: now))
    }

    /// The session's connection is over.
    package func ended(
        _ exchange: LiveExchange, by: Attempt.End.Party, how: Attempt.End.Manner, at now: WireInstant
    ) {
        guard let carrier = exchange.carrier, exchange.kind != .send || carrier.connection == exchange.connection else {
            // A send that comes to nothing leaves the stream or the poll of its session as it is.
            return failed(exchange, by: by, how: how, at: now)
        }
        end(carrier, by: by, how: how, at: now)
    }

    /// The client sent a close frame or FIN while a rule stalls its connection.
    package func leftSilently(_ exchange: LiveExchange, with how: Attempt.End.Manner, at now: WireInstant) {
        guard let carrier = exchange.carrier, carrier === carrier.session.carrier, carrier.silentUntil != nil else {
            return
        }
        carrier.session.clientLeft(with: how, at: now)
    }

    func end(_ carrier: LiveCarrier, by: Attempt.End.Party, how: Attempt.End.Manner, at now: WireInstant) {
        guard !carrier.isOver else { return }
        carrier.isOver = true
        let session = carrier.session
        if carrier.readyAt == nil, carrier.entry == nil || carrier.entry?.type.preamble.isEmpty == true {
            session.connected(at: now)
        }
        if session.carrier === carrier {
            session.carrier = nil
            session.lost = carrier
            session.speech.lost()
            session.ended(by: by, how: how, at: now, origin: origin)
        }
        if let key = carrier.key, carrier.codec?.memory == nil { directory.unname(key, carrier) }
    }

    /// A poll, an operation or a farewell was answered: what it says about the session's end.
    package func settled(_ exchange: LiveExchange, at now: WireInstant) {
        guard let carrier = exchange.carrier, let status = exchange.opening.response?.status else { return }
        guard carrier.transport == .lp || exchange.kind == .operation else { return }
        switch exchange.kind {
        case .operation: end(carrier, by: .server, how: .close(1000), at: now)
        case .end where status < 300: end(carrier, by: .client, how: .close(1000), at: now)
        case .poll: answeredPoll(exchange, status, by: .server, at: now)
        case .negotiate, .upgrade, .send, .stream, .end, .refresh, .preflight, .other: break
        }
    }

    /// A poll of an open connection got a response from the server or a rule. A status of 204, or from 300 on, ends the connection.
    func answeredPoll(_ exchange: LiveExchange, _ status: Int, by: Attempt.End.Party, at now: WireInstant) {
        guard exchange.kind == .poll, let carrier = exchange.carrier, carrier.transport == .lp else { return }
        switch status {
        case 204: end(carrier, by: by, how: by == .server ? .close(1000) : .status(204), at: now)
        case 300...: end(carrier, by: by, how: .status(status), at: now)
        default: break
        }
    }

    /// A request got a response that is not HTTP. A poll ends its connection; any other request fails.
    package func malformed(_ exchange: LiveExchange, by: Attempt.End.Party, at now: WireInstant) {
        guard exchange.kind == .poll, let carrier = exchange.carrier else {
            return failed(exchange, by: by, how: .malformed, at: now)
        }
        end(carrier, by: by, how: .malformed, at: now)
    }

    /// What rules want behind the answer to a poll comes with the next one.
    package func await(_ awaited: AwaitedEnd, _ exchange: LiveExchange) { exchange.carrier?.awaited = awaited }

    /// The connection that carries the session's messages to the client, now or with its next poll.
    package func carrier(of exchange: LiveExchange) -> UInt32? { exchange.carrier?.connection }

    /// RST before anything was asked. Whose attempt it was can only be told by the address.
    package func refused(_ c: UInt32, by rule: String, at now: WireInstant) {
        guard let host = directory.host(of: c), !host.isEmpty else { return }
        guard let lost = lostSession(from: host), lost.beginAttempt(at: now, origin: origin) else { return }
        lost.addStep(Attempt.Step(request: "connect", time: elapsed(now)), failed: .fault(rule), at: now)
    }

    /// The first session of a client at that address which has lost its connection.
    func lostSession(from host: String) -> LiveSession? {
        directory.sessions.first { session in
            !session.isConnected && session.attempts.last?.ended != nil && session.identity.hasPrefix(host + " ")
        }
    }

    // MARK: Effects on sessions

    /// A rule makes the session's connection go silent.
    package func silence(_ exchange: LiveExchange, for duration: UInt64?, at now: WireInstant) {
        exchange.carrier?.silentUntil = now.advanced(by: duration ?? .max)
        excuse(exchange, for: duration, at: now)
    }

    /// A rule keeps the session's client from being heard, or from what it would answer.
    package func excuse(_ exchange: LiveExchange, for duration: UInt64?, at now: WireInstant) {
        exchange.session?.excused(for: duration, at: now)
    }

    /// These transports have stopped working for the session.
    package func downgrade(_ transports: [Transport], _ exchange: LiveExchange) {
        exchange.session?.downgraded.formUnion(transports)
    }

    /// Sets the lifetime that Wiretape writes into the server's responses to the session's client.
    package func setLifetime(_ seconds: Int, _ exchange: LiveExchange) { exchange.session?.lifetime = seconds }

    /// The server has forgotten the session: what names it is not known any more.
    package func expire(_ exchange: LiveExchange, by rule: String) {
        guard let session = exchange.session else { return }
        let key = exchange.entry?.type.sessionKey(exchange.opening) ?? session.carrier?.key
        directory.forget(session, key, by: rule)
    }

    /// The server is away.
    package func begin(_ outage: Outage, by rule: String, at now: WireInstant) {
        self.outage = (now.advanced(by: outage.duration), outage.answer, rule)
    }

    /// Whether a client that connects now finds nobody: RST on accept.
    package func refusesConnections(at now: WireInstant) -> Bool {
        guard let outage else { return false }
        guard outage.until > now else {
            self.outage = nil
            return false
        }
        return outage.answer == nil
    }
}
