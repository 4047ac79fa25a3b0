/// The attempts of one client's session.
package struct AttemptLog: Sendable {
    fileprivate var attempts: [Attempt] = []
    /// Attempts since the last success.
    fileprivate var retries = 0
    /// When the last connection or failed attempt ended.
    fileprivate var lastEnd: WireInstant?
    /// What times are counted from.
    fileprivate var origin = WireInstant.zero
    fileprivate var signs = LifeSigns()

    package init() {}

    /// The attempt that goes on, if one does.
    fileprivate var open: Int? {
        guard let last = attempts.indices.last, attempts[last].outcome == nil else { return nil }
        return last
    }
}

/// A session that counts its client's attempts: one of a replay, or one of live traffic, in the same way.
protocol CountsAttempts: AnyObject {
    var log: AttemptLog { get set }
}

extension CountsAttempts {
    var attempts: [Attempt] { log.attempts }

    var lastEnd: WireInstant? {
        get { log.lastEnd }
        set { log.lastEnd = newValue }
    }

    /// Number and retry of the latest attempt, for rules.
    var attemptNumbers: (attempt: Int, retry: Int) {
        log.attempts.last.map { ($0.number, $0.retry) } ?? (1, 0)
    }

    /// A request of the client while it has no connection.
    /// - Parameter origin: when the run began.
    /// - Returns: whether an attempt begins with it.
    func beginAttempt(at now: WireInstant, origin: WireInstant) -> Bool {
        log.origin = origin
        guard log.open == nil else { return false }
        if !log.attempts.isEmpty { log.retries += 1 }
        log.attempts.append(
            Attempt(
                number: log.attempts.count + 1, retry: log.retries, start: now.since(origin),
                delay: log.lastEnd.map { now.since($0) }))
        return true
    }

    /// What a request came to.
    /// - Parameters:
    ///   - by: who makes the attempt fail with it; nil: it does not fail.
    ///   - how: it failed; by itself the status, or `reset` where there is none.
    func addStep(_ step: Attempt.Step, failed by: String?, how: String? = nil, at now: WireInstant) {
        guard let at = log.open else { return }
        log.attempts[at].steps.append(step)
        guard let by else { return }
        log.attempts[at].outcome = step.status == nil ? .refused : .status
        log.attempts[at].ended = Attempt.End(
            time: now.since(log.origin), by: by, how: how ?? step.status.map { "\($0)" } ?? "reset")
        log.lastEnd = now
    }

    /// The protocol is ready: the attempt is a success.
    func connected(at now: WireInstant) {
        guard let at = log.open else { return }
        log.attempts[at].outcome = .connected
        log.retries = 0
        // Polls are themselves what keeps a client's session.
        guard log.attempts[at].steps.last?.transport != .lp else { return }
        log.signs.begins(log.attempts[at].number, at: now.since(log.origin))
    }

    /// Something came from the client on its connection.
    func heard(isKeepalive: Bool, at now: WireInstant) {
        log.signs.heard(isKeepalive: isKeepalive, at: now.since(log.origin))
    }

    /// A rule keeps the client from being heard, or from what it would answer, for so long; nil: for good.
    func excused(for duration: UInt64?, at now: WireInstant) {
        let time = now.since(log.origin)
        let until = duration.map { time.addingReportingOverflow($0) }
        log.signs.excused(from: time, until: until.map { $0.overflow ? .max : $0.partialValue } ?? .max)
    }

    /// The client's longest waits by then.
    func signs(at now: WireInstant) -> LifeSigns { log.signs.settled(at: now.since(log.origin)) }

    /// The connection ended.
    func ended(by: String, how: String, reason: String? = nil, at now: WireInstant, origin: WireInstant) {
        guard let last = log.attempts.indices.last, log.attempts[last].ended == nil else { return }
        if log.attempts[last].outcome == nil { log.attempts[last].outcome = by == "client" ? .abandoned : .handshake }
        log.attempts[last].ended = Attempt.End(time: now.since(origin), by: by, how: how, reason: reason)
        log.lastEnd = now
        log.signs.ends(at: now.since(origin))
    }
}
