internal import WiretapeBytes

/// What a policy says of the attempt that comes after an end.
package enum NextAttempt: Hashable, Sendable {
    /// So long after the end, not counting the tolerance; the two differ by the client's own jitter.
    case within(UInt64, UInt64)
    /// The client has given up, in words: "it makes 4 retries".
    case none(String)
    /// The policy says nothing of it.
    case free

    package static func after(_ delay: UInt64) -> NextAttempt { .within(delay, delay) }

    /// `2s`, `300ms to 3s`, `no retry`.
    package var text: String {
        switch self {
        case .within(let low, let high) where low == high: DurationText.describe(low)
        case .within(let low, let high): "\(DurationText.describe(low)) to \(DurationText.describe(high))"
        case .none: "no retry"
        case .free: "any time"
        }
    }
}

/// What a policy looks at: the end after which the next attempt comes.
package struct RetryState: Hashable, Sendable {
    /// The attempt that has ended.
    package var last: Attempt
    /// 1, 2, …: which retry since the last success the next one is.
    package var retry: Int
    /// Whether the session ever had a connection.
    package var hasConnected: Bool
    /// Attempts of the session that have failed so far, successes between them or not.
    package var failures: Int
    /// The attempt before ``last``.
    package var before: Attempt?

    package init(last: Attempt, retry: Int, hasConnected: Bool, failures: Int = 0, before: Attempt? = nil) {
        self.last = last
        self.retry = retry
        self.hasConnected = hasConnected
        self.failures = failures
        self.before = before
    }

    /// The code of the close frame that ended the connection; nil when it ended otherwise or the frame was empty.
    package var closeCode: Int? {
        guard case .close(let code) = last.ended?.how else { return nil }
        return code.map { Int($0) }
    }

    /// Whether the client had a connection and lost it.
    package var wasLost: Bool { last.outcome == .connected }
}
