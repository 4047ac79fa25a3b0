internal import WiretapeAttempts
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

// The patience of the server that replay plays. An end that comes of it is the server's, and no divergence: the client may
// come back as it may after any lost connection.

extension ReplayEngine {
    /// What the server of this session puts up with on a new connection.
    func limits(of session: SessionRun, on transport: Transport) -> ServerLimits {
        guard options.serverLimits != .off else { return ServerLimits() }
        var limits = writer(of: session).limits(on: transport)
        // Where the protocol announces an interval, that is the one in force.
        if limits.pong != nil, case .every(let every) = options.keepalive { limits.silence = every }
        var stretch = 1.0
        if case .factor(let factor) = options.speed { stretch = 1 / factor }
        limits = limits.atLeast(session.recorded.habits.conduct, stretch: stretch)
        if case .numbers(let numbers) = options.serverLimits { numbers.apply(to: &limits) }
        if !session.recorded.codec.type.hasHandshake(on: transport) || session.script.clientHandshake == nil {
            limits.handshake = nil
        }
        // Nobody is hurried while somebody steps.
        if options.speed == .step { (limits.handshake, limits.silence) = (nil, nil) }
        return limits
    }

    /// Begins to watch the client of a new connection.
    mutating func watch(_ session: SessionRun) {
        guard let transport = session.link?.transport else { return }
        let limits = limits(of: session, on: transport)
        let isOpen = session.script.clientHandshake == nil || session.link?.readyAt != nil
        session.link?.watch = ServerWatch(limits, isOpen: isOpen, at: now)
    }

    /// Lets the server's limits see a message of the client as it arrives.
    /// - Returns: false when it went over one: the connection is over.
    mutating func staysWithinLimits(_ message: Message, of session: SessionRun, into out: inout [ReplayAction]) -> Bool
    {
        let wasOpen = session.link?.watch.isOpen ?? true
        guard let limit = session.link?.watch.heard(message, at: now), !isExcused(session) else { return true }
        end(session, over: limit, isOpen: wasOpen, into: &out)
        return false
    }

    /// Ends the connection of a client that the server has waited for long enough.
    /// - Returns: whether it did.
    mutating func endPatience(_ session: SessionRun, into out: inout [ReplayAction]) -> Bool {
        guard let due = session.link?.watch.due, due.at <= now else { return false }
        if isExcused(session) || isEndRecorded(due.limit, of: session) || isAnswering(session) {
            session.link?.watch.excuse(at: now)
            return false
        }
        end(session, over: due.limit, isOpen: session.link?.watch.isOpen ?? true, into: &out)
        return true
    }

    /// A rule keeps the client from being heard, an end is on its way, or the session is only looked at.
    private func isExcused(_ session: SessionRun) -> Bool {
        session.standing.isStalled || session.standing.failure != nil || session.link?.isCut ?? true
            || session.link?.faults.isSilent ?? true
    }

    /// The recorded server ended a connection so: the tape tells when.
    private func isEndRecorded(_ limit: ServerLimits.Limit, of session: SessionRun) -> Bool {
        guard let code = writer(of: session).end(over: limit, isOpen: true).code, code >= 4_000 else { return false }
        return session.script.hasEnding(code: code)
    }

    /// A call of the client is being answered, and its server hears nothing meanwhile. Streams do not keep it from that.
    private func isAnswering(_ session: SessionRun) -> Bool {
        guard session.link?.watch.limits.waitsForAnswers == true else { return false }
        return session.cursor.isAnswering
    }

    /// An answer of the script goes out.
    mutating func answered(_ step: Int, of session: SessionRun) {
        guard session.link?.watch.limits.waitsForAnswers == true, let group = session.script.steps[step].group,
            session.script.isOneAnswer(in: group)
        else { return }
        session.link?.watch.excuse(at: now)
    }

    private mutating func end(
        _ session: SessionRun, over limit: ServerLimits.Limit, isOpen: Bool, into out: inout [ReplayAction]
    ) {
        guard let link = session.link else { return }
        let end = writer(of: session).end(over: limit, isOpen: isOpen)
        let words = link.watch.limits.words(for: limit)
        out.append(
            .log(
                "wiretape: session \(session.recorded.number): the server ended the connection: \(words). "
                    + "--server-limits changes that."))
        if let payload = end.payload { pass(payload.bytes, payload.opcode, to: session, into: &out) }
        let how = end.code.map { ConnectionEnd.close(code: $0, reason: ReplayEngine.closeReason(end.reason)) } ?? .fin
        let isTold = shut(session, how, into: &out)
        session.trail()
        if session.trailing != nil, let connection = link.connection { peers.trails(connection, session) }
        leave(session, by: .server, how: .init(how), reason: words, isTold ? .gone : .over)
    }
}
