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
        guard runs[r].wasInterrupted else { return .goesOn }
        switch options.onReconnect {
        case .resume, .lose, .rewind, .live, .restart: return .goesOn
        case .next: return .elsewhere
        case .refuse: return .refused
        }
    }

    /// Whether the protocol's own means may take the session up again where it was.
    func keepsSession(_ r: Int) -> Bool {
        switch options.onReconnect {
        case .resume, .lose, .rewind, .live: true
        case .restart, .next, .refuse: runs[r].endedByScript
        }
    }

    /// The policy does not give the session back to a client that asks for it: 404.
    mutating func refuseReconnect(
        _ r: Int, _ c: ConnectionID, _ head: RequestHead, _ codec: CodecEntry, into out: inout [ReplayAction]
    ) {
        runs[r].isLeft = true
        let opensAttempt = runs[r].beginAttempt(at: now, origin: origin ?? now)
        let kind = codec.type.kind(head)
        if let hit = judge(head, kind, opensAttempt: opensAttempt, of: r), hit.place != .after {
            return carryOut(hit, on: c, head, kind, of: r, into: &out)
        }
        runs[r].addStep(.init(request: kind.rawValue, status: 404, time: elapsed), failed: "replay", at: now)
        let policy = options.onReconnect == .refuse ? "refuse" : "next"
        let text = "session \(runs[r].session.number) of \(tapeName) is not resumed (--on-reconnect \(policy))"
        refuse(c, head, 404, text, into: &out)
    }
}
