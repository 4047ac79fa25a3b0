package import WiretapeProtocol
internal import WiretapeWire

/// Compares what two tapes tell.
package enum TapeDiff {
    /// What is compared of a tape.
    package struct Content: Sendable {
        package var sessions: [RecordedSession]
        package var exchanges: [RecordedExchange]
        /// What it tells as the tape of a run.
        package var run: PlayedRun

        package init(sessions: [RecordedSession], exchanges: [RecordedExchange], run: PlayedRun = PlayedRun()) {
            self.sessions = sessions
            self.exchanges = exchanges
            self.run = run
        }
    }

    /// Sessions are paired by their names, then in order among those of one protocol and route; exchanges beside them by
    /// method, path, query and body. Of a tape and that of a run of it, what rules did is no difference.
    package static func compare(_ a: Content, _ b: Content, ignore: [IgnoreRule] = []) -> [TapeDifference] {
        if b.run.isOne, !a.run.isOne { return compare(a, played: b, ignore) }
        if a.run.isOne, !b.run.isOne { return compare(b, played: a, ignore).map(\.reversed) }
        return compare(a.sessions, b.sessions, ignore)
            + ExchangeDiff.compare(a.exchanges, b.exchanges, PlayedRun())
    }

    /// Sessions are paired as the run's tape has it; what it does not tell of, as ever.
    private static func compare(_ tape: Content, played run: Content, _ ignore: [IgnoreRule]) -> [TapeDifference] {
        var parts: [PlayedRun.Played: [RecordedSession]] = [:]
        var order: [PlayedRun.Played] = []
        var others: [RecordedSession] = []
        for session in run.sessions {
            guard let played = run.run.played(session), session.refusal == nil,
                tape.sessions.contains(where: { $0.number == played.session && $0.codec.id == session.codec.id })
            else {
                others.append(session)
                continue
            }
            if parts[played] == nil { order.append(played) }
            parts[played, default: []].append(session)
        }
        var differences: [TapeDifference] = []
        var rest: [RecordedSession] = []
        for session in tape.sessions {
            let runs = order.filter { $0.session == session.number }
            if runs.isEmpty { rest.append(session) }
            for one in runs {
                differences += SessionDiff.compare(session, played: parts[one] ?? [], run.run, ignore: ignore)
            }
        }
        return differences + compare(rest, others, ignore)
            + ExchangeDiff.compare(tape.exchanges, run.exchanges, run.run)
    }

    private static func compare(
        _ a: [RecordedSession], _ b: [RecordedSession], _ ignore: [IgnoreRule]
    ) -> [TapeDifference] {
        var differences: [TapeDifference] = []
        let pairing = pair(a, b)
        for (left, right) in pairing.pairs {
            if left.refusal?.status != right.refusal?.status
                || left.refusal?.body.isEmpty != right.refusal?.body.isEmpty
            {
                differences.append(
                    TapeDifference(
                        kind: .changed, what: "answer to its opening", place: name(left), first: side(left),
                        second: side(right)))
            }
            differences += SessionDiff.compare(left, right, ignore: ignore)
        }
        for session in pairing.first {
            differences.append(
                TapeDifference(kind: .missing, what: "session", place: name(session), first: side(session)))
        }
        for session in pairing.second {
            differences.append(
                TapeDifference(kind: .added, what: "session", place: name(session), second: side(session)))
        }
        return differences
    }

    private static func pair(_ a: [RecordedSession], _ b: [RecordedSession]) -> (
        pairs: [(RecordedSession, RecordedSession)], first: [RecordedSession], second: [RecordedSession]
    ) {
        var rest = b
        var partners: [Int: RecordedSession] = [:]
        func take(_ session: RecordedSession, _ fits: (RecordedSession) -> Bool) {
            guard partners[session.number] == nil, let at = rest.firstIndex(where: fits) else { return }
            partners[session.number] = rest.remove(at: at)
        }
        for session in a where session.name != nil { take(session) { $0.name == session.name } }
        for session in a {
            take(session) { other in
                other.codec.id == session.codec.id && other.route == session.route
                    && (other.refusal == nil) == (session.refusal == nil)
                    && (other.name == nil || session.name == nil)
            }
        }
        let pairs = a.compactMap { session in partners[session.number].map { (session, $0) } }
        return (pairs, a.filter { partners[$0.number] == nil }, rest)
    }

    private static func name(_ session: RecordedSession) -> String {
        "session \(session.name ?? "\(session.number)") (\(session.route))"
    }

    private static func side(_ session: RecordedSession) -> TapeDifference.Side {
        let messages = session.entries.count
        let what =
            session.refusal.map { "answered with \($0.status)" }
            ?? "\(messages) \(messages == 1 ? "message" : "messages") of \(session.codec.id)"
        return TapeDifference.Side(session: session.number, line: session.entries.first?.line ?? 0, text: what)
    }
}
