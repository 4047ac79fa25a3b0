package import WiretapeAttempts
package import WiretapeProtocol
package import WiretapeReport
package import WiretapeWire

/// How a tape is replayed. The meaning of each is in `docs/replay.md`; durations are nanoseconds of the client's time.
package struct ReplayOptions: Hashable, Sendable {
    package var speed = Speed.factor(1)
    package var match = Match.relaxed
    package var ignore: [IgnoreRule] = []
    package var onDivergence = OnDivergence.fail
    package var onReconnect = OnReconnect.resume
    package var greeting = GreetingOption.auto
    /// How long only client messages may be awaited.
    package var patience: UInt64 = 30_000_000_000
    /// How long a client must be quiet when only a push that is held for its next message could move it, and how long a
    /// reconnected one before its unanswered requests count as given up.
    package var grace: UInt64 = 500_000_000
    package var keepalive = Keepalive.auto
    package var serverLimits = ServerLimitsOption.protocol
    package var whenExhausted = WhenExhausted.refuse
    /// Runs of the whole tape, one per client identity.
    package var clients = 1
    /// What negotiations offer at most; the protocol and the session narrow it further.
    package var transports = Transport.allCases
    package var clock = Clock()
    package var ids = IDs()
    package var causality = Causality.auto
    package var deflate = Deflate.tape
    package var routing = Routing()
    package var ending = Ending()
    package var expectations: [Expectation] = []
    /// What the policies name as subscriptions.
    package var subscribers: Subscribers { Subscribers(expectations) }
    /// The policies as the user wrote them.
    package var policyTexts: [String] { expectations.map(\.text) }
    package init() {}

    /// The clients' time.
    package struct Clock: Hashable, Sendable {
        /// How many times faster it runs than ours. Every duration but recorded gaps is in it.
        package var scale: Double = 1
        /// It is handed in and moves only when it is told to: what depends on time is the same in every run.
        package var isManual = false
        /// The longest recorded gap that is played, nil: any.
        package var idleCap: UInt64?
    }

    /// What the server makes up.
    package struct IDs: Hashable, Sendable {
        /// Server ids are made anew also where the recorded ones could be kept.
        package var areFresh = false
        /// Secrets of applications by their public key.
        package var secrets: [String: String] = [:]
    }

    /// When a run is over, and what it must have seen.
    package struct Ending: Hashable, Sendable {
        package var until = Until.signal
        /// A run in which nobody plays anything may pass.
        package var allowsUnplayed = false
    }

    /// Which requests get what.
    package struct Routing: Hashable, Sendable {
        package var routes: [Route] = []
        /// Names of sessions for this listener (`--session alice,bob`); empty: order of arrival.
        package var names: [String] = []
        package var onMiss = OnMiss.fail
    }

    /// What codecs are told of it.
    var codecSettings: CodecSettings {
        var settings = CodecSettings()
        if case .every(let every) = keepalive { settings.keepalive = every }
        settings.secrets = ids.secrets
        return settings
    }

    /// The divisor of recorded gaps.
    package enum Speed: Hashable, Sendable {
        /// More than 0; 2 is twice as fast as recorded.
        case factor(Double)
        case instant
        /// Nothing leaves but what ``ReplayEngine`` is told to advance by.
        case step
    }

    package enum Match: Hashable, Sendable { case relaxed, strict, off }

    package enum OnReconnect: Hashable, Sendable {
        case resume
        /// As `resume`, but the next n pushes are gone.
        case lose(Int)
        /// As `resume`, but the last n pushes are sent again.
        case rewind(Int)
        /// Pushes due during the absence are lost, except what the protocol itself resends.
        case live
        /// From the first message · the next recorded session · 404 or a close.
        case restart, next, refuse
    }

    package enum WhenExhausted: Hashable, Sendable { case refuse, `repeat`, last }

    /// What a request gets that is not on the tape.
    package enum OnMiss: Hashable, Sendable {
        case fail
        /// To `--upstream`.
        case passthrough
        /// As `passthrough`, through a recorder: what the tape lacks comes onto it. Of sessions that are all taken, and of requests with
        /// other contents than the recorded ones, the tape lacks this one.
        case record
        case status(Int)
    }

    package enum Causality: Hashable, Sendable {
        /// A message also waits for other connections, as long as the recorded client took and for the grace.
        case auto
        case session
        /// A message also waits for other connections until patience ends.
        case tape
    }

    /// Whether WebSockets are compressed that were so on the tape.
    package enum Deflate: Hashable, Sendable { case tape, off }

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

    /// `--route '/v2/hub=/hub'`: requests for `from`, and for what is below it, are served from what was recorded at `to`.
    package struct Route: Hashable, Sendable {
        package var from: String
        package var to: String

        package init(from: String, to: String) {
            self.from = from
            self.to = to
        }

        /// Whether the path is `from` or stands below it.
        func covers(_ path: String) -> Bool {
            path == from || path.hasPrefix(from.hasSuffix("/") ? from : from + "/")
        }

        /// The recorded path of one that is covered.
        func applied(to path: String) -> String {
            let rest = path.dropFirst(from.count).drop { $0 == "/" }
            guard !rest.isEmpty else { return to }
            return to.hasSuffix("/") ? to + rest : "\(to)/\(rest)"
        }
    }
}
