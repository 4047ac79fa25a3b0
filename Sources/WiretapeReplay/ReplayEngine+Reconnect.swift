internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

extension ReplayEngine {
    /// What a client that is back gets.
    enum Reconnection: Hashable, Sendable {
        /// Its session, which goes on or begins again.
        case goesOn
        /// The next recorded session.
        case elsewhere
        /// Nothing: `--on-reconnect refuse`.
        case refused
    }

    /// What `--on-reconnect` has for a session whose client is back.
    func reconnection(of session: SessionRun) -> Reconnection {
        if mayReturn(to: session) {
            // Nothing is left that another session could be taken instead of.
            return options.onReconnect == .refuse && !session.cursor.endedByScript ? .refused : .goesOn
        }
        guard session.wasInterrupted else { return .goesOn }
        switch options.onReconnect {
        case .resume, .lose, .rewind, .live, .restart: return .goesOn
        case .next: return .elsewhere
        case .refuse: return .refused
        }
    }

    /// The session's client asks for a connection although it has had that session: gives it up where it went silent.
    mutating func comesBack(
        to session: SessionRun, _ connection: ConnectionID, _ head: RequestHead, _ codec: CodecEntry,
        into out: inout [ReplayAction]
    ) -> Reconnection {
        forsake(session, into: &out)
        let what = reconnection(of: session)
        switch what {
        case .goesOn:
            if session.generation > 0 || session.attempts.last?.outcome != nil { session.assign(by: .identity) }
            claims.asked(session, on: connection)
        case .elsewhere: session.abandon()
        case .refused: refuseReconnect(session, connection, head, codec, into: &out)
        }
        return what
    }

    /// Whether a rule has made the session's connection go silent, or the client's FIN has come on it while something was due: its client can
    /// only show by coming back that it has given it up.
    func isSilent(_ session: SessionRun) -> Bool {
        guard let link = session.link, link.faults.isSilent || link.halfClosedAt != nil else { return false }
        return !session.isOver || session.isComplete && !link.underWay.steps.isEmpty
    }

    /// Whether a rule holds back the response that opens the session's connection. The client may give up and reconnect.
    func isUnanswered(_ session: SessionRun) -> Bool {
        session.isConnected && rules.holdsResponse(for: session, at: now)
    }

    // MARK: Behind the last message

    /// The client's session that has been played to its end, when that is the one that it lost last.
    func returning(_ known: [SessionRun]) -> SessionRun? {
        let played = known.filter {
            $0.generation > 0 && $0.isComplete && !$0.recorded.isOperation
        }
        let last = played.max { ($0.lastEnd ?? .zero) < ($1.lastEnd ?? .zero) }
        return last.flatMap { mayReturn(to: $0) ? $0 : nil }
    }

    /// Whether a client may come back to a session of which nothing is left: it did not leave in order, or it has given up a
    /// connection that a rule made silent. It is let in, and hears what a server says to those who listen only.
    func mayReturn(to session: SessionRun) -> Bool {
        // Nobody but the client ends connections there: it begins another session, which the tape lacks.
        if options.routing.onMiss == .record { return false }
        guard session.generation > 0, session.isComplete, session.standing.failure == nil, !session.standing.isStalled,
            !session.standing.isLeft
        else { return false }
        if let link = session.link { return link.faults.isSilent || link.halfClosedAt != nil }
        switch session.standing.departure {
        case .inOrder: return false
        // Where sessions are played again, whoever closes its connection is through with its own.
        case .closed: return options.whenExhausted == .refuse
        case .lost: return !session.recorded.isOperation || session.lostItsAnswer
        }
    }

    /// Detaches the session from its stalled connection, which stays open until the client ends it. A half-closed connection ends now.
    mutating func forsake(_ session: SessionRun, into out: inout [ReplayAction]) {
        if session.link?.halfClosedAt != nil { return giveUpHalfClosed(session, into: &out) }
        guard session.isConnected, isSilent(session) || isUnanswered(session) || mayReturn(to: session) else { return }
        recordCut(of: session)
        if let connection = session.link?.connection {
            peers.abandon(connection)
        }
        leave(session, by: .client, how: .givenUp, .resumable)
    }

