/// What is known of a session when its client is judged, live or replayed. Times are nanoseconds of the client's clock
/// since the run began.
package struct JudgedSession: Hashable, Sendable {
    package var session: Int
    package var run: Int
    /// The number of the client's previous session, if this session is a recorded reconnect.
    package var follows: Int?
    /// Recorded sessions that the client reconnected to. They are judged together with this one.
    package private(set) var later: [Later] = []
    package var attempts: [Attempt]
    /// Nothing more is owed: the script has come to its end. Nil of live traffic, which has none.
    package var finished: Bool?
    /// What the client said, and what of it again.
    package var speech: ClientSpeech
    /// Requests for a connection while the client had one.
    package var overlaps: [Overlap]
    /// When rules made the connection of an attempt go silent.
    package var silences: [Silence]
    /// When the client was heard on its connections.
    package var signs: LifeSigns
    package var credentials: CredentialTimes
    /// When the run ended.
    package var elapsed: UInt64
    /// The clients were gone before the run's end: nothing more would have come.
    package var isGone: Bool
    /// What the replay itself refused, and no server would have: `attempt 3`. What comes behind it is left out.
    package private(set) var ownRefusal: String?

    /// A recorded session that the client reconnected to.
    package struct Later: Hashable, Sendable {
        package var session: Int
        /// The number of the attempt that opened the session, counted over all sessions of the client.
        package var attempt: Int
    }

    /// A request for a further connection.
    package struct Overlap: Hashable, Sendable {
        package var time: UInt64
        /// The attempt whose connection was open.
        package var attempt: Int
        /// `upgrade`, `stream`.
        package var request: String

        package init(time: UInt64, attempt: Int, request: String) {
            self.time = time
            self.attempt = attempt
            self.request = request
        }
    }

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
        session: Int, run: Int, follows: Int? = nil, attempts: [Attempt], finished: Bool? = nil,
        speech: ClientSpeech = ClientSpeech(), overlaps: [Overlap] = [], silences: [Silence] = [],
        signs: LifeSigns = LifeSigns(), credentials: CredentialTimes = CredentialTimes(), elapsed: UInt64,
        isGone: Bool = false
    ) {
        self.session = session
        self.run = run
        self.follows = follows
        let joined = Attempt.joined(attempts)
        let own = joined.firstIndex { $0.isOwnRefusal }
        ownRefusal = own.map { "attempt \(joined[$0].number)" }
        self.attempts = own.map { Array(joined[...$0]) } ?? joined
        self.finished = finished
        self.speech = speech
        self.overlaps = overlaps
        self.silences = silences
        self.signs = signs
        self.credentials = credentials
        self.elapsed = elapsed
        self.isGone = isGone
    }

    /// Whether the run went on for so long behind a moment.
    func watched(since time: UInt64, for duration: UInt64) -> Bool {
        let (until, overflow) = time.addingReportingOverflow(duration)
        return !overflow && elapsed > until
    }

    /// Whether the client had the time to say something again on its last connection, or gave that time away.
    func hadTime(_ tolerance: Expectation.Tolerance) -> Bool {
        guard let last = attempts.last(where: { $0.outcome == .connected }) else { return false }
        let opened = last.steps.last?.time ?? last.start
        if isGone || last.ended?.by == .client { return true }
        return watched(since: opened, for: tolerance.latest(0))
    }

    /// What a policy sees at each end: the attempt that ended, and the one that followed, if one did.
    package var ends: [(state: RetryState, next: Attempt?)] {
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

/// Recorded reconnects. The client loses one recorded session and reconnects to the next. Policies about reconnects judge both sessions
/// as one.
extension JudgedSession {
    private struct Key: Hashable {
        var session: Int
        var run: Int
    }

    /// Joins sessions that follow each other into one entry for each client. Attempts are numbered over all joined sessions.
    package static func byClient(_ sessions: [JudgedSession]) -> [JudgedSession] {
        guard sessions.contains(where: { $0.follows != nil }) else { return sessions }
        var next: [Key: Int] = [:]
        let known = Set(sessions.map { Key(session: $0.session, run: $0.run) })
        for (i, session) in sessions.enumerated() {
            if let earlier = session.follows { next[Key(session: earlier, run: session.run)] = i }
        }
        return sessions.filter { session in
            session.follows.map { !known.contains(Key(session: $0, run: session.run)) } ?? true
        }.map { first in
            var line = [first]
            while let last = line.last, line.count < sessions.count,
                let i = next[Key(session: last.session, run: last.run)]
            {
                line.append(sessions[i])
            }
            return first.followed(by: line.dropFirst())
        }
    }

    private func followed(by line: ArraySlice<JudgedSession>) -> JudgedSession {
        guard let last = line.last else { return self }
        var all = JudgedSession(
            session: session, run: run, attempts: attempts + line.flatMap(\.attempts), finished: last.finished,
            speech: last.speech, overlaps: overlaps + line.flatMap(\.overlaps),
            silences: silences + line.flatMap(\.silences), signs: last.signs, elapsed: elapsed, isGone: isGone)
        all.ownRefusal = all.ownRefusal ?? line.lazy.compactMap(\.ownRefusal).first
        all.later = line.compactMap { session in
            guard let start = session.attempts.first?.start,
                let opened = all.attempts.last(where: { $0.start <= start })
            else { return nil }
            return Later(session: session.session, attempt: opened.number)
        }
        return all
    }

    /// For reports: which attempts belong to a later session. Empty if there is no later session.
    package var whereItWentOn: String {
        guard !later.isEmpty else { return "" }
        let all = later.prefix(4).map { "in session \($0.session) with attempt \($0.attempt)" }
        return " (the client went on \(all.joined(separator: ", "))\(later.count > 4 ? ", …" : ""))"
    }
}
