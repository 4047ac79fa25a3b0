internal import WiretapeCodecs
package import WiretapeCommandLine
internal import WiretapeControl
internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeProxy
internal import WiretapeRecorder
internal import WiretapeServing
internal import WiretapeSystem
internal import WiretapeTape
internal import WiretapeTapeTools

/// `wiretape record`.
package struct RecordCommand: Command {
    private let arguments: ParsedArguments
    let plan: RelayPlan
    private let place: RecordingPlace
    private let redaction: RedactionChoice

    /// The file that is written.
    var output: String { place.path }

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        try self.init(arguments, at: RecordingPlace(arguments.value("output") ?? ""))
    }

    init(_ arguments: ParsedArguments, at place: RecordingPlace) throws(UsageError) {
        self.arguments = arguments
        self.place = place
        plan = try RelayPlan(arguments)
        redaction = try RedactionChoice(arguments)
        if place.name == "-" { try Self.checkOutput(arguments) }
    }

    /// Standard output has the tape and nothing else.
    private static func checkOutput(_ arguments: ParsedArguments) throws(UsageError) {
        if arguments.tail != nil {
            throw arguments.error("--output -: the command's own output goes there; name a file")
        }
        for other in ["json", "report", "events"]
        where arguments.has(other) && (other == "json" || arguments.value(other) == "-") {
            throw arguments.error("--output - and --\(other) both want standard output")
        }
        if arguments.has("canonical") {
            throw arguments.error(
                "--canonical: the tape is written again at its end, which standard output cannot be; pipe it to 'wiretape canon -'"
            )
        }
    }

    package func run() throws -> Int32 {
        let follower = try RelayFollower(.record, plan)
        return try RelayFollower.telling(follower) { try record(follower) }
    }

    private func record(_ follower: RelayFollower?) throws -> Int32 {
        try CommandCheck.check(arguments.tail)
        let log = Log(arguments)
        let shell = try RunShell(arguments)
        defer { shell.close() }
        // What cannot work is found before an older tape is written over.
        let addresses = try Listening.addresses(plan, on: shell.loop)
        try Listening.probe(addresses, on: shell.loop)
        let connector = try UpstreamConnector(plan)
        let doors = try plan.openDoors(log)
        let writer = try openTape(log)
        let seed = plan.faults.seed ?? UInt64.random(in: 0..<1 << 53)
        let relay = RelayRun(plan, shell, connector, seed: seed, writer: writer, follower, log)
        defer { relay.abandon() }
        var ready = ReadyLine(
            urls: try relay.start(addresses, doors), seed: plan.faults.plan.rules.isEmpty ? nil : seed,
            trust: doors.environment, listens: plan.listens.map(\.origin))
        ready.bypass = plan.bypass
        try relay.openControl(&ready, maker: RunFactory(log))
        redaction.warn(log, place.name)
        ready.tell(arguments, log)
        let end: RunEnd
        do {
            end = try shell.run(ready) { relay.stop() }
        } catch {
            // The command was never there: nothing was recorded.
            writer.discard()
            throw error
        }
        relay.finish()
        let totals = writer.finish()
        // A recorder that is killed leaves the tape as it was recorded: the canonical form takes its place at once.
        if isCanonical, totals.failure == nil {
            try TapeCanon.write(
                output, to: .place, codecs: Codecs.all, longestLine: TapeCanon.longestLine(memory: plan.memory))
        }
        // A pipe cannot be read again.
        if File.exists(output), totals.failure == nil, totals.events <= Self.mostReadAgain {
            Unplaced.warn(of: (try? LoadedTape.unplaced(path: output)) ?? [], on: place.name, log)
        }
        let told = end.verdict(try relay.tell(verdict(totals, relay), end, log))
        let settled = try settled(told, hasAnswers: totals.failure == nil && relay.hasAnswers)
        return relay.tellEnd(settled, end, log).tell(arguments)
    }

    /// A longer tape is not read again at the end of the recording. Reading as many events takes about a second.
    private static let mostReadAgain: UInt64 = 200_000

    /// The verdict with what became of the tape.
    private func settled(_ verdict: Verdict, hasAnswers: Bool) throws -> Verdict {
        guard place.isBeside else { return verdict }
        let wasThere = SystemFiles().exists(place.name)
        var settled = verdict
        switch try place.settle(hasAnswers: hasAnswers, isWell: verdict.code == 0) {
        case .kept where verdict.code == 0: settled.reason += "; nothing was judged: run again"
        case .kept: settled.reason += "; the tape may not be whole: look with 'wiretape inspect \(place.name)'"
        case .dropped:
            settled.reason += wasThere ? "; \(place.name) stays as it was" : "; there is no \(place.name)"
        }
        return settled
    }

    /// Whether the tape is to be in its canonical form.
    var isCanonical: Bool { arguments.has("canonical") }

    /// - Parameter firstPseudonym: asked for when the file is this recorder's: no number below it is given to a secret.
    func openTape(_ log: Log, firstPseudonym: () throws(TapeError) -> Int = { 1 }) throws(TapeError) -> TapeWriter {
        let file = try output == "-" ? TapeFile.standardOutput() : TapeFile(path: output, force: arguments.has("force"))
        let first: Int
        do {
            first = try firstPseudonym()
        } catch {
            file.discard()
            throw error
        }
        var options = TapeWriterOptions(isCompressed: file.isCompressed)
        options.overload = arguments.value("on-overload").flatMap { .init(rawValue: $0) } ?? .wait
        options.diskFull = arguments.value("on-disk-full").flatMap { .init(rawValue: $0) } ?? .stop
        options.sync = arguments.value("sync").flatMap { .init(rawValue: $0) } ?? .stop
        // All parts of a small `--memory` together keep to it.
        options.bound = min(options.bound, arguments.memory / 16)
        let header = TapeHeader(
            started: SystemClock.rfc3339(SystemClock.wall), tool: ToolVersion.named,
            mode: plan.mode,
            upstreams: plan.upstreams.map { ($0.name, redaction.without($0.url)) }, redaction: redaction.name)
        let origin = SystemClock.monotonic
        let rules = redaction.rules
        let memory = arguments.memory
        let goesOn = options.diskFull == .continue
        return try TapeWriter(
            header: header, to: file, options: options, clock: { SystemClock.monotonic },
            // The other half is for what the loops hold under rules.
            consumer: {
                let redaction = rules.map { rules in
                    TapeRedaction(rules, first: first, mostWaiting: memory / 4) { log.warning($0) }
                }
                return TapeAssembler(origin: origin, memory: memory / 2, redaction: redaction)
            },
            onFailure: { error in
                log.error("\(error); \(goesOn ? "the traffic goes on unrecorded" : "the recording ends")")
            })
    }

    private func verdict(_ totals: TapeTotals, _ relay: RelayRun) -> Verdict {
        var text =
            "\(Self.count(totals.events, "event")) of \(Self.count(totals.connections, "connection")) on \(place.name)"
        if totals.lost > 0 { text += "; \(Self.count(totals.lost, "event")) lost to overload" }
        if let failure = totals.failure {
            if totals.discarded > 0 { text += "; \(Self.count(totals.discarded, "event")) not recorded" }
            return Verdict(.failed, ExitCode.failure.code, "\(failure); \(text)")
        }
        if let level = totals.level { text += "; compressed at level \(level) to keep up" }
        // Who replays such a tape would test nothing.
        guard relay.hasAnswers else {
            let why = relay.troubles ?? (totals.connections == 0 ? "no client came" : "no request was passed on")
            return Verdict(.failed, ExitCode.failure.code, "no request was answered by an upstream: \(why); \(text)")
        }
        if let troubles = relay.troubles { text += "; \(troubles)" }
        return Verdict(.done, 0, text)
    }

    private static func count(_ n: UInt64, _ noun: String) -> String { "\(n) \(noun)\(n == 1 ? "" : "s")" }
}
