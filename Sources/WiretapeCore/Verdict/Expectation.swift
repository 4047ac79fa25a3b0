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
        /// After every reconnect the client asks again for what was open.
        case resubscribes
        /// On a connection the client says something at least so often, a keepalive where it has nothing else to say.
        case pings(every: UInt64)
        /// What a named real client does.
        case client(ClientPreset)
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

        func latest(_ delay: UInt64) -> UInt64 {
            let late = late ?? max(500_000_000, delay / 4)
            return delay.addingReportingOverflow(late).overflow ? .max : delay + late
        }
    }

    /// Growing delays. Times are nanoseconds.
    package struct Exponential: Hashable, Sendable {
        package var base: UInt64
        package var factor = 2.0
        package var cap = UInt64.max
        package var jitter = Jitter.none

        package enum Jitter: Hashable, Sendable {
            case none
            /// This part of the delay, up and down.
            case part(Double)
            /// Added: from the first to the second.
            case added(UInt64, UInt64)
        }

        package init(base: UInt64, factor: Double = 2, cap: UInt64 = .max, jitter: Jitter = .none) {
            self.base = base
            self.factor = factor
            self.cap = cap
            self.jitter = jitter
        }

        /// The shortest and the longest wait before retry `n`, counted from 1.
        func bounds(_ n: Int) -> (shortest: UInt64, longest: UInt64) {
            var delay = Double(base)
            for _ in 1..<max(1, min(n, 4_096)) where delay < Double(cap) { delay *= factor }
            let limit = Double(UInt64.max / 4)
            let capped = UInt64(max(0, min(delay, Double(cap), limit)))
            switch jitter {
            case .none: return (capped, capped)
            case .part(let part):
                let spread = UInt64(min(Double(capped) * part, limit))
                return (capped - min(capped, spread), capped + spread)
            case .added(let low, let high):
                return (capped + min(low, UInt64.max / 4), capped + min(high, UInt64.max / 4))
            }
        }
    }
}
