package import WiretapeAttempts
internal import WiretapeBytes
package import WiretapeFaults
package import WiretapePlayback
package import WiretapeProtocol
internal import WiretapeProxy
package import WiretapeReplay
package import WiretapeReplayServer
package import WiretapeReport
package import WiretapeRuntime
package import WiretapeWire

/// A replay under control. Whoever makes it has given its server's ``WiretapeReplayServer/ReplayService/observe`` and
/// ``WiretapeReplayServer/ReplayService/news`` to its journal.
package final class ControlledReplay: ControlledRun {
    package let kind = ControlledRunKind.replay
    package let journal: RunJournal
    package var place: [JSONValue.Member]
    private let server: ReplayService
    private let loop: any Loop
    /// What is on the tape, once it was read: rules that could never fire on it are refused.
    private let tape: () -> (sessions: [RecordedSession], name: String)?
    /// When something passed last.
    private var latest: WireInstant

    package init(
        _ server: ReplayService, on loop: any Loop, journal: RunJournal, place: [JSONValue.Member] = [],
        tape: @escaping () -> (sessions: [RecordedSession], name: String)?
    ) {
        self.server = server
        self.loop = loop
        self.journal = journal
        self.place = place
        self.tape = tape
        latest = loop.now
    }

    /// Something has passed between a client and the replay.
    package func noticed() { latest = loop.now }

    package var sessions: [ControlledSession] {
        let begun = server.consult { engine, _, _ in engine.begunSessions } ?? []
        return begun.map { ControlledSession(session: $0.session, run: $0.run, isFinished: $0.isFinished) }
    }

    package func report() -> ReplayReport {
        server.consult { engine, now, _ in engine.soFar(at: now) } ?? .empty(seed: 0)
    }

    package func masked(_ text: String) -> String { server.masked(text) }

    package func name(ofSession number: Int) -> String? { tape()?.sessions.first { $0.number == number }?.name }

    package func isPaused(session: Int) -> Bool? {
        server.consult { engine, _, _ in engine.isStepped(session: session) } ?? nil
    }

    package var rules: (plan: FaultPlan, fired: [String: Int]) {
        server.consult { engine, _, _ in
            (FaultPlan(seed: engine.seed, rules: engine.faults.rules), engine.firingCounts)
        } ?? (FaultPlan(), [:])
    }

    package func setRules(_ plan: FaultPlan, restarting: Bool) throws(ControlError) {
        if let problem = plan.problemsInReplay.first ?? server.problemOfTLS(plan) {
            throw ControlError(422, problem.description)
        }
        guard let tape = tape() else { throw ControlReplay.isReading }
        let options = server.consult { engine, _, _ in engine.options }
        guard let options else { throw ControlReplay.isReading }
        let hopeless = plan.hopeless(in: tape.sessions, tapeName: tape.name, options: options).filter { !$0.optional }
        if let first = hopeless.first {
            let text = first.text
            throw ControlError(422, text.hasPrefix("wiretape: ") ? String(text.dropFirst(10)) : text)
        }
        _ = server.consult { engine, now, _ in
            if restarting { engine.replaceFaults(plan, at: now) } else { engine.changeFaults(plan, at: now) }
        }
    }

    package var connections: [OpenConnection] {
        server.consult { engine, _, _ in engine.openConnections } ?? []
    }

    package func act(_ act: LiveAct, on connection: ConnectionID) throws(ControlError) {
        let outcome = server.consult { engine, now, out in engine.act(act, on: connection, at: now, into: &out) }
        guard let outcome else { throw ControlReplay.isReading }
        switch outcome {
        case .done: return
        case .unknown: throw .unknown("there is no open connection \(connection)")
        case .needsSession: throw .conflict("connection \(connection) carries no session")
        case .impossible(let why): throw .conflict("connection \(connection): \(why)")
        }
    }

    package func step(_ order: StepOrder, session: Int) throws(ControlError) {
        let isStepped = server.consult { engine, _, _ in engine.isStepped(session: session) } ?? nil
        guard let isStepped else { throw .conflict("no client has begun session \(session)") }
        switch order {
        case .by, .until:
            guard isStepped else {
                throw .conflict("session \(session) is not paused: 'pause' it, or replay with --speed step")
            }
        case .pause, .resume: break
        }
        _ = server.consult { engine, now, out in
            switch order {
            case .by(let count): engine.step(count, session: session, at: now, into: &out)
            case .until(let selector): engine.step(until: selector, session: session, at: now, into: &out)
            case .pause: engine.pause(session: session, at: now, into: &out)
            case .resume: engine.resume(session: session, at: now, into: &out)
            }
        }
    }

    package var elapsed: UInt64 { server.elapsed }

    package var clock: ControlledClock? {
        ControlledClock(isManual: server.clock.isManual, scale: server.clock.scale, elapsed: server.elapsed)
    }

    package func setClock(isManual: Bool) { server.setClock(isManual: isManual) }

    package func advanceClock(by nanoseconds: UInt64) throws(ControlError) {
        guard server.clock.isManual else {
            throw .conflict("the clock runs by itself: {\"mode\":\"manual\"} stops it")
        }
        server.advance(by: nanoseconds)
    }

    package func expect(_ expectation: Expectation) throws(ControlError) -> [Judgement] {
        let judged = server.consult { engine, now, _ in engine.expect(expectation, at: now) }
        guard let judged else { throw ControlReplay.isReading }
        guard !judged.isEmpty else {
            throw .conflict(
                "\(expectation.text) has to be known before the first client comes: give it to the replay with --expect"
            )
        }
        return judged
    }

    package func mark(_ text: String) {
        server.mark(text)
        journal.mark(text, at: server.elapsed)
    }

    package func finished() -> FinishedState {
        let played = server.consult { engine, now, out -> (isFinished: Bool, isPlayed: Bool, isStrict: Bool) in
            engine.wake(at: now, into: &out)
            return (engine.isFinished, engine.isPlayed, engine.options.onDivergence == .fail)
        }
        guard let played else { return .notYet(lookAgainIn: Self.quietTime) }
        if played.isStrict, let text = journal.firstDivergence { return .never(text) }
        if played.isFinished { return .finished }
        // A clock that is moved by hand has no quiet time: it is quiet for some real time instead.
        guard server.clock.isManual, played.isPlayed else {
            return .notYet(lookAgainIn: played.isPlayed ? Self.look : nil)
        }
        return loop.now.since(latest) >= Self.quietTime ? .finished : .notYet(lookAgainIn: Self.quietTime)
    }

    private static let quietTime: UInt64 = 50_000_000
    private static let look: UInt64 = 20_000_000

    package func settle(_ done: @escaping () -> Void) { server.settle(done) }

    package func stop(_ done: @escaping (String?) -> Void) { server.stop(grace: 200_000_000) { done(nil) } }
}

enum ControlReplay {
    static let isReading = ControlError(409, "the tape is still being read")
}
