internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeNet
internal import WiretapeProtocol
internal import WiretapeProxy
internal import WiretapeReplay
internal import WiretapeReplayServer
internal import WiretapeReport
internal import WiretapeRuntime
internal import WiretapeSystem
internal import WiretapeTLS
internal import WiretapeWire

/// The server's part of a tape, played to the client of one test on a free port of 127.0.0.1. All servers of a process live on one
/// thread of their own and share the tapes that they have read, so a test has its server within milliseconds, and any number
/// of tests run beside each other.
///
/// A test gets one from the trait ``Testing/Trait/tape(_:upstream:faults:expect:speed:timeScale:options:filePath:)``, from
/// ``withTape(_:upstream:options:isolation:filePath:fileID:line:_:)``, in an `XCTestCase` from `wiretape(_:)`, or from ``start(tape:upstream:options:filePath:)``.
public final class ReplayServer: Sendable {
    /// The server of the test that runs, under the trait. Take it once, at the beginning: tasks that are not children of the test do
    /// not see it.
    @TaskLocal public static var current: ReplayServer?

    /// Where the first listener is: `http://127.0.0.1:41234`.
    public let url: String
    /// The same with path and stable query of the tape's first session: `http://127.0.0.1:41234/chat`.
    public let endpoint: String
    /// The same for clients that want a `ws` or `wss` address.
    public let webSocketEndpoint: String
    /// The addresses of all listeners by name, of a tape with several upstreams; else `main`.
    public let urls: [String: String]
    /// The seed of all draws of its rules: with the same one they fall alike.
    public let seed: UInt64
    /// Whether this run records the tape instead of playing it, since `WIRETAPE_RECORD_MODE` said so: without rules, and policies are not
    /// judged.
    public var isRecording: Bool { recording != nil }
    /// The time of the client under test, which a client can be given to sleep by.
    public let clock: ClientClock

    let thread: LoopThread
    let number: Int
    let sink: IssueSink
    let tape: ShelvedTape
    let options: ReplayOptions
    let recording: TapeInTheMaking?
    /// Where its report goes; nil: nobody wants one.
    private let place: ReportPlace?
    /// Policies that somebody expected in a test, where, and whether that test was told already.
    let expected = Gate<[(text: String, place: CallPlace, isTold: Bool)]>([])
    private let outcome = Gate<RunOutcome?>(nil)

    /// Plays a tape until ``stop()``. For suites that cannot use scopes: whoever starts a server has to stop it.
    /// - Parameters:
    ///   - tape: a path; one that is not absolute is looked for in the folder of the calling file and those above it as far as
    ///     the package, and in the folder of the variable `WIRETAPE_RECORDINGS`.
    ///   - upstream: the server that is recorded when the variable `WIRETAPE_RECORD_MODE` is `once` and there is no tape, or `all`.
    ///   - options: how it is played.
    ///   - filePath: the calling file.
    /// - Throws: ``TapeFailure`` when there is no such tape (with the command that makes it), when it is damaged, or when a rule
    ///   or policy is none or cannot fire on that tape.
    public static func start(
        tape: String, upstream: TapeUpstream? = nil, options: Options = Options(), filePath: String = #filePath
    ) async throws -> ReplayServer {
        try await start(tape: tape, upstream: upstream, options: options, filePath: filePath, sink: .current)
    }

    /// - Parameters:
    ///   - mode: nil: as the environment has it.
    ///   - reports: the folder that gets its report; nil: nobody wants one.
    package static func start(
        tape path: String, upstream: TapeUpstream?, options: Options, filePath: String, sink: IssueSink,
        mode: RecordMode? = nil, reports: String? = ReportPlace.folder
    ) async throws -> ReplayServer {
        let replay = try options.replay()
        if let upstream {
            let mode = try mode ?? RecordMode.current()
            let known = try? TapePlace.find(path, from: filePath)
            if mode == .all || mode == .once && known == nil {
                let path = known ?? TapePlace.home(of: path, from: filePath)
                return try await record(path, upstream, force: mode == .all, options, replay, sink)
            }
        }
        let path = try TapePlace.find(path, from: filePath)
        let plan = try Fault.plan(options.faults, isSecure: options.isSecure)
        let tape = try TapeShelf.tape(at: path)
        try check(plan, against: tape, replay)
        // JSON readers keep 53 bits of a number.
        let seed = options.seed ?? UInt64.random(in: 0..<1 << 53)
        let door = options.isSecure ? try TestAuthority.door() : nil
        let number = SharedLoop.number()
        let place = reports.map { ReportPlace($0, tape.name, number) }
        let thread = try SharedLoop.thread()
        let listeners: [(name: String, address: Address)]
        do {
            listeners = try await thread.run { loop in
                var engine = ReplayEngine(
                    sessions: tape.sessions, exchanges: tape.exchanges, upstreams: tape.upstreams, tapeName: tape.name,
                    options: replay, faults: plan, seed: seed)
                engine.tellsTape = true
                let hosted = HostedReplay(engine, replay, on: loop)
                if let place { hosted.record(to: place, of: tape.name, tape.upstreams) }
                SharedLoop.Tenants.on(loop).replays[number] = hosted
                let names: [String?] = tape.upstreams.names.isEmpty ? [nil] : tape.upstreams.names.map(Optional.some)
                return try names.map { name in
                    let any = Address(host: "127.0.0.1", port: 0)
                    return (name ?? "main", try hosted.server.listen(on: any, upstream: name, door: door))
                }
            }
        } catch {
            thread.post { loop in SharedLoop.Tenants.on(loop).replays.removeValue(forKey: number)?.stop {} }
            throw TapeFailure("\(error)")
        }
        return ReplayServer(
            thread, number, sink, tape, replay, seed, listeners.map { ($0.name, $0.address.description) },
            isSecure: options.isSecure, place: place)
    }

