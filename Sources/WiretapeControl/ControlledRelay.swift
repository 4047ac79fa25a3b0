package import WiretapeAttempts
package import WiretapeBytes
package import WiretapeFaults
internal import WiretapeIntercept
package import WiretapePlayback
package import WiretapeProxy
package import WiretapeRecorder
package import WiretapeReplay
package import WiretapeReport
package import WiretapeRuntime
package import WiretapeWire

/// A recording or a proxy under control: its sessions are those that pass. It has no steps and no clock, and no end of its own.
package final class ControlledRelay: ControlledRun {
    package let kind: ControlledRunKind
    package let journal: RunJournal
    package var place: [JSONValue.Member]
    /// What clients are held to at the end.
    package private(set) var expectations: [Expectation]
    private let faults: FaultControl
    private let loop: any Loop
    private let started: WireInstant
    /// The last batch's news from the first fault or end on: what was said before them may come with this one.
    private var waiting: [RunNews] = []
    private let tap: () -> Tap?
    private let maskText: (String, [String]) -> String
    private let end: (@escaping (String?) -> Void) -> Void

    /// - Parameters:
    ///   - tap: says what stands on the tape.
    ///   - masked: removes secrets from a text, but not from the given texts of the user.
    ///   - end: ends the run.
    package init(
        _ kind: ControlledRunKind, _ faults: FaultControl, on loop: any Loop, started: WireInstant, journal: RunJournal,
        place: [JSONValue.Member] = [], expectations: [Expectation], tap: @escaping () -> Tap?,
        masked: @escaping (String, [String]) -> String, end: @escaping (@escaping (String?) -> Void) -> Void
    ) {
        self.kind = kind
        self.faults = faults
        self.loop = loop
        self.started = started
        self.journal = journal
        self.place = place
        self.expectations = expectations
        self.tap = tap
        maskText = masked
        self.end = end
        journal.whose = { [faults = faults.faults] in faults.session(on: $0).map { ($0, 1) } }
    }

    /// What was recorded up to here is told: attempts before the messages that came with them, ends behind.
    package func tellNews() {
        let news = faults.faults.takeNews(at: loop.now)
        var told = waiting
        let first = news.firstIndex { one in
            switch one.what {
            case .fault, .disconnected, .divergence, .finished: true
            case .attempt, .connected: false
            }
        }
        told += news[..<(first ?? news.count)]
        waiting = Array(news[(first ?? news.count)...])
        if !told.isEmpty { journal.happened(told) }
    }

    package var sessions: [ControlledSession] {
        faults.faults.begunSessions.map { ControlledSession(session: $0.session, run: 1, isFinished: $0.wasConnected) }
    }

    package func settle(_ done: @escaping () -> Void) { RelaySettling.settle(loop, done) }

    package func report() -> ReplayReport { faults.faults.report(expectations, at: loop.now) }

    package func masked(_ text: String) -> String {
        maskText(text, faults.faults.ruleNames + expectations.map(\.text))
    }

    package func name(ofSession number: Int) -> String? { nil }

    package func isPaused(session: Int) -> Bool? { nil }

    package var rules: (plan: FaultPlan, fired: [String: Int]) {
        (FaultPlan(seed: faults.faults.seed, rules: faults.faults.plan.rules), faults.faults.firingCounts)
    }

    package func setRules(_ plan: FaultPlan, restarting: Bool) throws(ControlError) {
        if let problem = faults.problemOfTLS(plan) { throw ControlError(422, problem.description) }
        faults.changeRules(plan, restarting: restarting)
    }

    package var connections: [OpenConnection] { faults.openConnections }

    package func act(_ act: LiveAct, on connection: ConnectionID) throws(ControlError) {
        switch faults.act(act, on: connection) {
        case .done: return
        case .unknown: throw .unknown("there is no open connection \(connection)")
        case .needsSession: throw .conflict("connection \(connection) carries no session")
        case .impossible(let why): throw .conflict("connection \(connection): \(why)")
        }
    }

    package func step(_ order: StepOrder, session: Int) throws(ControlError) {
        throw .conflict("only a replay has steps: what passes here is the server's")
    }

    package var elapsed: UInt64 { loop.now.since(started) }

    package var clock: ControlledClock? { nil }

    package func setClock(isManual: Bool) throws(ControlError) { throw .conflict("only a replay has a clock") }

    package func advanceClock(by nanoseconds: UInt64) throws(ControlError) {
        throw .conflict("only a replay has a clock")
    }

    package func expect(_ expectation: Expectation) throws(ControlError) -> [Judgement] {
        if !expectations.contains(expectation) { expectations.append(expectation) }
        return report().expectations.filter { $0.policy == expectation.text }
    }

    package func mark(_ text: String) {
        let bytes = Array(text.utf8)
        tap()?.record(.mark, 0, at: loop.now, bytes.span)
        journal.mark(text, at: elapsed)
    }

    package func finished() -> FinishedState {
        .never("a run with a real server has no end of its own: wait for an event or a message")
    }

    package func stop(_ done: @escaping (String?) -> Void) { end(done) }
}
