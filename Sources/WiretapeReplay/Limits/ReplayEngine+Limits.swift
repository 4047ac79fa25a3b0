internal import WiretapeAttempts
internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeWire

// The patience of the server that replay plays. An end that comes of it is the server's, and no divergence: the client may
// come back as it may after any lost connection.

extension ReplayEngine {
    /// What the server of this session puts up with on a new connection.
    func limits(of r: Int, on transport: Transport) -> ServerLimits {
        guard options.serverLimits != .off else { return ServerLimits() }
        let run = runs[r]
        var limits = writer(of: r).limits(on: transport)
        // Where the protocol announces an interval, that is the one in force.
        if limits.pong != nil, case .every(let every) = options.keepalive { limits.silence = every }
        var stretch = 1.0
        if case .factor(let factor) = options.speed { stretch = 1 / factor }
        limits = limits.atLeast(run.session.habits.conduct, stretch: stretch)
        if case .numbers(let numbers) = options.serverLimits { numbers.apply(to: &limits) }
        if !run.session.codec.type.hasHandshake(on: transport) || run.script.clientHandshake == nil {
            limits.handshake = nil
        }
        // Nobody is hurried while somebody steps.
        if options.speed == .step { (limits.handshake, limits.silence) = (nil, nil) }
        return limits
    }

    /// Begins to watch the client of a new connection.
    mutating func watch(_ r: Int) {
        guard let transport = runs[r].link?.transport else { return }
        let limits = limits(of: r, on: transport)
        let isOpen = runs[r].script.clientHandshake == nil || runs[r].link?.readyAt != nil
        runs[r].link?.watch = ServerWatch(limits, isOpen: isOpen, at: now)
    }

    /// Lets the server's limits see a message of the client as it arrives.
    /// - Returns: false when it went over one: the connection is over.
    mutating func staysWithinLimits(_ message: Message, of r: Int, into out: inout [ReplayAction]) -> Bool {
        let wasOpen = runs[r].link?.watch.isOpen ?? true
        guard let limit = runs[r].link?.watch.heard(message, at: now), !isExcused(r) else { return true }
        end(r, over: limit, isOpen: wasOpen, into: &out)
        return false
    }

    /// Ends the connection of a client that the server has waited for long enough.
    /// - Returns: whether it did.
    mutating func endPatience(_ r: Int, into out: inout [ReplayAction]) -> Bool {
        guard let due = runs[r].link?.watch.due, due.at <= now else { return false }
        if isExcused(r) || isEndRecorded(due.limit, of: r) || isAnswering(r) {
            runs[r].link?.watch.excuse(at: now)
            return false
        }
        end(r, over: due.limit, isOpen: runs[r].link?.watch.isOpen ?? true, into: &out)
        return true
    }

    /// A rule keeps the client from being heard, an end is on its way, or the session is only looked at.
    private func isExcused(_ r: Int) -> Bool {
        runs[r].standing.isStalled || runs[r].standing.failure != nil || runs[r].link?.isCut ?? true
            || runs[r].link?.faults.isSilent ?? true
    }

    /// The recorded server ended a connection so: the tape tells when.
    private func isEndRecorded(_ limit: ServerLimits.Limit, of r: Int) -> Bool {
        guard let code = writer(of: r).end(over: limit, isOpen: true).code, code >= 4_000 else { return false }
        return runs[r].script.hasEnding(code: code)
    }

    /// A call of the client is being answered, and its server hears nothing meanwhile. Streams do not keep it from that.
    private func isAnswering(_ r: Int) -> Bool {
        guard runs[r].link?.watch.limits.waitsForAnswers == true else { return false }
        return runs[r].cursor.isAnswering
    }

    /// An answer of the script goes out.
    mutating func answered(_ step: Int, of r: Int) {
        guard runs[r].link?.watch.limits.waitsForAnswers == true, let group = runs[r].script.steps[step].group,
            runs[r].cursor.isOneAnswer(in: group)
        else { return }
        runs[r].link?.watch.excuse(at: now)
    }

    private mutating func end(
        _ r: Int, over limit: ServerLimits.Limit, isOpen: Bool, into out: inout [ReplayAction]
    ) {
        guard let link = runs[r].link else { return }
        let end = writer(of: r).end(over: limit, isOpen: isOpen)
        let words = link.watch.limits.words(for: limit)
        out.append(
            .log(
                "wiretape: session \(runs[r].session.number): the server ended the connection: \(words). "
                    + "--server-limits changes that."))
        if let payload = end.payload { pass(payload.bytes, payload.opcode, to: r, into: &out) }
        let how = end.code.map { ConnectionEnd.close(code: $0, reason: ReplayEngine.closeReason(end.reason)) } ?? .fin
        let isTold = shut(r, how, into: &out)
        runs[r].trail()
        if runs[r].trailing != nil, let c = link.connection { peers[c]?.trails = r }
        leave(r, by: .server, how: .init(how), reason: words, isTold ? .gone : .over)
    }
}
