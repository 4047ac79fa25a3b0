/// What is known of a session when its client is judged, live or replayed. Times are nanoseconds of the client's clock
/// since the run began.
package struct JudgedSession: Hashable, Sendable {
    package var session: Int
    package var run: Int
    package var attempts: [Attempt]
    /// Nothing more is owed: the script has come to its end.
    package var finished: Bool
    /// What the client did not ask for again after a reconnect: messages of the tape's server that were never sent, or
    /// subscriptions of a live one.
    package var abandoned: Int
    /// They are subscriptions.
    package var subscribed: Bool
    /// When rules made the connection of an attempt go silent.
    package var silences: [Silence]
    /// When the client was heard on its connections.
    package var signs: LifeSigns
    /// When the run ended.
    package var elapsed: UInt64

    /// A stall, or keepalives that stopped.
    package struct Silence: Hashable, Sendable {
        package var time: UInt64
        package var attempt: Int

        package init(time: UInt64, attempt: Int) {
            self.time = time
            self.attempt = attempt
        }
    }

    package init(
        session: Int, run: Int, attempts: [Attempt], finished: Bool = false, abandoned: Int = 0,
        subscribed: Bool = false, silences: [Silence] = [], signs: LifeSigns = LifeSigns(), elapsed: UInt64
    ) {
        self.session = session
        self.run = run
        self.attempts = Attempt.joined(attempts)
        self.finished = finished
        self.abandoned = abandoned
        self.subscribed = subscribed
        self.silences = silences
        self.signs = signs
        self.elapsed = elapsed
    }

    /// What a policy sees at each end: the attempt that ended, and the one that followed, if one did.
    var ends: [(state: RetryState, next: Attempt?)] {
        var hasConnected = false
        var failures = 0
        var retry = 0
        var ends: [(RetryState, Attempt?)] = []
        for (i, attempt) in attempts.enumerated() {
            if attempt.outcome == .connected {
                (hasConnected, retry) = (true, 0)
            } else {
                failures += 1
            }
            retry += 1
            let next = i + 1 < attempts.count ? attempts[i + 1] : nil
            guard attempt.ended != nil || next != nil else { continue }
            let state = RetryState(
                last: attempt, retry: retry, hasConnected: hasConnected, failures: failures,
                before: i > 0 ? attempts[i - 1] : nil)
            ends.append((state, next))
        }
        return ends
    }
}
