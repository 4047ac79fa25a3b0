internal import WiretapeAttempts

extension ReplayReport {
    /// Sessions by outcome: runs of one recorded session that differ in nothing but clients and times stand together, in
    /// the order of the first of each.
    package var groups: [[Session]] {
        var order: [Outcome] = []
        var members: [Outcome: [Session]] = [:]
        for session in sessions {
            let outcome = Outcome(session)
            if members[outcome] == nil { order.append(outcome) }
            members[outcome, default: []].append(session)
        }
        return order.map { members[$0] ?? [] }
    }

    package func runs(of session: Session) -> Int {
        sessions.count { $0.session == session.session && $0.operation == session.operation }
    }

    /// `session 1, 499 runs (signalr over ws), each 12 client messages matched, finished`, and the attempts without times.
    package func lines(of group: [Session]) -> [String] {
        guard let first = group.first else { return [] }
        let attempts = rows(of: first.attempts, areTimed: false) { attempt in
            let ended = attempt.ended.map { "ended by \($0.text)" } ?? ""
            return ["\(attempt.number)", attempt.outcome?.rawValue ?? "", attempt.stepsText, ended]
        }
        return ["\(first.title), \(group.count) runs (\(first.carried)), each \(first.state)"] + attempts
    }

    /// What a run came to, without its client and its times.
    private struct Outcome: Hashable {
        var session: Session

        init(_ session: Session) {
            self.session = session
            self.session.run = 0
            self.session.client = ""
            for i in session.attempts.indices {
                let attempt = session.attempts[i]
                self.session.attempts[i].start = 0
                self.session.attempts[i].delay = nil
                for step in attempt.steps.indices { self.session.attempts[i].steps[step].time = 0 }
                self.session.attempts[i].ended?.time = 0
            }
        }
    }
}
