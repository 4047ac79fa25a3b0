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
        allow(session, at: now, into: &out) { session in
            if case .steps(let left) = session.allowance {
                session.allow(.steps(min(left, 1 << 30) + min(max(0, count), 1 << 30)))
            } else {
                session.allow(.steps(min(max(0, count), 1 << 30)))
            }
        }
    }

    /// Under `--speed step`: lets messages leave up to the first that the selector means, and that one.
    package mutating func step(
        until selector: Selector, session: Int? = nil, at now: WireInstant, into out: inout [ReplayAction]
    ) {
        allow(session, at: now, into: &out) { $0.allow(.until(selector)) }
    }

    /// From now on nothing but the protocol's own leaves, and nobody is hurried, until ``step(_:session:at:into:)`` or
    /// ``resume(session:at:into:)``.
    package mutating func pause(session: Int? = nil, at now: WireInstant, into out: inout [ReplayAction]) {
        allow(session, at: now, into: &out) { $0.allow(.steps(0)) }
    }

    /// From now on everything leaves when it is due, under `--speed step` too. What was due meanwhile leaves now; what comes
    /// after it keeps its distance.
    package mutating func resume(session: Int? = nil, at now: WireInstant, into out: inout [ReplayAction]) {
        allow(session, at: now, into: &out) { $0.allow(.all) }
    }

    /// Whether messages of the session leave only as somebody lets them. Nil: nobody has begun it.
    package func isStepped(session: Int) -> Bool? {
        runs.last { $0.recorded.number == session }.map { $0.isStepped(options) }
    }

    private mutating func allow(
        _ number: Int?, at now: WireInstant, into out: inout [ReplayAction], _ change: (SessionRun) -> Void
    ) {
        clock.reach(now)
        for session in runs where number == nil || session.recorded.number == number {
            change(session)
            if session.isConnected { advance(session, into: &out) }
        }
    }
}
