package import WiretapeWire

/// A policy that every client is held to: `delays(0s, 2s, 10s, 30s, early=50ms, late=1s)`.
package struct Expectation: Hashable, Sendable {
    /// As it was written.
    package var text: String
    package var policy: Policy
    package var tolerance = Tolerance()

    package enum Policy: Hashable, Sendable {
        /// The n-th retry since the last success comes so long after the end before it; none comes after the last.
        case delays([UInt64])
        /// The n-th retry comes after `base` × `factor`ⁿ⁻¹, at most `cap`, give or take the jitter.
        case exponential(Exponential)
        /// The n-th retry comes after `base` × n^`power`, at most `cap`, give or take the jitter.
        case polynomial(Polynomial)
        /// Every retry comes after so long, for ever.
        case constant(UInt64)
        /// A client that finds no server makes so many retries and no more.
        case givesUp(after: Int)
        /// In no span of `per` nanoseconds a session begins more than `max` attempts.
        case rate(max: Int, per: UInt64)
        /// No attempt comes before the time that an answer's `Retry-After` asked for.
        case honoursRetryAfter
        /// Transports are tried in this order.
        case transports([Transport])
        /// A connection that went silent is given up within so long.
        case detects(within: UInt64)
        /// After every reconnect the client asks again for what was open: what the protocol knows as a subscription or a
        /// stream, or what these names subscribe to.
        case resubscribes([Subscriber])
        /// What was acknowledged of these labels is not said again after a reconnect.
        case once([String])
        /// What was not acknowledged of these labels is said again after a reconnect.
        case keeps([String])
        /// What was not acknowledged of these labels is not said again after a reconnect.
        case drops([String])
        /// Clients send each of these requests so often.
        case asks([Asked], Times)
        /// A client never has two connections at a time.
        case single
        /// No attempt comes after an end of these kinds.
        case staysAway(after: [FinalEnd])
        /// On a connection the client says something at least so often, a keepalive where it has nothing else to say.
        case pings(every: UInt64)
        /// While connected, the client renews each credential before that credential expires.
        case refreshes
        /// Every recorded session that a client began is played to its end.
        case finished
        /// What a named real client does.
        case client(ClientPreset)
    }

    /// A message of the client that subscribes: `JoinGroup`, or with what hangs on it `Ticks->Tick`.
    package struct Subscriber: Hashable, Sendable {
        /// Its label, channel or type.
        package var name: String
        /// The label of pushes that come to those only who have said it on the same connection.
        package var pushes: String?

        package init(name: String, pushes: String? = nil) {
            self.name = name
            self.pushes = pushes
        }
    }

    /// How far an attempt may be off its time.
    package struct Tolerance: Hashable, Sendable {
        package var early: UInt64 = 50_000_000
        /// Nil: the larger of 500 ms and a quarter of the delay.
        package var late: UInt64?

        package init(early: UInt64 = 50_000_000, late: UInt64? = nil) {
            self.early = early
            self.late = late
        }

        func earliest(_ delay: UInt64) -> UInt64 { delay - min(delay, early) }

        package func latest(_ delay: UInt64) -> UInt64 {
            let late = late ?? max(500_000_000, delay / 4)
            return delay.addingReportingOverflow(late).overflow ? .max : delay + late
        }
    }
}
