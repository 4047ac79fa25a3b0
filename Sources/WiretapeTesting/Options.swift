internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeReplay
internal import WiretapeReport
internal import WiretapeWire

/// How a tape is played to the client of a test. What is not set is as `wiretape replay` has it without options; the meaning of
/// each is in `docs/replay.md`. Durations are in the time of the client: with a ``timeScale`` of 100 a second of it takes 10 ms.
public struct Options: Sendable {
    /// Rules that break things, in their order. They are checked against the tape before anybody can connect.
    public var faults: [Fault]
    /// What clients are held to at the end of the test.
    public var expect: [Policy]
    /// How fast recorded gaps pass.
    public var speed: Speed
    /// How many times faster than real time the clock of the client runs: for clients whose delays are injected. More than 0.
    public var timeScale: Double
    /// Whether the time of the client passes by itself, or only when the test moves it.
    public var clock: ClockKind
    /// Whether the server speaks `https` and `wss`, with a certificate of ``ReplayServer/certificateAuthority``.
    public var isSecure: Bool
    /// What a client gets that comes back to its session.
    public var onReconnect: OnReconnect
    /// What happens when a client does not say what is on the tape.
    public var onDivergence: Divergence
    /// The seed of all draws of rules; nil: a new one for each server, which its report tells.
    public var seed: UInt64?
    /// Which client messages count as those of the tape.
    public var match = Match.relaxed
    /// Parts of messages that take no part in that: `Send:/arguments/0/sentAt`.
    public var ignore: [String] = []
    /// Paths that are served from what was recorded at others: `/v2/chat=/chat`.
    public var routes: [String] = []
    /// What a client gets when no recorded session is left.
    public var whenExhausted = Exhausted.refuse
    /// Runs of the whole tape, one for each client. At least 1.
    public var clients = 1
    /// What a client hears again on each new connection.
    public var greeting = Greeting.auto
    /// How long only messages of the client may be awaited before they count as missing.
    public var patience = Duration.seconds(30)
    /// The longest recorded gap that is played; nil: any.
    public var idleCap: Duration?
    /// What negotiations offer at most, of `ws`, `sse`, `lp`, `stream`, `multipart` and `http`; empty: what was recorded.
    public var transports: [String] = []
    /// Whether a run in which nobody played anything may pass.
    public var allowsUnplayed = false

    /// - Parameters:
    ///   - faults: rules that break things.
    ///   - expect: what clients are held to at the end of the test.
    ///   - speed: how fast recorded gaps pass.
    ///   - timeScale: how many times faster than real time the clock of the client runs.
    ///   - clock: whether the time of the client passes by itself.
    ///   - isSecure: whether the server speaks TLS.
    ///   - onReconnect: what a client gets that comes back to its session.
    ///   - onDivergence: what happens when a client does not say what is on the tape.
    ///   - seed: of all draws of rules.
    public init(
        faults: [Fault] = [], expect: [Policy] = [], speed: Speed = .recorded, timeScale: Double = 1,
        clock: ClockKind = .running, isSecure: Bool = false, onReconnect: OnReconnect = .resume,
        onDivergence: Divergence = .fail, seed: UInt64? = nil
    ) {
        self.faults = faults
        self.expect = expect
        self.speed = speed
        self.timeScale = timeScale
        self.clock = clock
        self.isSecure = isSecure
        self.onReconnect = onReconnect
        self.onDivergence = onDivergence
        self.seed = seed
    }

    /// How fast recorded gaps pass.
    public enum Speed: Hashable, Sendable {
        /// As they were recorded.
        case recorded
        /// So many times faster; more than 0.
        case factor(Double)
        /// Nothing waits for time.
        case instant
        /// Nothing leaves but what ``ReplayServer/advance(by:)`` and ``ReplayServer/advance(until:)`` allow.
        case step
    }

    /// Whether the time of the client passes by itself.
    public enum ClockKind: Hashable, Sendable {
        /// It does, ``Options/timeScale`` times as fast as real time.
        case running
        /// It stands still but for ``ClientClock/advance(by:)``.
        case manual
    }

    /// Which client messages count as those of the tape.
    public enum Match: Hashable, Sendable {
        /// In any order that the protocol allows.
        case relaxed
        /// In the recorded order.
        case strict
        /// Whatever comes is taken.
        case off
    }

