internal import WiretapeBytes
package import WiretapeCommandLine

extension SweepCommand {
    package static let spec = CommandSpec(
        name: "sweep", abstract: "Try faults at every point of a tape on a client",
        discussion: """
            Runs the command against a replay of the tape once for each fault (--faults) at each point (--at), some at a time, and says \
            which combinations broke the client: its exit status, a policy (--expect), a divergence, or that it never \
            ended. Each way of breaking is shrunk to the smallest plan that still does it, and told as --fault and as the \
            command that repeats it.
            The client has to pass without any fault first. A combination whose point the client never reaches is told, \
            and is no failure.
            """,
        positionals: [PositionalSpec("FILE", .file, "The tape.")],
        groups: [sweeping, replaying, .sweepRun],
        tail: TailSpec(
            "The client, which a sweep needs: a command that ends with 0 when it is content. It finds WIRETAPE_URL and WIRETAPE_WS_URL in its "
                + "environment, and {url} in its arguments is replaced. It must bear being run several times at once."),
        examples: [
            ExampleSpec(
                "wiretape sweep chat.tape.gz --speed instant -- node test/client.js {url}",
                "Resets the connection behind every message, and in further runs ends it there with FIN."),
            ExampleSpec(
                "wiretape sweep chat.tape.gz --faults 'reset,close(1001)' --at boundaries --jobs 4 -- ./client {url}",
                "Two faults at the places where connections begin and end."),
            ExampleSpec(
                "wiretape sweep chat.tape.gz --faults reset,docs/faults/flaky-mobile.yaml -- ./client {url}",
                "What the rules of a plan do, at every point."),
            ExampleSpec(
                "wiretape sweep chat.tape.gz --shard 2/5 --known known.txt -- ./client {url}",
                "The second of five parts, for a build farm, with failures that are known."),
        ], exitCodes: [.failure, .badFile, .expectation, .missing, .commandUnusable, .commandMissing, .signal])

    private static let sweeping = OptionGroup(
        "Sweep",
        [
            OptionSpec(
                "faults", "LIST",
                .checked(suggestions: ["reset", "reset,disconnect"]) { _ = try SweepFaults.parse($0) },
                default: "reset,disconnect",
                "The faults to try, as rules write them: 'reset,close(1001),respond(503)'; of a plan (a file that ends with "
                    + ".yaml, .yml or .json) what its rules do. One that cannot stand at a point is left out there."),
            OptionSpec(
                "at", "WHERE", .choice(SweepPoints.allCases.map(\.rawValue)), default: "messages",
                "messages: behind every message. boundaries: at the requests that open connections, the handshake, the first "
                    + "and last message. bytes: within every message to the client."),
            OptionSpec("jobs", "N", .count(1...256), default: "2", "Runs at a time."),
            OptionSpec("timeout", "D", .duration, default: "30s", "A run that takes longer is a hang."),
            OptionSpec("budget", "D", .duration, "Start nothing more after this time; what was not run is told."),
            OptionSpec(
                "shard", "I/N", .checked(suggestions: ["1/2"]) { _ = try shard(parsing: $0) },
                "Only every N-th combination, from the I-th on: N shards are the whole sweep."),
            OptionSpec(
                "known", "FILE", .file,
                "Failures that are known, a rule a line: they are told and do not fail the sweep. Those that survive now are told, "
                    + "too."),
        ])

    /// Passed on to every replay.
    private static let replaying = OptionGroup(
        "Replay",
        [
            "speed", "idle-cap", "time-scale", "keepalive", "server-limits", "match", "ignore", "on-divergence",
            "on-reconnect", "greeting",
            "patience",
            "grace", "route", "on-miss", "upstream", "transports", "clients", "when-exhausted", "deflate", "fresh-ids",
            "allow-host", "allow-origin", "lead-back",
            "expect", "redact",
            "fault", "seed",
        ].compactMap { name in
            ReplayCommand.spec.groups.lazy.flatMap(\.options).first { $0.name == name && $0.missing == nil }
        }.map { option in
            var option = option
            if option.name == "fault" {
                option.help = "A rule that is in force in every run, beside the one that is tried."
            }
            if option.name == "seed" { option.help = "The seed of the random draws of every run." }
            return option
        })

    static var passedOn: [OptionSpec] { replaying.options.filter { $0.name != "fault" && $0.name != "seed" } }

    /// `2/5`.
    static func shard(parsing text: String) throws(OptionError) -> (index: Int, of: Int) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let index = parts[0], let count = parts[1], count > 0, (1...count).contains(index)
        else {
            throw OptionError("'\(text)' is not a shard; write 2/5 for the second of five")
        }
        return (index, count)
    }
}

extension OptionGroup {
    fileprivate static let sweepRun = OptionGroup(
        "Run",
        [
            OptionSpec("report", "FILE", .file, "Write what was found as JSON; - is standard output."),
            OptionSpec(
                "output", "FOLDER", .file, "Keep the output of failing runs there. (default: a temporary folder)"),
            OptionSpec(
                "log-level", "LEVEL", .choice(Log.Level.allCases.map(\.rawValue)), default: "info",
                "How much is told on standard error."),
            OptionSpec(switch: "quiet", short: "q", "Tell errors and the verdict only, as --log-level error."),
            memory,
            OptionSpec("config", "FILE", .file, configHelp),
        ])
}
