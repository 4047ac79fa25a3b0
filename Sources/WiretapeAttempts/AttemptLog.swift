package import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeWire

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
    /// About the connection that is open.
    fileprivate var endSigns = EndSigns()
    /// Requests for a connection while there was one.
    fileprivate var overlaps: [JudgedSession.Overlap] = []
    /// A client that closes one connection and opens the next may be heard in the other order.
    fileprivate static let crossing: UInt64 = 50_000_000
    private static let mostOverlaps = 1_000

    package init() {}

    /// A log for the next recorded session of the same client. The delay of its first attempt counts from the last end in `earlier`.
    package init(following earlier: AttemptLog) { lastEnd = earlier.lastEnd }

    /// The attempt that goes on, if one does.
    fileprivate var open: Int? {
        guard let last = attempts.indices.last, attempts[last].outcome == nil else { return nil }
        return last
    }

    /// The client negotiates once more although it was answered well, and asked for no connection since: what it had begun
    /// led nowhere.
    fileprivate mutating func abandonNegotiation() {
        guard let at = open, let last = attempts[at].steps.last, last.status.map({ (200..<300).contains($0) }) ?? false,
            attempts[at].steps.allSatisfy({ $0.request == ExchangeKind.negotiate.rawValue })
        else { return }
        attempts[at].outcome = .abandoned
        attempts[at].ended = Attempt.End(time: last.time, by: .client, how: .noConnection)
        lastEnd = origin.advanced(by: last.time)
    }

    fileprivate mutating func overlap(_ request: String, at time: UInt64) {
        guard overlaps.count < Self.mostOverlaps, let last = attempts.last else { return }
        overlaps.append(JudgedSession.Overlap(time: time, attempt: last.number, request: request))
    }
}

/// A session that counts its client's attempts: one of a replay, or one of live traffic, in the same way.
package protocol CountsAttempts: AnyObject {
    var log: AttemptLog { get set }
}

extension CountsAttempts {
    package var attempts: [Attempt] { log.attempts }
    package var overlaps: [JudgedSession.Overlap] { log.overlaps }

    package var lastEnd: WireInstant? {
        get { log.lastEnd }
        set { log.lastEnd = newValue }
    }

    /// Number and retry of the latest attempt, for rules.
    package var attemptNumbers: (attempt: Int, retry: Int) {
        log.attempts.last.map { ($0.number, $0.retry) } ?? (1, 0)
    }

    /// A request of the client while it has no connection.
    /// - Parameters:
    ///   - negotiates: it is a negotiation, and not one that an earlier answer sent the client to.
    ///   - origin: when the run began.
    /// - Returns: whether an attempt begins with it.
    package func beginAttempt(negotiates: Bool = false, at now: WireInstant, origin: WireInstant) -> Bool {
        log.origin = origin
        if negotiates { log.abandonNegotiation() }
        guard log.open == nil else { return false }
        log.endSigns = EndSigns()
        if !log.attempts.isEmpty { log.retries += 1 }
        log.attempts.append(
            Attempt(
                number: log.attempts.count + 1, retry: log.retries, start: now.since(origin),
                delay: log.attempts.last?.ended?.isDated ?? true ? log.lastEnd.map { now.since($0) } : nil))
        return true
    }

    /// The client asks for another connection while it has one.
    package func overlapped(by request: String, at now: WireInstant, origin: WireInstant) {
        log.overlap(request, at: now.since(origin))
    }

