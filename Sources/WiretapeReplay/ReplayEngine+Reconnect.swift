internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
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
    func reconnection(of r: Int) -> Reconnection {
        if mayReturn(to: r) {
            // Nothing is left that another session could be taken instead of.
            return options.onReconnect == .refuse && !runs[r].cursor.endedByScript ? .refused : .goesOn
        }
        guard runs[r].wasInterrupted else { return .goesOn }
        switch options.onReconnect {
        case .resume, .lose, .rewind, .live, .restart: return .goesOn
        case .next: return .elsewhere
        case .refuse: return .refused
        }
    }

    /// The client of `r` asks for a connection although it has had that session: gives it up where it went silent.
    mutating func comesBack(
        to r: Int, _ c: ConnectionID, _ head: RequestHead, _ codec: CodecEntry, into out: inout [ReplayAction]
    ) -> Reconnection {
        forsake(r)
        let what = reconnection(of: r)
        switch what {
        case .goesOn:
            if runs[r].generation > 0 || runs[r].attempts.last?.outcome != nil { runs[r].client.assigned = .identity }
            claims.asked(r, on: c)
        case .elsewhere: runs[r].standing.isLeft = true
        case .refused: refuseReconnect(r, c, head, codec, into: &out)
        }
        return what
    }

    /// Whether a rule has made the session's connection go silent: its client can only show by coming back that it has
    /// given it up.
    func isSilent(_ r: Int) -> Bool {
        guard let link = runs[r].link, link.faults.isSilent else { return false }
        return !runs[r].isOver || runs[r].isComplete && !link.underWay.steps.isEmpty
    }

    // MARK: Behind the last message

    /// The client's session that has been played to its end, when that is the one that it lost last.
    func returning(_ known: [Int]) -> Int? {
        let played = known.filter {
            runs[$0].generation > 0 && runs[$0].isComplete && !runs[$0].session.isOperation
        }
        let last = played.max { (runs[$0].lastEnd ?? .zero) < (runs[$1].lastEnd ?? .zero) }
        return last.flatMap { mayReturn(to: $0) ? $0 : nil }
    }

    /// Whether a client may come back to a session of which nothing is left: it did not leave in order, or it has given up a
    /// connection that a rule made silent. It is let in, and hears what a server says to those who listen only.
    func mayReturn(to r: Int) -> Bool {
        // Nobody but the client ends connections there: it begins another session, which the tape lacks.
        if options.routing.onMiss == .record { return false }
        let run = runs[r]
        guard run.generation > 0, run.isComplete, run.standing.failure == nil, !run.standing.isStalled,
            !run.standing.isLeft
        else { return false }
        if let link = run.link { return link.faults.isSilent }
        switch run.standing.departure {
        case .inOrder: return false
        // Where sessions are played again, whoever closes its connection is through with its own.
        case .closed: return options.whenExhausted == .refuse
        case .lost: return !run.session.isOperation || run.lostItsAnswer
        }
    }

    /// The connection stays as silent as it is until the client ends it.
    private mutating func forsake(_ r: Int) {
        guard runs[r].isConnected, isSilent(r) || mayReturn(to: r) else { return }
        recordCut(of: r)
        if let c = runs[r].link?.connection {
            peers[c]?.isOver = true
            peers[c]?.isAbandoned = true
        }
        leave(r, by: .client, how: .givenUp, .resumable)
    }

    /// The interrupted session of a client with another credential from the same address and agent: tokens are renewed.
    func renewed(_ head: RequestHead, _ c: ConnectionID, name: String?, _ routes: [Int]) -> Int? {
        guard name == nil, head.credential != nil else { return nil }
        let place = addressAndAgent(head, c)
        return claims.all.indices.first { r in
            let isLost = isSilent(r) || !runs[r].isConnected && isInterrupted(r) || mayReturn(to: r)
            return routes.contains(claims.all[r].route) && isLost && runs[r].standing.failure == nil
                && runs[r].client.identities.contains { names.place(of: $0) == place }
        }
    }

    /// Whether the protocol's own means may take the session up again where it was.
    func keepsSession(_ r: Int) -> Bool {
        switch options.onReconnect {
        case .resume, .lose, .rewind, .live: true
        case .restart, .next, .refuse: runs[r].cursor.endedByScript
        }
    }

    /// The policy does not give the session back to a client that asks for it: 404.
    mutating func refuseReconnect(
        _ r: Int, _ c: ConnectionID, _ head: RequestHead, _ codec: CodecEntry, into out: inout [ReplayAction]
    ) {
        runs[r].standing.isLeft = true
        let opensAttempt = runs[r].beginAttempt(at: now, origin: start)
        let kind = codec.type.kind(head)
        if let hit = judge(head, kind, opensAttempt: opensAttempt, of: r), hit.place != .after {
            return carryOut(hit, on: c, head, kind, of: r, into: &out)
        }
        runs[r].addStep(.init(request: kind.rawValue, status: 404, time: elapsed), failed: .replay, at: now)
        let policy = options.onReconnect == .refuse ? "refuse" : "next"
        let text = "session \(runs[r].session.number) of \(tapeName) is not resumed (--on-reconnect \(policy))"
        refuse(c, head, 404, text, into: &out)
    }
}
