package import WiretapeAttempts
package import WiretapeFaults
package import WiretapePlayback
package import WiretapeReplay
package import WiretapeReport
internal import WiretapeRuntime
package import WiretapeWire

/// A run that the control API looks at and acts on: a replay, a recording, or a proxy that records nothing. Belongs to the thread of
/// the API's loop. What a kind of run does not have, it refuses with 409 and a sentence.
package protocol ControlledRun: AnyObject {
    var kind: ControlledRunKind { get }
    /// What happens in it.
    var journal: RunJournal { get }
    /// Where it is reached, and what else belongs into its status and into the `ready` event.
    var place: [JSONValue.Member] { get }
    /// The sessions that clients have begun. Costs little.
    var sessions: [ControlledSession] { get }
    /// Reads everything that clients have sent by now, then calls `done`. Call it before you judge the run.
    func settle(_ done: @escaping () -> Void)
    /// What the run has come to so far. Costs as much as the run has messages.
    func report() -> ReplayReport
    /// The same without secrets.
    func masked(_ text: String) -> String
    /// The name of a session on the tape.
    func name(ofSession number: Int) -> String?
    /// Whether its messages leave as somebody lets them; nil: the run has no steps.
    func isPaused(session: Int) -> Bool?
    /// The rules, and how often each has fired.
    var rules: (plan: FaultPlan, fired: [String: Int]) { get }
    /// - Parameter restarting: all counters begin at 0; else those of rules that stay go on.
    func setRules(_ plan: FaultPlan, restarting: Bool) throws(ControlError)
    var connections: [OpenConnection] { get }
    func act(_ act: LiveAct, on connection: ConnectionID) throws(ControlError)
    func step(_ order: StepOrder, session: Int) throws(ControlError)
    /// Nanoseconds since the run began, in the clients' time.
    var elapsed: UInt64 { get }
    /// Nil: the run has no clock of its own.
    var clock: ControlledClock? { get }
    func setClock(isManual: Bool) throws(ControlError)
    func advanceClock(by nanoseconds: UInt64) throws(ControlError)
    func expect(_ expectation: Expectation) throws(ControlError) -> [Judgement]
    /// Says something on the tape of the run, if there is one, and in the journal.
    func mark(_ text: String)
    /// Whether all that clients began is over, as far as the kind of run knows: nil, it does not.
    func finished() -> FinishedState
    /// Ends all connections; `done` is called when none is left and what was recorded is on the disk, or with why it is not.
    func stop(_ done: @escaping (_ problem: String?) -> Void)
}

/// A session that a client has begun: its number, which run of it, and whether it is played to its end (of live traffic: whether it ever
/// was connected).
package struct ControlledSession: Hashable, Sendable {
    package var session: Int
    package var run: Int
    package var isFinished: Bool

    /// `2`, or `2.3` for the third run of session 2.
    var id: String { run == 1 ? "\(session)" : "\(session).\(run)" }
}

package enum ControlledRunKind: String, Sendable { case replay, record, proxy }

/// What may leave of a session whose messages leave one by one.
package enum StepOrder: Sendable {
    case by(Int)
    case until(Selector)
    case pause
    case resume
}

/// The clock of the clients.
package struct ControlledClock: Sendable {
    package var isManual: Bool
    package var scale: Double
    /// Nanoseconds since the run began.
    package var elapsed: UInt64

    package init(isManual: Bool, scale: Double, elapsed: UInt64) {
        self.isManual = isManual
        self.scale = scale
        self.elapsed = elapsed
    }
}

package enum FinishedState: Sendable {
    case finished
    /// Not yet; it may be at that time even when nothing happens until then, in the loop's nanoseconds from now.
    case notYet(lookAgainIn: UInt64?)
    /// It will not be: why.
    case never(String)
}