    /// The interrupted session of a client with another credential from the same address and agent: tokens are renewed.
    func renewed(_ head: RequestHead, _ connection: ConnectionID, name: String?, _ routes: [Int]) -> SessionRun? {
        guard name == nil, head.credential != nil else { return nil }
        let place = addressAndAgent(head, connection)
        return runs.first { session in
            let isLost =
                isSilent(session) || isUnanswered(session) || !session.isConnected && isInterrupted(session)
                || mayReturn(to: session)
            return routes.contains(claims[session].route) && isLost && session.standing.failure == nil
                && session.client.identities.contains { names.place(of: $0) == place }
        }
    }

    /// Whether the protocol's own means may take the session up again where it was.
    func keepsSession(_ session: SessionRun) -> Bool {
        switch options.onReconnect {
        case .resume, .lose, .rewind, .live: true
        case .restart, .next, .refuse: session.cursor.endedByScript
        }
    }

    /// The policy does not give the session back to a client that asks for it: 404.
    mutating func refuseReconnect(
        _ session: SessionRun, _ connection: ConnectionID, _ head: RequestHead, _ codec: CodecEntry,
        into out: inout [ReplayAction]
    ) {
        session.abandon()
        let opensAttempt = session.beginAttempt(at: now, origin: start)
        let kind = codec.type.kind(head)
        if let hit = judge(head, kind, opensAttempt: opensAttempt, of: session), hit.place != .after {
            return carryOut(hit, on: connection, head, kind, of: session, into: &out)
        }
        session.addStep(.init(request: kind.rawValue, status: 404, time: elapsed), failed: .replay, at: now)
        let policy = options.onReconnect == .refuse ? "refuse" : "next"
        let text = "session \(session.recorded.number) of \(tapeName) is not resumed (--on-reconnect \(policy))"
        refuse(connection, head, 404, text, into: &out)
    }

    // MARK: Recorded reconnects

    /// The session that the same client lost before it asked for `session`, where the tape has the reconnect. Both sessions have one
    /// route and belong to one run of the tape, the second starts after the first on the tape, and the client did not end the first.
    /// Of several, the one that was lost first.
    func predecessor(of session: SessionRun, _ identity: String) -> SessionRun? {
        guard session.recorded.isReconnected else { return nil }
        var before = (claims.clients[identity]?.sessions ?? []).filter { mayFollow(session, $0) }
        if before.isEmpty, options.clients == 1, let place = names.place(of: identity) {
            // The client may have renewed its credential.
            before = runs.filter { earlier in
                mayFollow(session, earlier) && earlier.client.identities.contains { names.place(of: $0) == place }
            }
        }
        return before.min { ($0.lastEnd ?? now) < ($1.lastEnd ?? now) }
    }

    private func mayFollow(_ session: SessionRun, _ earlier: SessionRun) -> Bool {
        guard !earlier.isConnected, !earlier.isFollowed, earlier !== session, let end = earlier.attempts.last?.ended,
            end.by != .client, earlier.recorded.isReconnected
        else { return false }
        let (mine, before) = (claims[session], claims[earlier])
        return mine.tapeRun == before.tapeRun && mine.recorded != before.recorded
            && library.table.routes[mine.route].path == library.table.routes[before.route].path
            && earlier.script.precedes(session.script)
    }
}

extension Script {
    /// Whether its last message precedes the other script's first message on the tape. The times of openings do not count: tapes written
    /// by hand lack them.
    fileprivate func precedes(_ other: Script) -> Bool {
        guard let last = steps.last else { return false }
        guard let first = other.steps.first else { return last.time <= other.opened }
        return last.time < first.time || last.time == first.time && last.line < first.line
    }
}
