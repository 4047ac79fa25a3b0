package import WiretapeAttempts
package import WiretapeWire

/// What a run came to: of a replay, whose sessions are listed by recorded number and run, never by arrival; or of live
/// traffic, whose sessions are listed as they came.
package struct ReplayReport: Hashable, Sendable {
    /// Of live traffic: there is no tape that anything could be held against.
    package var isLive = false
    /// 16 hex digits: equal for equal message sequences in every chain of every session.
    package var digest: String
    package var seed: UInt64
    package var sessions: [Session]
    /// Recorded sessions that nobody asked for.
    package var unclaimed: [Int]
    package var faults: [Firing]
    /// Firings that were counted and not kept: of live traffic, beyond the first 100,000.
    package var faultsLeftOut = 0
    package var unfired: [Unfired]
    package var expectations: [Judgement]
    /// The golden texts of all divergences, in the order in which they happened.
    package var divergences: [String]
    /// How many more there were than are kept.
    package var divergencesBeyond = 0
    /// Those of them that are no client's: the replay had nothing to answer an attempt with.
    package var ownRefusals: [String] = []
    /// What the digest does not cover, because it depends on real time.
    package var outsideDigest: [String] = []
    /// Under `ignore` no divergence speaks against a pass.
    package var onDivergence = OnDivergence.fail
    package var exchanges = Exchanges()
    /// Nobody played the tape, which is no pass: what was listened for, and what came instead.
    package var nobody: String?
    /// What the tape lacked and has now; nil: nothing.
    package var appended: Appended?
    /// How the command behind `--` ended, when the run ended with it.
    package var commandExit: Int32?
    /// What kept the run from being played, or cut it short: a bad tape, a missing recording, a time-out.
    package var failure: Failure?

    package init(
        isLive: Bool = false, digest: String, seed: UInt64, sessions: [Session], unclaimed: [Int], faults: [Firing],
        faultsLeftOut: Int = 0, unfired: [Unfired], expectations: [Judgement], divergences: [String],
        divergencesBeyond: Int = 0, ownRefusals: [String] = [], outsideDigest: [String] = [],
        onDivergence: OnDivergence = OnDivergence.fail, exchanges: Exchanges = Exchanges(), nobody: String? = nil,
        failure: Failure? = nil
    ) {
        self.isLive = isLive
        self.digest = digest
        self.seed = seed
        self.sessions = sessions
        self.unclaimed = unclaimed
        self.faults = faults
        self.faultsLeftOut = faultsLeftOut
        self.unfired = unfired
        self.expectations = expectations
        self.divergences = divergences
        self.divergencesBeyond = divergencesBeyond
        self.ownRefusals = ownRefusals
        self.outsideDigest = outsideDigest
        self.onDivergence = onDivergence
        self.exchanges = exchanges
        self.nobody = nobody
        self.failure = failure
    }

    /// What a run has added to its tape.
    package struct Appended: Hashable, Sendable {
        package var events: UInt64
        package var connections: UInt64

        package init(events: UInt64, connections: UInt64) {
            self.events = events
            self.connections = connections
        }
    }

    package struct Failure: Hashable, Sendable {
        package var exitCode: Int32
        package var reason: String

        package init(exitCode: Int32, reason: String) {
            self.exitCode = exitCode
            self.reason = reason
        }
    }

    /// Ordinary requests beside the sessions.
    package struct Exchanges: Hashable, Sendable {
        /// On the tape.
        package var recorded = 0
        /// Answers from it that were delivered, repeats counted.
        package var played = 0
        /// Requests whose client left before the response: method, path, place on the tape and time.
        package var givenUp: [String] = []
        package var givenUpBeyond = 0
        /// Recorded ones that nobody asked for: method, path, place on the tape.
        package var unplayed: [String] = []
        /// Requests with a counterpart of other content, or beyond those recorded: method and target.
        package var unexpected: [String] = []
        package var unexpectedBeyond = 0

        package init() {}
    }

    /// `nobody came to chat.tape: no session was claimed. …; no request came. Exit 2; --allow-unplayed permits it.`
    package static func nobody(at tape: String, _ why: String) -> String {
        "nobody came to \(tape): \(why). Exit 2; --allow-unplayed permits it."
    }

    /// Of a run in which nothing could be played yet.
    package static func empty(seed: UInt64) -> ReplayReport {
        ReplayReport(
            digest: Digest().text, seed: seed, sessions: [], unclaimed: [], faults: [], unfired: [], expectations: [],
            divergences: [])
    }

    package enum Verdict: String, Hashable, Sendable { case pass, diverged, failed }

    package struct Session: Hashable, Sendable {
        package var session: Int
        package var run: Int
        /// Who got it: address and agent, or a pseudonym of its credential.
        package var client: String
        package var assigned: Assigned
        package var protocolID: String
        package var transports: [Transport]
        package var finished: Bool
        package var attempts: [Attempt]
        /// Client messages that had a counterpart.
        package var matched: Int
        /// Recorded ones that the client left out, and the one at which it stopped.
        package var missing: [String]
        /// Messages without a counterpart.
        package var unexpected: [String] { strangers.texts }
        /// How many more there were than are kept.
        package var unexpectedBeyond: Int { strangers.beyond }
        private var strangers: KeptTexts
        package var late: [String]
        package var reordered: Int
        /// Server messages that were never sent because their request was not repeated after a reconnect.
        package var abandoned: Int
        /// Client messages that were given up because of a missing one: behind it, or of a chain that it would have opened.
        package var unreached: Int = 0
        /// Acknowledged messages of the client that it said again after a reconnect.
        package var repeated: Int = 0
        /// Of live traffic: the messages that passed, keepalives left aside.
        package var traffic: Traffic? = nil
        /// Where on the tape it stands.
        package var source: Source
        /// What new connections heard again; nil: nothing.
        package var greeting: Greeting? = nil
        /// What else people should know.
        package var notes: [String] = []

        /// Of what on the tape a session was made.
        package struct Source: Hashable, Sendable {
            /// Of a chain of the session that was served by itself: the how many-th request it is.
            package var operation: Int?
            /// Further recorded sessions that were served as one with it.
            package var others: [Int]
            /// The upstream that it was recorded at, of a tape with several.
            package var upstream: String?
        }

        package var operation: Int? { source.operation }
        package var others: [Int] { source.others }
        package var upstream: String? { source.upstream }

        package init(
            session: Int, run: Int, client: String, assigned: Assigned, protocolID: String, transports: [Transport],
            finished: Bool, attempts: [Attempt], matched: Int, missing: [String], unexpected: [String],
            unexpectedBeyond: Int = 0, late: [String], reordered: Int, abandoned: Int, unreached: Int = 0,
            repeated: Int = 0, operation: Int? = nil, traffic: Traffic? = nil, others: [Int] = [],
            upstream: String? = nil, greeting: Greeting? = nil, notes: [String] = []
        ) {
            self.session = session
            self.run = run
            self.client = client
            self.assigned = assigned
            self.protocolID = protocolID
            self.transports = transports
            self.finished = finished
            self.attempts = attempts
            self.matched = matched
            self.missing = missing
            strangers = KeptTexts(unexpected, beyond: unexpectedBeyond)
            self.late = late
            self.reordered = reordered
            self.abandoned = abandoned
            self.unreached = unreached
            self.repeated = repeated
            self.traffic = traffic
            source = Source(operation: operation, others: others, upstream: upstream)
            self.greeting = greeting
            self.notes = notes
        }
    }

    /// What a server says to everybody who connects.
    package struct Greeting: Hashable, Sendable {
        package var labels: [String]
        /// How it was found.
        package var why: String
        /// How many connections heard it, beside the first.
        package var connections: Int

        package init(labels: [String], why: String, connections: Int) {
            self.labels = labels
            self.why = why
            self.connections = connections
        }

        /// `Welcome (pushes within …), said again on 2 connections`.
        package var text: String {
            let on = connections == 1 ? "1 connection" : "\(connections) connections"
            return "\(labels.joined(separator: ", ")) (\(why)), said again on \(on)"
        }
    }

    package struct Traffic: Hashable, Sendable {
        package var toServer: Int
        package var toClient: Int

        package init(toServer: Int, toClient: Int) {
            self.toServer = toServer
            self.toClient = toClient
        }
    }

    /// How a session's client was found: by a token of the protocol, by its name or who it is, by its first message, or
    /// since it was the next to come.
    package enum Assigned: String, Hashable, Sendable { case token, identity, message, order }

    /// A rule that acted.
    package struct Firing: Hashable, Sendable {
        package var rule: String
        package var time: UInt64
        /// Recorded session, run and attempt; 0 for a request that belongs to none.
        package var session: Int
        package var run: Int
        package var attempt: Int
        /// The message's ordinal among those of its direction; nil for requests.
        package var message: Int?
        /// The message as the rule counts it, and as its side does: `Tick[2] (server message 8)`.
        package var counted: String?
        package var action: String
        /// The peer did not acknowledge what the fault should follow: it may have been lost.
        package var cut: Bool
        /// It made the session's connection go silent: clients may be held to notice that.
        package var isSilence: Bool

        package init(
            rule: String, time: UInt64, session: Int, run: Int, attempt: Int, message: Int? = nil,
            counted: String? = nil, action: String, cut: Bool, isSilence: Bool = false
        ) {
            self.rule = rule
            self.time = time
            self.session = session
            self.run = run
            self.attempt = attempt
            self.message = message
            self.counted = counted
            self.action = action
            self.cut = cut
            self.isSilence = isSilence
        }

        /// The same with the attempt as the report counts it.
        package func renumbered(by numbers: AttemptNumbers) -> Firing {
            var firing = self
            firing.attempt = numbers.reported(attempt, of: session, run: run)
            return firing
        }
    }

    /// A rule that never acted, and why, as a golden text.
    package struct Unfired: Hashable, Sendable {
        package var rule: String
        package var text: String
        package var optional: Bool

        package init(rule: String, text: String, optional: Bool) {
            self.rule = rule
            self.text = text
            self.optional = optional
        }
    }

    package var verdict: Verdict {
        switch exitCode {
        case 0: .pass
        case 2: .diverged
        default: .failed
        }
    }

    /// 0, 2 (diverged) or 5 (an expectation failed, or a rule never fired), or that of a failure; 2 goes before 5, and a
    /// failure before both.
    package var exitCode: Int32 {
        if let failure { return failure.exitCode }
        if isDiverged || nobody != nil { return 2 }
        if unfired.contains(where: { !$0.optional }) || expectations.contains(where: { !$0.met }) { return 5 }
        return 0
    }

    private var isDiverged: Bool {
        guard onDivergence != .ignore else { return false }
        return !divergences.isEmpty
            || sessions.contains { !$0.missing.isEmpty || !$0.unexpected.isEmpty || !$0.late.isEmpty }
    }

    /// One line for each thing that speaks against a pass, the most important first.
    package var reasons: [String] {
        (failure.map { [$0.reason] } ?? []) + (isDiverged ? divergedReasons : [])
            + (nobody.map { [$0] } ?? [])
            + unfired.filter { !$0.optional }.map(\.text)
            + expectations.filter { !$0.met }.map(\.reason)
    }

    private var divergedReasons: [String] {
        divergences.map { String($0.prefix { $0 != "\n" }) }
            + sessions.filter { !$0.missing.isEmpty }.map {
                let count = $0.missing.count == 1 ? "1 client message" : "\($0.missing.count) client messages"
                let rest = $0.unreached == 0 ? "" : "; \($0.unreached) more not reached"
                return "session \($0.session): \(count) never came, first \($0.missing[0])\(rest)"
            }
    }
}

/// What becomes of a client that says what the tape does not have: `--on-divergence`.
package enum OnDivergence: Hashable, Sendable { case fail, warn, ignore, stall }
