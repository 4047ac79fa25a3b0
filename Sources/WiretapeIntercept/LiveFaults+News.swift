internal import WiretapeAttempts
package import WiretapeBytes
package import WiretapeReport
internal import WiretapeWire

/// Sessions that were changed since somebody who follows the run asked last.
final class ChangedSessions {
    var sessions: [LiveSession] = []
}

/// How much of a live session somebody was told.
struct ToldSession {
    var begun = 0
    var connected = 0
    var ended = 0
}

// For whoever follows the run and acts on it while it goes on.

extension LiveFaults {
    /// What acts of a person or a program are called in reports: `fault:control`.
    package static let controlRule = "control"

    /// From now on ``takeNews(at:)`` has something to tell.
    package func follow() {
        guard changes == nil else { return }
        changes = ChangedSessions()
        observes = true
    }

    /// What has happened since the last call, in order.
    package func takeNews(at now: WireInstant) -> [RunNews] {
        guard let changes else { return [] }
        var found: [(at: UInt64, rank: Int, news: RunNews)] = []
        let changed = changes.sessions.sorted { $0.number < $1.number }
        changes.sessions = []
        for session in changed {
            session.isNoted = false
            tell(session, at: now, &found)
        }
        for firing in firings.takeUntold() {
            let news = RunNews(
                time: firing.time, session: firing.session, run: firing.run,
                what: .fault(
                    attempt: firing.attempt, rule: firing.rule, action: firing.action, counted: firing.counted))
            found.append((firing.time, 2, news))
        }
        return found.enumerated().sorted { a, b in
            (a.element.at, a.element.rank, a.offset) < (b.element.at, b.element.rank, b.offset)
        }.map(\.element.news)
    }

    private func tell(
        _ session: LiveSession, at now: WireInstant, _ found: inout [(at: UInt64, rank: Int, news: RunNews)]
    ) {
        func add(_ time: UInt64, _ rank: Int, at moment: UInt64? = nil, _ what: RunNews.What) {
            let news = RunNews(time: time, session: session.number, run: 1, what: what)
            found.append((moment ?? time, rank, news))
        }
        let attempts = session.attempts
        var told = session.told
        for i in min(told.begun, told.connected, told.ended)..<attempts.count {
            let attempt = attempts[i]
            if i >= told.begun {
                add(
                    attempt.start, 0,
                    .attempt(number: attempt.number, retry: attempt.retry, delay: attempt.delay))
                told.begun = i + 1
            }
            if i >= told.connected, attempt.outcome != nil {
                if attempt.outcome == .connected {
                    let last = attempt.steps.last
                    // Told now, and before what came after its last step.
                    add(
                        min(elapsed(now), attempt.ended?.time ?? .max), 1, at: last?.time ?? attempt.start,
                        .connected(attempt: attempt.number, last?.transport))
                }
                told.connected = i + 1
            }
            if i >= told.ended, let end = attempt.ended {
                add(end.time, 3, .disconnected(attempt: attempt.number, attempt.outcome, end))
                told.ended = i + 1
            }
        }
        session.told = told
    }

    /// The sessions that have passed, and whether each was connected.
    package var begunSessions: [(session: Int, wasConnected: Bool)] {
        directory.sessions.map { session in (session.number, session.attempts.contains { $0.outcome == .connected }) }
    }

    /// The session that a connection carries, or carried last.
    package func session(on connection: UInt32) -> Int? { carried[connection] }

    func carries(_ connection: UInt32, _ session: LiveSession) {
        if changes != nil { carried.carries(connection, session.number) }
    }

    /// What is there of a connection's session: its number and over which transport.
    package func carrier(on connection: UInt32) -> (session: Int, transport: String)? {
        guard let number = carried[connection], directory.sessions.indices.contains(number - 1),
            let carrier = directory.sessions[number - 1].carrier, carrier.connection == connection
        else { return nil }
        return (number, carrier.transport.rawValue)
    }

    // MARK: Rules

    /// How often each rule has fired, by its name, since the rules were replaced last.
    package var firingCounts: [String: Int] { firings.counts }
}
