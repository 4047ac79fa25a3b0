internal import WiretapeAttempts
internal import WiretapeProtocol
package import WiretapeReport
internal import WiretapeWire

/// How much of a run somebody was told.
struct ToldNews: Sendable {
    var firings = 0
    var divergences = 0
    var sessions: [SessionID: ToldSession] = [:]
}

/// How much of a claimed session somebody was told.
struct ToldSession: Sendable {
    /// How many attempts had begun, were connected, had ended.
    var begun = 0
    var connected = 0
    var ended = 0
    var isFinished = false
}

extension ReplayEngine {
    /// From now on ``takeNews()`` has something to tell.
    package mutating func follow() {
        told = ToldNews()
        runs.follow()
    }

    /// What has happened since the last call, in order as far as that is known: divergences and faults stand before the ends that
    /// they made.
    package mutating func takeNews() -> [RunNews] {
        guard var told else { return [] }
        var out: [RunNews] = []
        var ends: [RunNews] = []
        for session in runs.takeUntold() {
            tell(session, &told.sessions[session.id, default: ToldSession()], into: &out, ends: &ends)
        }
        for firing in rules.firings[told.firings...] {
            out.append(
                RunNews(
                    time: firing.time, session: firing.session, run: firing.run,
                    what: .fault(
                        attempt: firing.attempt, rule: firing.rule, action: firing.action, counted: firing.counted)))
        }
        told.firings = rules.firings.count
        for text in record.divergences.texts[told.divergences...] {
            out.append(RunNews(time: elapsed, session: 0, run: 0, what: .divergence(text)))
        }
        told.divergences = record.divergences.texts.count
        self.told = told
        return out + ends
    }

    private func tell(
        _ session: SessionRun, _ told: inout ToldSession, into out: inout [RunNews], ends: inout [RunNews]
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
