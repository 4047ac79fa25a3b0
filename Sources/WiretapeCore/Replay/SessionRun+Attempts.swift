extension SessionRun {
    /// The attempt that goes on, if one does.
    private var openAttempt: Int? {
        guard let last = attempts.indices.last, attempts[last].outcome == nil else { return nil }
        return last
    }

    /// A request of the client while it has no connection.
    /// - Returns: whether an attempt begins with it.
    func beginAttempt(at now: WireInstant, origin: WireInstant) -> Bool {
        guard openAttempt == nil else { return false }
        if !attempts.isEmpty { retries += 1 }
        attempts.append(
            Attempt(
                number: attempts.count + 1, retry: retries, start: now.since(origin),
                delay: lastEnd.map { now.since($0) }))
        return true
    }

    /// What the request came to. A status that is no success ends the attempt.
    func addStep(_ step: Attempt.Step, failed by: String?, how: String? = nil, at now: WireInstant) {
        guard let at = openAttempt else { return }
        attempts[at].steps.append(step)
        guard let by else { return }
        attempts[at].outcome = step.status == nil ? .refused : .status
        attempts[at].ended = Attempt.End(time: step.time, by: by, how: how ?? step.status.map { "\($0)" } ?? "reset")
        lastEnd = now
    }

    /// The protocol is ready: the attempt is a success.
    func connected() {
        guard let at = openAttempt else { return }
        attempts[at].outcome = .connected
        everConnected = true
        retries = 0
    }

    /// The connection ended.
    func ended(by: String, how: String, at now: WireInstant, origin: WireInstant) {
        guard let last = attempts.indices.last, attempts[last].ended == nil else { return }
        if attempts[last].outcome == nil { attempts[last].outcome = by == "client" ? .abandoned : .handshake }
        attempts[last].ended = Attempt.End(time: now.since(origin), by: by, how: how)
        lastEnd = now
    }

    /// Number and retry of the latest attempt, for rules.
    var attemptNumbers: (attempt: Int, retry: Int) {
        attempts.last.map { ($0.number, $0.retry) } ?? (1, 0)
    }
}
