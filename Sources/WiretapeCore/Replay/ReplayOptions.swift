/// How a tape is replayed. The meaning of each is in `docs/replay.md`; durations are nanoseconds of the client's time.
package struct ReplayOptions: Hashable, Sendable {
    package var speed = Speed.factor(1)
    package var match = Match.relaxed
    package var ignore: [IgnoreRule] = []
    package var onDivergence = OnDivergence.fail
    package var onReconnect = OnReconnect.resume
    /// How long only client messages may be awaited.
    package var patience: UInt64 = 30_000_000_000
    /// How long a reconnected client must be quiet before its unanswered requests count as given up.
    package var grace: UInt64 = 500_000_000
    package var keepalive = Keepalive.auto
    package var whenExhausted = WhenExhausted.refuse
    package var until = Until.signal
    package var routes: [Route] = []
    package var expectations: [Expectation] = []

    package init() {}

    /// The divisor of recorded gaps.
    package enum Speed: Hashable, Sendable {
        /// More than 0; 2 is twice as fast as recorded.
        case factor(Double)
        case instant
    }

    package enum Match: Hashable, Sendable { case relaxed }

    package enum OnDivergence: Hashable, Sendable { case fail }

    package enum OnReconnect: Hashable, Sendable { case resume }

    package enum WhenExhausted: Hashable, Sendable { case refuse }

    package enum Keepalive: Hashable, Sendable {
        /// The protocol's own schedule.
        case auto
        case off
        case every(UInt64)
    }

    package enum Until: Hashable, Sendable {
        case signal, finished
        /// Nothing from any client for so long.
        case idle(UInt64)
    }

    /// `--route '/v2/hub=/hub'`: requests for `from` are served from what was recorded at `to`.
    package struct Route: Hashable, Sendable {
        package var from: String
        package var to: String

        package init(from: String, to: String) {
            self.from = from
            self.to = to
        }
    }
}
