package import WiretapeCommandLine
internal import WiretapeProxy
internal import WiretapeServing
internal import WiretapeSystem

/// `wiretape auto`.
package struct AutoCommand: Command {
    /// When a tape is recorded.
    private enum Mode: String, CaseIterable {
        case once, all, none
        case newEpisodes = "new-episodes"
    }

    private let arguments: ParsedArguments
    private let path: String
    private let mode: Mode
    /// Whether the mode is what a build machine has when nobody says another.
    private let isOfCI: Bool
    private let report: ReportTarget?
    private let log: Log
    private let replay: ReplayCommand
    /// Whether the run has rules, under which nothing is added to a tape.
    private let isRuled: Bool
    /// Nil when nothing says where the server is.
    private let record: RecordCommand?

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        self.arguments = arguments
        path = arguments.positionals[0]
        if path == "-" { throw arguments.error("FILE -: a tape that may have to be recorded needs a name") }
        log = Log(arguments)
        isOfCI = !arguments.has(Self.modeOption) && Self.isCI
        mode = arguments.values[Self.modeOption]?.last.flatMap(Mode.init(rawValue:)) ?? (Self.isCI ? .none : .once)
        if mode == .newEpisodes { try Self.checkEpisodes(arguments) }
        report = try ReportTarget(arguments)
        // Both halves are looked at in each run: an option that is wrong is found today, not on the day of the next recording.
        let hasServer = arguments.has("upstream") || ["forward", "transparent"].contains(arguments.value("mode"))
        record = hasServer ? try RecordCommand(Self.recording(arguments), at: RecordingPlace(besides: path)) : nil
        let hasRules = arguments.has("fault") || arguments.has("faults")
        isRuled = hasRules && mode == .newEpisodes
        let episodes =
            mode == .newEpisodes && !hasRules
            ? record.map { [path, log] in EpisodeRecording($0, besides: path, log) } : nil
        replay = try ReplayCommand(Self.replaying(arguments), episodes: episodes)
    }

    /// What cannot be had together with `new-episodes`.
    private static func checkEpisodes(_ arguments: ParsedArguments) throws(UsageError) {
        if arguments.has("on-miss") {
            throw arguments.error(
                "--on-miss: with --record-mode new-episodes what the tape lacks is recorded; leave one of them out")
        }
        if let mode = arguments.value("mode"), mode != "reverse" {
            throw arguments.error(
                "--mode \(mode): what a tape lacks is recorded in reverse mode only; record again with --record-mode all"
            )
        }
        if arguments.has("keep-host") {
            throw arguments.error(
                "--keep-host: what a tape lacks is asked for by the server's own name; record again with --record-mode all"
            )
        }
    }

    package func run() throws -> Int32 {
        let isThere = SystemFiles().exists(path)
        switch mode {
        case .none: guard isThere else { throw missing() }
        case .newEpisodes where isThere:
            guard record != nil else {
                throw arguments.error(
                    "--upstream is needed to record what \(path) lacks: --upstream http://127.0.0.1:5000")
            }
            if isRuled {
                log.warning(
                    "\(path): nothing is added to it in a run with rules, since what a client asks for may be their doing; what it "
                        + "lacks is a divergence (run once without --fault and --faults)")
            }
        case .once, .all, .newEpisodes:
            if mode == .all || !isThere { return try recorded(isThere) }
        }
        log.info("\(path) is there: it is replayed (record mode \(mode.rawValue))")
        return try replay.run()
    }

    private func recorded(_ isThere: Bool) throws -> Int32 {
        guard let record else {
            throw arguments.error(
                (isThere ? "" : "there is no recording \(path), and ")
                    + "--upstream is needed to record it: --upstream http://127.0.0.1:5000")
        }
        let why = isThere ? "a new recording takes its place" : "it is not there and is recorded"
        log.warning("\(path): \(why) (record mode \(mode.rawValue))")
        let left = Self.judging.filter(arguments.has)
        if !left.isEmpty {
            log.warning("\(left.map { "--" + $0 }.joined(separator: ", ")): left out while a tape is recorded")
        }
        // A report of the last replay would be taken for this run's.
        for file in report?.files ?? [] where SystemFiles().exists(file) { try File.remove(file) }
        return try record.run()
    }

    private func missing() -> Failure {
        let upstreams = arguments.all("upstream").isEmpty ? ["URL"] : arguments.all("upstream")
        let words = upstreams.map { "--upstream \($0)" }.joined(separator: " ")
        let why = isOfCI ? "since CI is set" : "by --record-mode"
        return Failure(
            "there is no recording \(path), and none is made (record mode none, \(why)); make it with: wiretape record \(words) "
                + "--output \(path)", .missing)
    }

    /// Build machines set it.
    private static var isCI: Bool {
        ThisProcess.environment("CI").map { !["", "0", "false"].contains($0.lowercased()) } ?? false
    }

    /// What a recording does without.
    private static let judging = OptionGroup.faults.options.map(\.name) + ["expect", "report"]

    private static let modeOption = "record-mode"

    private static func replaying(_ arguments: ParsedArguments) -> ParsedArguments {
        var one = arguments
        one.values = arguments.values.filter { name, _ in
            // What a recording is made from is no part of its replay, unless it is to go on there.
            name == "upstream"
                ? arguments.value("on-miss") == "passthrough" : ReplayCommand.spec.option(name)?.missing == .none
        }
        return one
    }

    private static func recording(_ arguments: ParsedArguments) -> ParsedArguments {
        var one = arguments
        one.values = arguments.values.filter { name, _ in
            RecordCommand.spec.option(name) != nil && !judging.contains(name)
        }
        // The file beside the tape is nobody's but a recorder's: its lock says whether one has it.
        one.values["force"] = [""]
        one.values["output"] = arguments.positionals
        one.positionals = []
        return one
    }
}

