internal import WiretapeBytes

/// How often a model client has tried to come back, and how long after each loss it did.
struct ClientRetries {
    /// When each attempt to come back was made, in nanoseconds after the end before it.
    private(set) var delays: [UInt64] = []
    /// Refused too often, it went away before its sessions were over.
    private(set) var hasGivenUp = false
    /// Attempts since the last success.
    private var tries = 0
    private var lostAt: WireInstant?

    mutating func begin(at now: WireInstant) {
        if let lostAt { delays.append(now.since(lostAt)) }
        tries += 1
    }

    mutating func succeeded() { tries = 0 }
    mutating func lost(at now: WireInstant) { lostAt = now }

    /// - Returns: nanoseconds until the next attempt; nil when it gives up.
    mutating func next(_ habits: ClientHabits, isNewSession: Bool) -> UInt64? {
        if isNewSession {
            tries = 0
        } else if tries > habits.attempts {
            hasGivenUp = true
            return nil
        }
        return habits.delays[min(tries, habits.delays.count - 1)]
    }
}