    /// What a request came to.
    /// - Parameters:
    ///   - by: who makes the attempt fail with it; nil: it does not fail.
    ///   - how: it failed; by itself the status, or `reset` where there is none.
    ///   - refusal: why the replay has nothing to answer it with, which says nothing of the client.
    ///   - reason: why it failed, where that is more than how.
    package func addStep(
        _ step: Attempt.Step, failed by: Attempt.End.Party?, how: Attempt.End.Manner? = nil,
        refusal: Attempt.OwnRefusal? = nil,
        reason: String? = nil, at now: WireInstant
    ) {
        guard let at = log.open else { return }
        log.attempts[at].steps.append(step)
        log.attempts[at].isOwnRefusal = refusal != nil
        guard let by else { return }
        log.attempts[at].outcome = step.status == nil ? .refused : .status
        log.attempts[at].ended = Attempt.End(
            time: now.since(log.origin), by: by, how: how ?? step.status.map { .status($0) } ?? .reset,
            reason: refusal?.rawValue ?? reason)
        log.lastEnd = now
    }

    /// The protocol is ready: the attempt is a success.
    package func connected(at now: WireInstant) {
        guard let at = log.open else { return }
        log.attempts[at].outcome = .connected
        log.retries = 0
        // Polls are themselves what keeps a client's session.
        guard log.attempts[at].steps.last?.transport != .lp else { return }
        log.signs.begins(log.attempts[at].number, at: now.since(log.origin))
    }

    /// Something came from the client on its connection.
    package func heard(isKeepalive: Bool, at now: WireInstant) {
        log.signs.heard(isKeepalive: isKeepalive, at: now.since(log.origin))
    }

    /// A rule keeps the client from being heard, or from what it would answer, for so long; nil: for good.
    package func excused(for duration: UInt64?, at now: WireInstant) {
        let time = now.since(log.origin)
        let until = duration.map { time.addingReportingOverflow($0) }
        log.signs.excused(from: time, until: until.map { $0.overflow ? .max : $0.partialValue } ?? .max)
    }

    /// The client's longest waits by then.
    package func signs(at now: WireInstant) -> LifeSigns { log.signs.settled(at: now.since(log.origin)) }

    /// The client's close frame or FIN arrived while a rule stalls its connection.
    package func clientLeft(with how: Attempt.End.Manner, at moment: WireInstant) {
        log.endSigns.clientLeft(with: how, at: moment)
    }

    /// How and when the client left a stalled connection that is still open.
    package var departure: (how: Attempt.End.Manner, at: WireInstant)? { log.endSigns.departure }

    /// The client or the server sent a close message of the protocol.
    package func saidGoodbye(by sender: Attempt.End.Party, at now: WireInstant) {
        log.endSigns.saidGoodbye(by: sender, at: now)
    }

    /// The connection ended.
    /// - Returns: the time of the end. It is earlier than `now` if the client left a stalled connection.
    @discardableResult
    package func ended(
        by party: Attempt.End.Party, how: Attempt.End.Manner, reason: String? = nil, at now: WireInstant,
        origin: WireInstant
    ) -> WireInstant {
        let end = log.endSigns.settled(by: party, how, reason: reason, at: now)
        guard let last = log.attempts.indices.last, log.attempts[last].ended == nil else { return end.at }
        if log.attempts[last].outcome == nil {
            log.attempts[last].outcome = end.by == .client ? .abandoned : .handshake
        }
        let time = end.at.since(origin)
        log.attempts[last].ended = Attempt.End(time: time, by: end.by, how: end.how, reason: end.reason)
        if party == .client { log.overlaps.removeAll { time - min(time, $0.time) < AttemptLog.crossing } }
        log.lastEnd = end.at
        log.signs.ends(at: time)
        return end.at
    }

    /// Moves the end of the last connection to an earlier moment that has become known.
    package func endedEarlier(
        by: Attempt.End.Party, how: Attempt.End.Manner, at moment: WireInstant, origin: WireInstant
    ) {
        let end = log.endSigns.settled(by: by, how, at: moment)
        let time = end.at.since(origin)
        guard let last = log.attempts.indices.last, let known = log.attempts[last].ended, time < known.time else {
            return
        }
        log.attempts[last].ended = Attempt.End(time: time, by: end.by, how: end.how, reason: end.reason)
        log.lastEnd = end.at
    }
}
