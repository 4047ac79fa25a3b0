internal import WiretapeBytes
internal import WiretapeCodecs
package import WiretapeCommandLine
internal import WiretapeControl
internal import WiretapeFaults
internal import WiretapeNet
internal import WiretapeProtocol
internal import WiretapeProxy
internal import WiretapeRecorder
internal import WiretapeReplay
internal import WiretapeReplayServer
internal import WiretapeReport
internal import WiretapeRuntime
internal import WiretapeServing
internal import WiretapeSystem
internal import WiretapeTape
internal import WiretapeTapeCommands
internal import WiretapeWire

/// `wiretape replay`.
package struct ReplayCommand: Command {
    let arguments: ParsedArguments
    let path: String
    let options: ReplayOptions
    private let upstream: Upstream?
    private let via: ViaProxy?
    private let access: AccessPolicy
    /// Which hosts are answered for when the listener is a proxy; nil: clients take it for the upstream.
    private let forward: ForwardDoor.Scope?
    /// What leads clients back; nil: addresses stay as they were recorded.
    private let leadBack: LeadBackRules?
    private let faults: FaultOptions
    private let target: ReportTarget?
    private let events: EventsTarget?
    private let control: ControlDoor?
    /// Records what the tape lacks; nil: that is a divergence, or what `--on-miss` says.
    private let episodes: EpisodeRecording?
    let log: Log
    let seed: UInt64

    package init(_ arguments: ParsedArguments) throws(UsageError) { try self.init(arguments, episodes: nil) }

    init(_ arguments: ParsedArguments, episodes: EpisodeRecording?) throws(UsageError) {
        self.arguments = arguments
        self.episodes = episodes
        path = try StandardInput.again(arguments.positionals[0], arguments)
        forward = try ForwardPlan.scope(arguments)
        via = try ViaProxy.asked(arguments)
        leadBack = try LeadBackRules.asked(arguments)
        do throws(OptionError) {
            var options = try ReplayOptions(arguments)
            if episodes != nil { options.routing.onMiss = .record }
            self.options = options
            // A page cannot make a browser speak to a proxy that it does not use.
            access =
                forward == nil
                ? try AccessPolicy(hosts: arguments.all("allow-host"), origins: arguments.all("allow-origin")) : .open
            upstream = try arguments.value("upstream").map { text throws(OptionError) in
                try UpstreamValue.parse(text).upstream
            }
        } catch {
            throw arguments.error(error.message)
        }
        faults = try FaultOptions(arguments)
        var log = Log(arguments)
        log.words = faults.plan.rules.map(\.name) + options.policyTexts
        self.log = log
        // JSON readers keep 53 bits of a number.
        seed = faults.seed ?? UInt64.random(in: 0..<1 << 53)
        if let problem = faults.plan.problemsInReplay.first { throw arguments.error(problem.description) }
        target = try ReportTarget(arguments)
        events = try EventsTarget(arguments)
        control = try ControlDoor(arguments)
        if options.speed == .step, control == nil {
            throw arguments.error(
                "--speed step needs somebody who steps: open the control API, and its page, with --control")
        }
        if target == .output, arguments.has("json") {
            throw arguments.error("--report - and --json both want standard output")
        }
    }

    package func run() throws -> Int32 {
        // An archive of another tool is made a tape, which goes with the run.
        if let imported = try ImportedTape(path, memory: arguments.memory, log) {
            defer { imported.remove() }
            return try ReplayCommand(arguments.with(positional: imported.path)).run()
        }
        let events = try RunEvents(events, isControlled: control != nil, log.rules)
        do {
            return try play(events)
        } catch let refused as RefusedRules {
            var report = ReplayReport.empty(seed: seed)
            report.unfired = refused.rules
            tell(report, refused.failure, events)
            throw refused.failure
        } catch let failure as Failure {
            tell(failure, events)
            throw failure
        } catch let error as TapeError {
            tell(Failure(error.description, code: error.exitCode), events)
            throw error
        } catch let error as UsageError {
            _ = events?.end(Verdict(.failed, ExitCode.usage.code, error.message), at: 0, command: nil)
            throw error
        } catch {
            tell(Failure("\(error)"), events)
            throw error
        }
    }

    private func tell(_ failure: Failure, _ events: RunEvents?) {
        var report = ReplayReport.empty(seed: seed)
        report.failure = ReplayReport.Failure(exitCode: failure.code, reason: failure.reason)
        tell(report, failure, events)
    }

    /// Who reads the report of a run that could not be played must not find an older one. What cannot be written is no news.
    private func tell(_ report: ReplayReport, _ failure: Failure, _ events: RunEvents?) {
        try? target?.prepare()
        try? write(report) { log.masked($0) }
        _ = events?.end(Verdict(.failed, failure.code, log.masked(failure.reason)), at: 0, command: nil)
    }

    private func write(_ report: ReplayReport, masked: @escaping (String) -> String) throws {
        try target?.write(
            report, suite: LoadedTape.name(path), command: arguments.again(seed: seed),
            masked: masked)
    }

    private func play(_ events: RunEvents?) throws -> Int32 {
        try CommandCheck.check(arguments.tail)
        try LoadedTape.require(path)
        HeapMemory.returnLargeBlocks()
        let upstreams = try LoadedTape.upstreams(path: path, isForward: forward != nil)
        try episodes?.check(upstreams)
        let listeners = try listeners(upstreams)
        // What is asked of the whole tape has to be known before anybody connects.
        let doors = try tlsDoors(listeners.origins)
            .open(listeners.origins, hosts: LoadedTape.hosts(path: path), isForward: forward != nil, log)
        let isWhole = try !options.routing.names.isEmpty || options.causality == .tape || LoadedTape.isShort(path: path)
        let tape =
            isWhole
            ? try LoadedTape(path: path, ignore: options.ignore, memory: arguments.memory, log: log) : nil
        let played = PlayedTape(tape)
        let make = { (tape: LoadedTape) in
            try listeners.check(tape)
            played.tape = tape
            return try engine(tape, upstreams, tellsTape: target?.actualTape != nil || events != nil)
        }
        let waiting = WaitingDriver(
            seed: seed, tapeName: LoadedTape.name(path), allowsUnplayed: options.ending.allowsUnplayed)
        let driver: any ReplayDriver = if let tape { try make(tape) } else { waiting }
        let first = try tape.map { listeners.first($0.sessions, upstreams) } ?? LoadedTape.firstSession(path: path)
        try target?.prepare()
        let actual = try actualTape(upstreams)
        let shell = try RunShell(arguments)
        defer { shell.close() }
        let memory = MemoryBudget(memory: arguments.memory)
        memory.log = { [log] in log.warning($0) }
        let places = ClientPlaces(perClient: perClient) { [log] in log.warning($0) }
        let server = try server(driver, places, memory, on: shell.loop)
        follow(server, actual, events)
        server.ended = { shell.finish() }
        var ready = try open(listeners, server, doors, first, on: shell.loop)
        let control = try openControl(server, events, played, on: shell.loop, &ready)
        Listening.limit(places, reserved: control == nil ? 0 : ControlDoor.mostConnections)
        ready.tell(arguments, log)
        events?.ready(ready)
        var failure: (any Error)?
        let loading =
            tape == nil
            ? try load(server, on: shell.loop, make) { error in
                failure = error
                shell.finish()
            } : nil
        defer { loading?.close() }
        // What our own goodbye does to the clients is not part of the run.
        var report: ReplayReport?
        let end: RunEnd
        do {
            end = try shell.run(ready) {
                server.settle {
                    let told = server.report(clientsAreGone: shell.commandHasEnded)
                    report = told
                    stop(server, told, events, control, shell)
                }
            }
        } catch {
            // The command could not be started: nothing has passed.
            target?.actualTape.map { try? File.remove($0) }
            throw error
        }
        if let summary = memory.summary { log.warning(summary) }
        try actual?.finish()
        if let failure { throw failure }
        let verdict = try tell(report ?? server.report(), end) { server.masked($0) }
        let lacking = events?.end(verdict, at: server.elapsed, command: end.commandExit)
        return (lacking?.told(with: verdict, log) ?? verdict).tell(arguments)
    }

    /// The tape of the run, if it is wanted.
    private func actualTape(_ upstreams: Upstreams) throws -> RunTape? {
        try target?.actualTape.map {
            try RunTape(
                path: $0,
                TapeHeader(
                    ofRun: LoadedTape.name(path), upstreams, started: SystemClock.rfc3339(SystemClock.wall),
                    tool: ToolVersion.named), log.rules)
        }
    }

    /// - Throws: also when rules could not be carried out with what listeners speak.
    func tlsDoors(_ listens: [Origin]) throws(UsageError) -> TLSDoors {
        let doors = try TLSDoors(arguments, listens: listens, isForward: forward != nil)
        try doors.check(faults.plan, listens, isForward: forward != nil, arguments)
        return doors
    }

    /// Opens the listeners.
    private func open(
        _ listeners: ReplayListeners, _ server: ReplayService, _ doors: TLSDoors.Opened, _ first: RecordedSession?,
        on loop: UVLoop
    ) throws -> ReadyLine {
        guard let forward, let inner = doors.door else {
            return ReadyLine(
                urls: try listeners.open(server, doors.door, on: loop), endpointPath: first?.endpoint ?? "",
                seed: seed, trust: doors.environment, listens: listeners.origins)
        }
        if ForwardPlan.isTransparent(arguments) {
            let addresses = try server.listenTransparent(
                on: listeners.origins.map { try Listening.address($0, on: loop) }, inner: inner)
            return ReadyLine(
                urls: zip(listeners.titles, addresses).map { title, address in
                    (title == "main" ? "transparent" : title, Listening.url(address, isTLS: false))
                }, seed: seed, trust: doors.environment, listens: listeners.origins)
        }
        let connector = try UpstreamConnector([], via: via, isForward: true).connect(on: loop)
        var relaying = RelayOptions()
        relaying.via = via
        relaying.keepHost = true
        let pressure = RelayPressure(loop, memory: arguments.memory)
        let unseen = ForwardRelays { upstream in
            RelayNode(
                loop, upstream: upstream, tap: nil, numbers: ConnectionNumbers(), options: relaying, pressure: pressure
            ) {
                connector(upstream, $0, $1)
            }
        }
        let origin = listeners.origins[0]
        let address = try server.listenForward(
            on: Listening.address(origin, on: loop), scope: forward, inner: inner, pressure: pressure, unseen: unseen,
            door: origin.isTLS ? inner : nil, page: AuthorityPage(doors.authority).answer)
        var ready = ReadyLine(
            urls: [("proxy", Listening.url(address, isTLS: origin.isTLS))], seed: seed, trust: doors.environment,
            listens: listeners.origins)
        ready.bypass = forward.bypass.environmentValue
        return ready
    }

    /// Descriptors of a client: its own, and one of its upstream. Through a recorder it has two more connections on the way.
    private var perClient: Int { 1 + (episodes == nil ? upstream == nil ? 0 : 1 : 3) }

    /// Ends all connections, those of the control API last: they hear the end.
    private func stop(
        _ server: ReplayService, _ told: ReplayReport, _ events: RunEvents?, _ control: ControlServer?,
        _ shell: RunShell
    ) {
        let rest = {
            server.stop {
                guard let control else { return shell.workStopped() }
                events?.ending(told, masked: server.masked, at: server.elapsed)
                control.stop { shell.workStopped() }
            }
        }
        // What is recorded beside it ends as a recording does, and its clients with it.
        guard let episodes else { return rest() }
        episodes.stop(rest)
    }

    /// Opens the control API, if it is wanted, with this replay as its first run.
    private func openControl(
        _ server: ReplayService, _ events: RunEvents?, _ tape: PlayedTape, on loop: UVLoop, _ ready: inout ReadyLine
    ) throws -> ControlServer? {
        guard let control, let events else { return nil }
        let (api, url) = try control.open(on: loop, maker: RunFactory(log))
        ready.control = (url, control.token)
        let run = ControlledReplay(
            server, on: loop, journal: events.journal, place: ready.members(pid: ThisProcess.id)
        ) { tape.tape.map { ($0.sessions, $0.name) } }
        server.observe = { [observe = server.observe] event in
            observe?(event)
            run.noticed()
        }
        api.add(run)
        return api
    }

    func server(
        _ driver: any ReplayDriver, _ places: ClientPlaces, _ memory: MemoryBudget, on loop: UVLoop
    ) throws -> ReplayService {
        let connector = try UpstreamConnector(upstream.map { [$0] } ?? [], via: via).connect(on: loop)
        let server = ReplayService(
            loop, driver: driver, timeScale: options.clock.scale,
            upstream: upstream.map { upstream in (upstream, { connector(upstream, $0, $1) }) },
            connectTimeout: arguments.duration("connect-timeout") ?? RelayOptions.connectTimeout, via: via,
            access: access, limits: ClientLimits(arguments), places: places, memory: memory,
            leading: ReplayLeading(
                leadBack, Codecs.all, upstreams: try LoadedTape.servers(path: path), isForward: forward != nil),
            judgesHandshakes: faults.plan.rules.contains { $0.selector.subject == .point(.tls) })
        server.log = { [log] in log.warning($0) }
        if let episodes {
            // Lifetime: the server passes requests on while its loop runs.
            server.passOn { [unowned loop] name throws(NetError) in try episodes.way(to: name, on: loop) }
        }
        return server
    }

    /// Lets the tape of the run and `--events` hear what passes.
    private func follow(_ server: ReplayService, _ actual: RunTape?, _ events: RunEvents?) {
        guard actual != nil || events != nil else { return }
        server.observe = { event in
            actual?.append(event)
            events?.passed(event)
        }
        if let events { server.news = { events.happened($0) } }
    }

    /// - Throws: when the command line does not fit the tape's upstreams.
    func listeners(_ upstreams: Upstreams) throws(UsageError) -> ReplayListeners {
        do throws(OptionError) {
            let listeners = try ReplayListeners(
                arguments.all("listen"), names: options.routing.names, upstreams: upstreams,
                scheme: arguments.has("tls") ? "https" : "http")
            try CommandWords.check(arguments.tail, names: listeners.titles)
            guard upstream == nil || upstreams.names.isEmpty else {
                throw OptionError(
                    "--upstream: \(LoadedTape.name(path)) has the upstreams \(upstreams.names.joined(separator: ", ")), "
                        + "and requests can be passed on for a tape with one only")
            }
            return listeners
        } catch {
            throw arguments.error(error.message)
        }
    }

    func engine(_ tape: LoadedTape, _ upstreams: Upstreams, tellsTape: Bool) throws -> ReplayEngine {
        guard !tape.sessions.isEmpty || !tape.exchanges.isEmpty else {
            throw Failure("\(tape.name) has no session that could be played", .missing)
        }
        do {
            try options.check(tape.sessions, tape: tape.name)
        } catch {
            throw arguments.error(error.message)
        }
        try faults.plan.check(against: tape, options, log)
        tellFailures(of: tape)
        var engine = ReplayEngine(
            sessions: tape.sessions, exchanges: tape.exchanges, upstreams: upstreams, tapeName: tape.name,
            options: options, faults: faults.plan, seed: seed, redaction: log.rules)
        engine.tellsTape = tellsTape
        return engine
    }

    /// Logs the first requests that failed on the tape, which the replay fails again, and those that belong to no session.
    private func tellFailures(of tape: LoadedTape) {
        let failed = tape.exchanges.filter { $0.failure != nil }
        for one in failed.prefix(3) {
            log.info("\(tape.name):\(one.line): \(one.failureText ?? ""). The replay does the same.")
        }
        if failed.count > 3 { log.info("\(failed.count - 3) more requests got no whole response on the tape.") }
        Unplaced.warn(of: tape.unplaced, on: tape.name, log)
    }

    /// Reads the tape behind the listeners.
    /// - Returns: the timer that looks for the result.
    private func load(
        _ server: ReplayService, on loop: any Loop, _ make: @escaping (LoadedTape) throws -> ReplayEngine,
        failed: @escaping (any Error) -> Void
    ) throws -> any LoopTimer {
        let loading = try TapeLoading(path: path, ignore: options.ignore, memory: arguments.memory, log: log)
        var timer: (any LoopTimer)?
        let made = loop.timer {
            guard let result = loading.result else {
                return timer?.arm(at: loop.now.advanced(by: TapeLoading.look)) ?? ()
            }
            timer?.close()
            timer = nil
            do {
                server.begin(try make(try result.get()))
            } catch {
                failed(error)
            }
        }
        timer = made
        made.arm(at: loop.now.advanced(by: TapeLoading.look))
        return made
    }

    private func tell(_ report: ReplayReport, _ end: RunEnd, masked: @escaping (String) -> String) throws -> Verdict {
        var told = report
        if case .timeout(let time) = end {
            told.failure = ReplayReport.Failure(
                exitCode: ExitCode.timeout.code, reason: RunEnd.timeoutReason(time))
        }
        let remark = settle(&told, end)
        told.commandExit = end.commandExit
        try write(told, masked: masked)
        if log.level == .info { Console.error.write(masked(told.text)) }
        // That the time is up says the run's end; what the run came to by then is said behind it.
        if case .timeout = end { told.failure = nil }
        var verdict = end.verdict(Self.verdict(told, masked, remark))
        let relaxations = arguments.relaxations
        if verdict.code == 0, !relaxations.isEmpty {
            verdict.reason += "; relaxed by \(relaxations.joined(separator: ", "))"
        }
        return verdict
    }

    /// - Parameter remark: what became of what the tape lacked.
    private static func verdict(_ report: ReplayReport, _ masked: (String) -> String, _ remark: String?) -> Verdict {
        var word: Verdict.Word =
            switch report.verdict {
            case .pass: .pass
            case .diverged: .diverged
            case .failed: .failed
            }
        // Nothing of the tape was played: there was nothing to judge.
        if word == .pass, report.appended != nil, report.sessions.isEmpty, report.exchanges.played == 0 { word = .done }
        return Verdict(word, report.exitCode, masked(report.summary) + (remark.map { "; \($0)" } ?? ""))
    }

    /// Puts what the tape lacked behind it, when the run has ended well.
    /// - Returns: what is to be said of it.
    private func settle(_ report: inout ReplayReport, _ end: RunEnd) -> String? {
        guard let episodes else { return nil }
        let isWell = end.verdict(Verdict(.done, report.exitCode, "")).code == 0
        switch episodes.settle(isWell: isWell) {
        case .unneeded: return nil
        case .appended(let what):
            report.appended = what
            return "what \(path) lacked is on it now (\(what.events) events of \(what.connections) "
                + "connection\(what.connections == 1 ? "" : "s")), and was not judged: run again"
        case .dropped: return "\(path) stays as it was: what it lacks is recorded by a run that ends well"
        case .failed(let why):
            report.failure = report.failure ?? ReplayReport.Failure(exitCode: ExitCode.failure.code, reason: why)
            return nil
        }
    }
}
