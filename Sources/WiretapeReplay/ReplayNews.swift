package import WiretapeAttempts
internal import WiretapeProtocol
internal import WiretapeReport
package import WiretapeWire

/// Something that has happened in a run, for whoever follows it. Times are nanoseconds of the client's clock since the first
/// thing that a client did, as in the report.
package struct ReplayNews: Hashable, Sendable {
    package var time: UInt64
    /// The recorded session and which run of it; 0 for what belongs to none.
    package var session: Int
    package var run: Int
    package var what: What

    package enum What: Hashable, Sendable {
        /// A client begins to ask for a connection. Numbers are as it happens: the report joins those that turn out to be
        /// steps of one attempt.
        case attempt(number: Int, retry: Int, delay: UInt64?)
        /// The protocol is ready.
        case connected(attempt: Int, Transport?)
        /// The attempt's connection has ended, or the attempt came to none.
        case disconnected(attempt: Int, Attempt.Outcome?, Attempt.End)
        case fault(attempt: Int, rule: String, action: String, counted: String?)
        /// The text that people get.
        case divergence(String)
        /// All of the session is played.
        case finished
    }
}

/// How much of a run somebody was told.
struct ToldNews: Sendable {
    var firings = 0
    var divergences = 0
    var runs: [ToldRun] = []
}

/// How much of a claimed session somebody was told.
struct ToldRun: Sendable {
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
    package mutating func takeNews() -> [ReplayNews] {
        guard var told else { return [] }
        var out: [ReplayNews] = []
        var ends: [ReplayNews] = []
        for r in runs.takeUntold() {
            while told.runs.count <= r { told.runs.append(ToldRun()) }
            tell(r, &told.runs[r], into: &out, ends: &ends)
        }
        for firing in firings[told.firings...] {
            out.append(
                ReplayNews(
                    time: firing.time, session: firing.session, run: firing.run,
                    what: .fault(
                        attempt: firing.attempt, rule: firing.rule, action: firing.action, counted: firing.counted)))
        }
        told.firings = firings.count
        for text in divergences.texts[told.divergences...] {
            out.append(ReplayNews(time: elapsed, session: 0, run: 0, what: .divergence(text)))
        }
        told.divergences = divergences.texts.count
        self.told = told
        return out + ends
    }

    private func tell(_ r: Int, _ told: inout ToldRun, into out: inout [ReplayNews], ends: inout [ReplayNews]) {
        let run = runs[r]
        func news(_ time: UInt64, _ what: ReplayNews.What) -> ReplayNews {
            ReplayNews(time: time, session: run.session.number, run: run.run, what: what)
        }
        let attempts = run.attempts
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
        if !told.isFinished, run.failure == nil, !run.isStalled, isComplete(run) {
            told.isFinished = true
            ends.append(news(elapsed, .finished))
        }
    }

    /// Whether all of the session is played, or what is left of it is nobody's.
    func isComplete(_ run: SessionRun) -> Bool {
        (run.isPlayed || !run.isConnected && run.owesOnlyCancelled) && run.trailing == nil
    }
}
