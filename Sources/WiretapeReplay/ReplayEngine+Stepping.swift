package import WiretapeBytes
package import WiretapeFaults
internal import WiretapeProtocol

extension ReplayEngine {
    /// Under `--speed step`: lets `count` more messages of the server leave, each as soon as the client messages that it
    /// waits for are there. Adds to what was allowed before and is not used up.
    /// - Parameter session: the number of a recorded session; nil: every claimed one.
    package mutating func step(
        _ count: Int, session: Int? = nil, at now: WireInstant, into out: inout [ReplayAction]
    ) {
        allow(session, at: now, into: &out) { run in
            if case .steps(let left) = run.allowance {
                run.allowance = .steps(left.addingReportingOverflow(max(0, count)).partialValue)
            } else {
                run.allowance = .steps(max(0, count))
            }
        }
    }

    /// Under `--speed step`: lets messages leave up to the first that the selector means, and that one.
    package mutating func step(
        until selector: Selector, session: Int? = nil, at now: WireInstant, into out: inout [ReplayAction]
    ) {
        allow(session, at: now, into: &out) { $0.allowance = .until(selector) }
    }

    private mutating func allow(
        _ session: Int?, at now: WireInstant, into out: inout [ReplayAction], _ change: (SessionRun) -> Void
    ) {
        self.now = max(self.now, now)
        for r in runs.indices where session == nil || runs[r].session.number == session {
            change(runs[r])
            if runs[r].isConnected { advance(r, into: &out) }
        }
    }
}
