internal import WiretapeAttempts
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

/// A recorded session as a client plays it, as far as it has come.
public struct PlayedSession: Hashable, Sendable {
    /// Its number on the tape, from 1.
    public let number: Int
    /// The how manyth run of it, from 1.
    public let run: Int
    /// Its name on the tape.
    public let name: String?
    /// Address and agent of who plays it, or a pseudonym of its credential.
    public let client: String
    /// `signalr`, `graphql` …
    public let protocolName: String
    /// The transports that carried it, in order: `ws`, `sse`, `lp`, `stream`, `multipart`, `http`.
    public let transports: [String]
    /// Whether it is played to its end.
    public let isFinished: Bool
    /// Client messages that had their counterpart on the tape.
    public let matched: Int
    /// Each try of the client to get a connection.
    public let attempts: [PlayedAttempt]

    init(_ session: ReplayReport.Session, name: String?) {
        number = session.session
        run = session.run
        self.name = name
        client = session.client
        protocolName = session.protocolID
        transports = session.transports.map(\.rawValue)
        isFinished = session.finished
        matched = session.matched
        attempts = session.attempts.map(PlayedAttempt.init)
    }
}

/// A try of a client to get a connection.
public struct PlayedAttempt: Hashable, Sendable {
    /// From 1 within the session.
    public let number: Int
    /// Attempts since the last success, this one included; 0 for the very first.
    public let retry: Int
    /// The client's time from the end before it to its beginning; nil for the first.
    public let delay: Duration?
    /// What it came to: `connected`, `refused`, `status`, `handshake`, `timeout` or `abandoned`; nil while it goes on.
    public let outcome: String?
    /// The statuses of the answers that it got, in order.
    public let statuses: [Int]

    init(_ attempt: Attempt) {
        number = attempt.number
        retry = attempt.retry
        delay = attempt.delay.map { .nanoseconds(Int64(clamping: $0)) }
        outcome = attempt.outcome?.rawValue
        statuses = attempt.steps.compactMap(\.status)
    }
}

extension ReplayServer {
    /// The sessions that clients have begun, by recorded number and run.
    public var sessions: [PlayedSession] {
        let report = try? ask { $0.soFar() }
        return (report?.sessions ?? []).map { one in
            PlayedSession(one, name: tape.sessions.first { $0.number == one.session }?.name)
        }
    }

    /// A session that a client has begun.
    /// - Parameter name: what it is called on the tape; nil: the only one.
    /// - Throws: ``TapeFailure`` when there is none, or when there are several and no name says which.
    public func session(_ name: String? = nil) throws -> PlayedSession {
        let all = sessions
        let found = all.filter { name == nil || $0.name == name }
        guard let first = found.first else {
            guard let name else { throw TapeFailure("no client has begun a session of \(tape.name)") }
            let known = tape.sessions.compactMap(\.name)
            if known.contains(name) { throw TapeFailure("no client has begun the session '\(name)' of \(tape.name)") }
            let there =
                known.isEmpty
                ? "none has a name ('wiretape name' gives one)" : "it has \(known.joined(separator: ", "))"
            throw TapeFailure("no session of \(tape.name) is called '\(name)'; \(there)")
        }
        guard name != nil || found.count == 1 else {
            let numbers = found.map { "\($0.number)" }.joined(separator: ", ")
            throw TapeFailure(
                "clients have begun \(found.count) sessions of \(tape.name) (\(numbers)): say which by its name, or take 'sessions'"
            )
        }
        return first
    }
}
