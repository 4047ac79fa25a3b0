/// Compares what two tapes tell.
package enum TapeDiff {
    /// What is compared of a tape.
    package struct Content: Sendable {
        package var sessions: [RecordedSession]
        package var exchanges: [RecordedExchange]

        package init(sessions: [RecordedSession], exchanges: [RecordedExchange]) {
            self.sessions = sessions
            self.exchanges = exchanges
        }
    }

    /// Sessions are paired by their names, then in order among those of one protocol and route; exchanges beside them by
    /// method, path, query and body.
    package static func compare(_ a: Content, _ b: Content, ignore: [IgnoreRule] = []) -> [TapeDifference] {
        var differences: [TapeDifference] = []
        let pairing = pair(a.sessions, b.sessions)
        for (left, right) in pairing.pairs {
            if left.refusal?.status != right.refusal?.status || left.refusalBody.isEmpty != right.refusalBody.isEmpty {
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
        return differences + ExchangeDiff.compare(a.exchanges, b.exchanges)
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
