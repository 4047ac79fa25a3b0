internal import WiretapeAttempts
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

/// How much of a run somebody who follows it was told.
struct ToldNews: Sendable {
    private var firings = 0
    private var divergences = 0
    private var sessions: [SessionID: ToldSession] = [:]

    /// How much of a claimed session somebody was told.
    private struct ToldSession: Sendable {
        /// How many attempts had begun, were connected, had ended.
        var begun = 0
        var connected = 0
        var ended = 0
        var isFinished = false
    }

    /// What has happened since the last call, in order as far as that is known: divergences and faults stand before the ends that
    /// they made.
    /// - Parameters:
    ///   - changed: the sessions that something has happened to.
    ///   - firings: all of the run, and so are the divergences.
    mutating func take(
        _ changed: [SessionRun], firings: [ReplayReport.Firing], divergences: [String], elapsed: UInt64
    ) -> [RunNews] {
        var out: [RunNews] = []
        var ends: [RunNews] = []
        for session in changed {
            Self.tell(
                session, &sessions[session.id, default: ToldSession()], elapsed: elapsed, into: &out, ends: &ends)
        }
        for firing in firings[self.firings...] {
            out.append(
                RunNews(
                    time: firing.time, session: firing.session, run: firing.run,
                    what: .fault(
                        attempt: firing.attempt, rule: firing.rule, action: firing.action, counted: firing.counted)))
        }
        self.firings = firings.count
        for text in divergences[self.divergences...] {
            out.append(RunNews(time: elapsed, session: 0, run: 0, what: .divergence(text)))
        }
        self.divergences = divergences.count
        return out + ends
    }

    private static func tell(
        _ session: SessionRun, _ told: inout ToldSession, elapsed: UInt64, into out: inout [RunNews],
        ends: inout [RunNews]
    ) {
        func news(_ time: UInt64, _ what: RunNews.What) -> RunNews {
            RunNews(time: time, session: session.recorded.number, run: session.run, what: what)
        }
        let attempts = session.attempts
        for i in min(told.begun, told.connected, told.ended)..<attempts.count {
            let attempt = attempts[i]
            if i >= told.begun {
                out.append(
                    news(attempt.start, .attempt(number: attempt.number, retry: attempt.retry, delay: attempt.delay)))
                told.begun = i + 1
            }
            if i >= told.connected, attempt.outcome != nil {
                if attempt.outcome == .connected {
                    out.append(news(elapsed, .connected(attempt: attempt.number, attempt.steps.last?.transport)))
                }
                told.connected = i + 1
            }
            if i >= told.ended, let end = attempt.ended {
                // The next attempt comes after the end of this one.
                let one = news(end.time, .disconnected(attempt: attempt.number, attempt.outcome, end))
                if i + 1 < attempts.count { out.append(one) } else { ends.append(one) }
                told.ended = i + 1
            }
        }
        if !told.isFinished, session.isFinished {
            told.isFinished = true
            ends.append(news(elapsed, .finished))
        }
    }
}