    private static func record(
        _ path: String, _ upstream: TapeUpstream, force: Bool, _ options: Options, _ replay: ReplayOptions,
        _ sink: IssueSink
    ) async throws -> ReplayServer {
        let (upstream, rest) = try upstream.resolved()
        let door = options.isSecure ? try TestAuthority.door() : nil
        let number = SharedLoop.number()
        let thread = try SharedLoop.thread()
        let made: TapeInTheMaking
        let address: Address
        do {
            made = try TapeInTheMaking(path: path, of: upstream, force: force)
            address = try await thread.run { loop in
                let relays = made.relays(to: upstream, on: loop)
                SharedLoop.Tenants.on(loop).recordings[number] = relays
                let any = Address(host: "127.0.0.1", port: 0)
                return try relays.listen(on: [any], doors: [door], reusePort: false)[0]
            }
        } catch {
            throw TapeFailure("\(error)")
        }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let tape = ShelvedTape(name: name, sessions: [], exchanges: [], upstreams: Upstreams(), size: 0)
        return ReplayServer(
            thread, number, sink, tape, replay, 0, [("main", address.description)], isSecure: options.isSecure,
            place: nil, path: rest, recording: made)
    }

    private init(
        _ thread: LoopThread, _ number: Int, _ sink: IssueSink, _ tape: ShelvedTape, _ options: ReplayOptions,
        _ seed: UInt64,
        _ listeners: [(name: String, address: String)], isSecure: Bool, place: ReportPlace?,
        path: String? = nil, recording: TapeInTheMaking? = nil
    ) {
        self.thread = thread
        self.number = number
        self.sink = sink
        self.tape = tape
        self.options = options
        self.seed = seed
        self.recording = recording
        self.place = place
        let scheme = isSecure ? "s://" : "://"
        let first = listeners.first
        let home = first?.name == "main" ? nil : first?.name
        let session = tape.sessions.first { home == nil || tape.upstreams.home(of: $0.upstream) == home }
        let rest = (first?.address ?? "") + (path ?? session?.endpoint ?? "")
        url = "http" + scheme + (first?.address ?? "")
        endpoint = "http" + scheme + rest
        webSocketEndpoint = "ws" + scheme + rest
        urls = Dictionary(listeners.map { ($0.name, "http" + scheme + $0.address) }) { first, _ in first }
        clock = ClientClock(scale: options.clock.scale, isManual: options.clock.isManual)
        clock.attach { [thread, number] nanoseconds in
            try await thread.run { loop in
                SharedLoop.Tenants.on(loop).replays[number]?.server.advance(by: nanoseconds)
            }
        }
    }

    deinit {
        let (number, recording) = (number, recording)
        thread.post { loop in
            let tenants = SharedLoop.Tenants.on(loop)
            // Stopped already, or never: then what was recorded is written all the same.
            tenants.replays[number]?.stop { tenants.replays[number] = nil }
            tenants.recordings[number]?.stop {
                tenants.recordings[number] = nil
                _ = recording?.finish()
            }
        }
    }

    private static func check(_ plan: FaultPlan, against tape: ShelvedTape, _ options: ReplayOptions)
        throws(TapeFailure)
    {
        let hopeless = plan.hopeless(in: tape.sessions, tapeName: tape.name, options: options).filter { !$0.optional }
        guard hopeless.isEmpty else { throw TapeFailure(hopeless.map(\.text).joined(separator: "\n")) }
    }

    /// The address at which a client gets a session of that name: the endpoint with `wt=NAME`.
    /// - Parameter name: as `wiretape name` wrote it on the tape.
    public func endpoint(for name: String) -> String {
        endpoint + (endpoint.contains("?") ? "&" : "?") + "wt=" + name
    }

    /// The certificate of the authority that has issued those of all secure servers of this process, in PEM. It lasts as long as the
    /// process, and its key is in memory only: a client can trust it for the time of its tests.
    public static var certificateAuthority: String {
        get throws { String(decoding: try TestAuthority.shared().certificatePEM, as: UTF8.self) }
    }

    // MARK: The end

    /// Ends all connections and tells what the run came to. Again: does nothing.
    /// - Returns: the report for people, as `wiretape replay` has it: a timeline of attempts and delays for each session, and what
    ///   speaks against a pass.
    @discardableResult public func stop() async -> String { await finish().text }

