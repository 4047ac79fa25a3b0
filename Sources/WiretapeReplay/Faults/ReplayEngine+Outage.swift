internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeRuntime
internal import WiretapeWire

/// The server is away for a while, for everybody.
extension ReplayEngine {
    /// Cuts the sessions' connections. What asks until it is over is refused or answered, over a connection that is kept
    /// alive, too: were it cut beforehand, the client's next attempt might be lost on the way and nobody would know of it.
    mutating func begin(_ outage: Outage, by hit: FaultHit, into out: inout [ReplayAction]) {
        rules.begin(outage, by: hit, at: now)
        guard let end = outage.cut.end else { return }
        let linked = runs.filter(\.isConnected).sorted {
            ($0.recorded.number, $0.run) < ($1.recorded.number, $1.run)
        }
        for session in linked {
            if session.link?.connection == nil {
                // Between two polls: there is nothing to cut, and the next one finds nobody.
                leave(session, by: .fault(hit.name), how: .init(end), .gone)
                continue
            }
            let ending = Link.Ending(verdict: end.effect, hit: hit, isToldAlready: true)
            session.link?.goesOn()
            carryOut(ending, of: session, complete: true, into: &out)
        }
    }

    /// A connection that comes about during an outage.
    /// - Returns: whether it was refused.
    mutating func refuseInOutage(_ connection: ConnectionID, into out: inout [ReplayAction]) -> Bool {
        guard let outage = rules.outage(at: now), outage.answer == nil else { return false }
        noteFault(outage.hit, .end, on: connection, into: &out)
        refuseConnection(connection, by: outage.name, into: &out)
        return true
    }

    /// RST before anything was asked.
    mutating func refuseConnection(_ connection: ConnectionID, by name: String, into out: inout [ReplayAction]) {
        peers.end(connection)
        out.append(.reset(connection))
        // Whose attempt it was can only be told by the address.
        guard let host = peers[connection]?.address?.host, let session = lostSession(from: host) else { return }
        note(.init(request: "connect", time: elapsed), failed: name, of: session)
    }

    /// The session of a client at that address which has lost its connection.
    func lostSession(from host: String) -> SessionRun? {
        let mine = runs.filter { $0.client.identities.contains { $0.hasPrefix(host + " ") } }
        return mine.first { isAwaited($0) && $0.lastEnd != nil } ?? returning(mine)
    }

    /// A request during an outage.
    /// - Returns: whether it was answered.
    mutating func answerInOutage(
        _ connection: ConnectionID, _ head: RequestHead, into out: inout [ReplayAction]
    ) -> Bool {
        guard let outage = rules.outage(at: now) else { return false }
        noteFault(outage.hit, .end, on: connection, into: &out)
        if let session = polled(head, on: connection) {
            leave(
                session, by: .fault(outage.name), how: outage.answer.map { .status($0) } ?? .reset, .resumable)
            return refuse(connection, head, in: outage, into: &out)
        }
        // Of those that the client tries to connect with it.
        let known = (claims.clients[identity(head, connection)]?.sessions ?? []).filter {
            kind(of: head, $0.recorded.codec).beginsAttempts
        }
        let session = known.first(where: isAwaited) ?? returning(known)
        guard let status = outage.answer else {
            if let session { note(.init(request: "connect", time: elapsed), failed: outage.name, of: session) }
            return refuse(connection, head, in: outage, into: &out)
        }
        if let session {
            let kind = kind(of: head, session.recorded.codec)
            note(.init(request: kind.rawValue, status: status, time: elapsed), failed: outage.name, of: session)
            session.awaitUpgrade(false)
        }
        return refuse(connection, head, in: outage, into: &out)
    }

    /// The connected session that the poll belongs to.
    private func polled(_ head: RequestHead, on connection: ConnectionID) -> SessionRun? {
        for codec in library.codecs where kind(of: head, codec) == .poll {
            guard let key = codec.type.sessionKey(StreamOpening(request: head)),
                let session = token(key, on: connection)?.session, let link = session.link, link.token == key,
                link.transport == .lp, link.polls.waiting == nil
            else { continue }
            return session
        }
        return nil
    }

    /// Refuses a request during an outage.
    /// - Returns: whether the request was answered.
    private mutating func refuse(
        _ connection: ConnectionID, _ head: RequestHead, in outage: RunFaults.OutageState,
        into out: inout [ReplayAction]
    ) -> Bool {
        guard let status = outage.answer else {
            peers.end(connection)
            out.append(.reset(connection))
            return true
        }
        let answer = HTTPAnswer(
            status: status, headers: [HeaderField("Content-Type", "text/plain")], body: Array("unavailable\n".utf8))
        out.append(.respond(connection, answer.readable(by: head), thenClose: false))
        return true
    }

    /// Something of the session is left, and its client has no connection.
    private func isAwaited(_ session: SessionRun) -> Bool { !session.isConnected && !session.isOver }

    private mutating func note(_ step: Attempt.Step, failed name: String, of session: SessionRun) {
        settleParked(of: session)
        _ = session.beginAttempt(at: now, origin: start)
        session.addStep(step, failed: .fault(name), at: now)
    }

    // MARK: Connecting

    /// Asks the rules about a new connection.
    mutating func judgeAccept(_ connection: ConnectionID, into out: inout [ReplayAction]) {
        guard !rules.isEmpty else { return }
        let listener = peers[connection]?.name ?? ""
        guard let fate = rules.judgeAccept(listener: listener, sinceRun: clock.sinceOrigin) else { return }
        for hit in fate.hits {
            record(hit, FaultMoment(session: 0, run: 0, attempt: 0), cut: false)
            let ends = hit == (fate.end ?? fate.endAfter)?.hit
            noteFault(hit, ends ? .end : .none, on: connection, into: &out)
        }
        if fate.delay > 0 { out.append(.hold(connection, for: fate.delay)) }
        for effect in fate.effectsBefore + fate.effectsAfter { apply(effect, on: connection, into: &out) }
        guard let end = fate.end ?? fate.endAfter else { return }
        carryOut(end.verdict, .accept(end.hit), on: connection, of: nil, into: &out)
    }
}