    /// What happens when a client does not say what is on the tape.
    public enum Divergence: Hashable, Sendable {
        /// The session ends, and the test fails.
        case fail
        /// The session goes on, and the test fails.
        case warn
        /// The session goes on.
        case ignore
        /// The session falls silent, and the test fails.
        case stall
    }

    /// What a client gets that comes back to its session.
    public enum OnReconnect: Hashable, Sendable {
        /// The session goes on where it was interrupted.
        case resume
        /// As `resume`, but the next pushes are gone: so many.
        case lose(Int)
        /// As `resume`, but the last pushes are sent again: so many.
        case rewind(Int)
        /// Pushes that were due meanwhile are lost, but for what the protocol itself sends again.
        case live
        /// The session begins again.
        case restart
        /// The next recorded session.
        case next
        /// 404, or a close.
        case refuse
    }

    /// What a client hears again on each new connection.
    public enum Greeting: Hashable, Sendable {
        /// What began every connection on the tape, else what was said within 250 ms and before the client's first word.
        case auto
        /// Nothing.
        case none
        /// Messages with these labels.
        case named([String])
    }

    /// What a client gets when no recorded session is left.
    public enum Exhausted: Hashable, Sendable {
        /// It is sent away, which fails the test.
        case refuse
        /// All of them once more.
        case `repeat`
        /// The last one once more.
        case last
    }

    /// The same as the engine wants it.
    func replay() throws(TapeFailure) -> ReplayOptions {
        var options = ReplayOptions()
        options.ending.until = .finished
        options.clock.isManual = clock == .manual
        switch speed {
        case .recorded: break
        case .factor(let factor):
            guard factor > 0, factor.isFinite else {
                throw TapeFailure("speed: the factor is more than 0, not \(factor)")
            }
            options.speed = .factor(factor)
        case .instant: options.speed = .instant
        case .step: options.speed = .step
        }
        guard timeScale > 0, timeScale.isFinite else { throw TapeFailure("timeScale is more than 0, not \(timeScale)") }
        options.clock.scale = timeScale
        switch match {
        case .relaxed: options.match = .relaxed
        case .strict: options.match = .strict
        case .off: options.match = .off
        }
        switch onDivergence {
        case .fail: options.onDivergence = .fail
        case .warn: options.onDivergence = .warn
        case .ignore: options.onDivergence = .ignore
        case .stall: options.onDivergence = .stall
        }
        switch onReconnect {
        case .resume: options.onReconnect = .resume
        case .lose(let count): options.onReconnect = .lose(count)
        case .rewind(let count): options.onReconnect = .rewind(count)
        case .live: options.onReconnect = .live
        case .restart: options.onReconnect = .restart
        case .next: options.onReconnect = .next
        case .refuse: options.onReconnect = .refuse
        }
        switch whenExhausted {
        case .refuse: options.whenExhausted = .refuse
        case .repeat: options.whenExhausted = .repeat
        case .last: options.whenExhausted = .last
        }
        guard clients > 0 else { throw TapeFailure("clients is at least 1, not \(clients)") }
        options.clients = clients
        options.patience = patience.asNanoseconds
        options.clock.idleCap = idleCap.map(\.asNanoseconds)
        options.ending.allowsUnplayed = allowsUnplayed
        do {
            for text in ignore { options.ignore.append(try IgnoreRule(parsing: text)) }
            for text in routes { options.routing.routes.append(try ReplayOptions.Route(parsing: text)) }
            if !transports.isEmpty {
                options.transports = try ReplayOptions.transports(parsing: transports.joined(separator: ","))
            }
            switch greeting {
            case .auto: break
            case .none: options.greeting = try GreetingOption(parsing: "none")
            case .named(let labels): options.greeting = try GreetingOption(parsing: labels.joined(separator: ","))
            }
            for policy in expect { options.expectations.append(try policy.parsed()) }
            try options.check(hasUpstream: false)
        } catch {
            throw TapeFailure("\(error)")
        }
        return options
    }
}

extension Duration {
    /// 0 for what is negative; about 292 years at most.
    var asNanoseconds: UInt64 {
        let (seconds, rest) = components
        guard seconds >= 0, rest >= 0 else { return 0 }
        let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? UInt64(Int64.max) : min(whole + UInt64(rest) / 1_000_000_000, UInt64(Int64.max))
    }
}