    /// What speaks against a pass, each in the words of `wiretape replay`; empty when nothing does, and while the server runs.
    public var problems: [String] { outcome.withLock { $0?.reasons ?? [] } }

    /// The report for people, as far as the run has come.
    public var report: String {
        if let outcome = outcome.withLock({ $0 }) { return outcome.text }
        return (try? ask { $0.server.masked($0.soFar().text) }) ?? ""
    }

    func finish() async -> RunOutcome {
        if let outcome = outcome.withLock({ $0 }) { return outcome }
        let (number, place) = (number, place)
        if let recording { return await finish(recording) }
        // What clients have said before is in the kernel: it is read first.
        await withCheckedContinuation { continuation in
            let isPosted = thread.post { loop in
                guard let hosted = SharedLoop.Tenants.on(loop).replays[number] else { return continuation.resume() }
                hosted.settle { continuation.resume() }
            }
            if !isPosted { continuation.resume() }
        }
        let made = try? await thread.run { loop in SharedLoop.Tenants.on(loop).replays[number]?.finish(place) }
        let outcome = (made ?? nil) ?? RunOutcome(report: .empty(seed: seed), reasons: [], text: "")
        let isFirst = self.outcome.withLock { known in
            if known != nil { return false }
            known = outcome
            return true
        }
        clock.release()
        guard isFirst else { return self.outcome.withLock { $0 } ?? outcome }
        await withCheckedContinuation { continuation in
            let isPosted = thread.post { loop in
                guard let hosted = SharedLoop.Tenants.on(loop).replays[number] else { return continuation.resume() }
                // What passed can be looked at as long as the server is there.
                hosted.stop { continuation.resume() }
            }
            if !isPosted { continuation.resume() }
        }
        guard let place else { return outcome }
        var told = outcome
        told.written = place.write(outcome)
        self.outcome.withLock { [told] in $0 = told }
        return told
    }

    private func finish(_ recording: TapeInTheMaking) async -> RunOutcome {
        let number = number
        clock.release()
        await withCheckedContinuation { continuation in
            let isPosted = thread.post { loop in
                guard let hosted = SharedLoop.Tenants.on(loop).recordings[number] else { return continuation.resume() }
                hosted.stop {
                    SharedLoop.Tenants.on(loop).recordings[number] = nil
                    continuation.resume()
                }
            }
            if !isPosted { continuation.resume() }
        }
        return outcome.withLock { known in
            if let known { return known }
            let problem = recording.finish()
            let text = problem ?? "recorded \(recording.path): run again to play it"
            let outcome = RunOutcome(report: .empty(seed: 0), reasons: problem.map { [$0] } ?? [], text: text)
            known = outcome
            return outcome
        }
    }

    /// Stops, and records what speaks against a pass as issues of the test.
    func conclude(at place: CallPlace?) async {
        let outcome = await finish()
        if recording != nil, outcome.reasons.isEmpty { return sink.warn(outcome.text, at: place) }
        let told = expected.withLock { $0 }
        var left = outcome.reasons
        var isFirst = true
        for judgement in outcome.report.expectations where !judgement.met {
            guard let one = told.first(where: { $0.text == judgement.policy }) else { continue }
            left.removeAll { $0 == judgement.reason }
            if !one.isTold { sink.record(judgement.reason, at: one.place) }
        }
        for reason in left {
            // The report stands behind the first of them: it is the same for all.
            sink.record(isFirst ? reason + "\n\n" + outcome.text + outcome.written : reason, at: place)
            isFirst = false
        }
    }

    // MARK: The way to the loop

    /// - Throws: when the server has stopped.
    func ask<T: Sendable>(_ body: @escaping @Sendable (HostedReplay) throws -> T) throws -> T {
        let number = number
        return try thread.call { loop in
            guard let hosted = SharedLoop.Tenants.on(loop).replays[number] else { throw Self.hasStopped }
            return try body(hosted)
        }
    }

    static let hasStopped = TapeFailure("the server of this test has stopped")

    /// Waits until `look` finds something.
    func wait<T: Sendable>(
        within: Duration, _ look: @escaping @Sendable (HostedReplay) -> Result<T, TapeFailure>?,
        late: @escaping @Sendable (HostedReplay) -> TapeFailure
    ) async throws -> T {
        let id = SharedLoop.number()
        let (number, thread) = (number, thread)
        return try await withTaskCancellationHandler {
            try await handedOver { (give: @escaping @Sendable (Result<T, any Error>) -> Void) in
                let isPosted = thread.post { loop in
                    guard let hosted = SharedLoop.Tenants.on(loop).replays[number] else {
                        return give(.failure(Self.hasStopped))
                    }
                    hosted.wait(id, within: within.asNanoseconds) { hosted in
                        guard let found = look(hosted) else { return false }
                        give(found.mapError { $0 })
                        return true
                    } give: { hosted, isCancelled in
                        give(.failure(isCancelled ? CancellationError() : late(hosted)))
                    }
                }
                if !isPosted { give(.failure(Self.hasStopped)) }
            }
        } onCancel: {
            thread.post { loop in SharedLoop.Tenants.on(loop).replays[number]?.cancel(id) }
        }
    }
}
