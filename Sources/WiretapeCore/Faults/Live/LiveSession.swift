/// A client's session as the proxy sees it go by, over all of its attempts and connections.
final class LiveSession {
    let number: Int
    /// The path without what the protocol adds, and who asks.
    let route: String
    let identity: String
    /// Of the codec; empty until one is known.
    var protocolID = ""
    var transports: [Transport] = []
    var attempts: [Attempt] = []
    private var retries = 0
    private var lastEnd: WireInstant?
    var requests = 0
    var toServer = 0, toClient = 0
    /// Connections so far: the ordinal of the current one.
    var connections = 0
    /// What carries it now.
    var carrier: LiveCarrier?
    var connectedAt: WireInstant?
    var subscriptions = LiveSubscriptions()
    /// Transports that have stopped working.
    var downgraded: Set<Transport> = []

    init(number: Int, route: String, identity: String) {
        self.number = number
        self.route = route
        self.identity = identity
    }

    /// The attempt that goes on, if one does.
    private var openAttempt: Int? {
        guard let last = attempts.indices.last, attempts[last].outcome == nil else { return nil }
        return last
    }

    var isConnected: Bool { carrier != nil }

    /// Number and retry of the latest attempt, for rules.
    var attemptNumbers: (attempt: Int, retry: Int) { attempts.last.map { ($0.number, $0.retry) } ?? (1, 0) }

    /// A request while the session has no connection.
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
    func addStep(_ step: Attempt.Step, failed by: String?, how: String, at now: WireInstant, origin: WireInstant) {
        guard let at = openAttempt else { return }
        attempts[at].steps.append(step)
        guard let by else { return }
        attempts[at].outcome = step.status == nil ? .refused : .status
        attempts[at].ended = Attempt.End(time: now.since(origin), by: by, how: how)
        lastEnd = now
    }

    /// The protocol is ready: the attempt is a success.
    func ready() {
        guard let at = openAttempt else { return }
        attempts[at].outcome = .connected
        retries = 0
    }

    /// The connection ended.
    func ended(by: String, how: String, at now: WireInstant, origin: WireInstant) {
        guard let last = attempts.indices.last, attempts[last].ended == nil else { return }
        if attempts[last].outcome == nil { attempts[last].outcome = by == "client" ? .abandoned : .handshake }
        attempts[last].ended = Attempt.End(time: now.since(origin), by: by, how: how)
        lastEnd = now
    }
}