extension AutoCommand {
    package static let spec = CommandSpec(
        name: "auto", abstract: "Replay the tape that is there, record the one that is not",
        discussion: """
            Where FILE is there it is replayed, as 'wiretape replay' does; where it is not, the server at --upstream is recorded, as \
            'wiretape record' does, and the next run replays it. So a test needs one command line, and its first run makes its tape.
            A recording has no faults, is held to no policy and writes no report: its last line says 'done' and that nothing was \
            judged. It takes the tape's place when the run has ended well, and what was there stays until then. \
            Where CI is set nothing is recorded unless --record-mode says so: a missing tape is exit 6.

            With --record-mode new-episodes a tape that is there is replayed, and what is asked for beyond it goes to the server at \
            --upstream: another session than the recorded ones, one more of them, a request of another content. It is recorded, over \
            every transport, and put behind the tape when the run has ended with 0; else the tape stays as it was. A session that \
            was begun from the tape and goes another way is a divergence, as in every replay. In a run with rules nothing is added.
            """,
        positionals: [PositionalSpec("FILE", .file, "The tape: compressed when its name ends in .gz.")],
        groups: groups,
        tail: TailSpec(
            "A command to run against the replay or the recording. It finds WIRETAPE_URL and WIRETAPE_WS_URL in its environment, "
                + "{url} in its arguments is replaced, and the run ends with it."),
        examples: [
            ExampleSpec(
                "wiretape auto chat.tape.gz --upstream http://127.0.0.1:5000 -- npm test",
                "Records the test's session the first time, and replays it from then on."),
            ExampleSpec(
                "wiretape auto chat.tape.gz --upstream http://127.0.0.1:5000 --record-mode all -- npm test",
                "Records it again."),
            ExampleSpec(
                "wiretape auto chat.tape.gz --upstream http://127.0.0.1:5000 --record-mode new-episodes -- npm test",
                "Replays it, and adds what the test asks for beyond it."),
        ],
        exitCodes: [
            .failure, .diverged, .badFile, .expectation, .missing, .timeout, .commandUnusable, .commandMissing, .signal,
        ])

    /// What both halves take, each option once: those of a replay, then those of a recording that a replay has not.
    private static let groups: [OptionGroup] = {
        let own = OptionGroup(
            "Recording",
            [
                OptionSpec(
                    modeOption, "MODE", .choice(Mode.allCases.map(\.rawValue)),
                    "once: record where there is no tape. new-episodes: that, and record what the tape lacks. all: record each time. "
                        + "none: never. (default: once, and none where CI is set)"),
                RecordCommand.spec.option("upstream"),
            ].compactMap(\.self))
        var taken: Set<String> = ["output", "force", "upstream", "help"]
        var all = [own]
        for group in ReplayCommand.spec.groups + RecordCommand.spec.groups {
            let options = group.options.filter { $0.missing == nil && taken.insert($0.name).inserted }
            if !options.isEmpty { all.append(OptionGroup(group.title, options)) }
        }
        return all
    }()
}
