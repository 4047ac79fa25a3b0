internal import WiretapeCore

extension ReplayCommand {
    package static let spec = CommandSpec(
        name: "replay", abstract: "Play a tape's server to a real client, with faults",
        discussion: """
            Plays the server's part of a tape. Clients connect as they would to the server, send what is on the tape, and \
            get what the server sent, in the recorded order and rhythm. What a client does otherwise is a divergence: it \
            is shown side by side with the tape, and the run fails.
            Rules (--fault) break connections and answers at exact places; --expect judges when the client tries again. \
            The report tells the attempts, what matched, and a digest that is equal for equal runs.
            """,
        positionals: [PositionalSpec("FILE", .file, "The tape.")],
        groups: [listening, script, matching, .faults, judging, .run],
        tail: TailSpec(
            "A command to run against the replay. It finds WIRETAPE_URL and WIRETAPE_WS_URL in its environment, {url} in "
                + "its arguments is replaced, and the run ends with it."),
        examples: [
            ExampleSpec("wiretape replay chat.tape.gz", "Serves the tape until it is interrupted."),
            ExampleSpec(
                "wiretape replay chat.tape.gz --speed instant --until finished --report report.json -- npm test",
                "Runs a test against the tape and writes a report."),
            ExampleSpec(
                "wiretape replay chat.tape.gz --fault 'reset after ReceiveMessage[3]' --expect 'delays(0s, 2s)' -- ./client",
                "Resets the connection after the third message and judges the client's retries."),
        ], exitCodes: [.failure, .diverged, .badFile, .expectation, .missing, .timeout, .signal])

    private static let listening = OptionGroup(
        "Listening",
        [
            OptionSpec(
                "listen", "ADDRESS", ListenValue.kind, default: "127.0.0.1:0",
                "Where clients connect: HOST:PORT or http://HOST:PORT; port 0 picks a free one."),
            OptionSpec(
                "route", "A=B", checked { _ = try ReplayOptions.Route(parsing: $0) }, repeatable: true,
                "Serve requests for path A from what was recorded at path B."),
            .missing("threads", "a replay runs on one loop"),
            .missing("transports", "this version replays WebSockets only"),
            .missing("on-miss", "a request that is not on the tape is answered 404 and fails the run"),
            .missing("upstream", "it belongs to --on-miss passthrough, which comes later"),
            .missing("clients", "each recorded session is played once in this version"),
            .missing("session", "named clients come later"),
            .missing("causality", "causes hold within a session in this version"),
            .missing("fresh-ids", "server ids keep their recorded value and vary on a collision"),
        ])

    private static let script = OptionGroup(
        "Rhythm",
        [
            OptionSpec(
                "speed", "SPEED", checked(["1", "instant"]) { _ = try ReplayOptions.Speed(parsing: $0) }, default: "1",
                "How fast recorded gaps pass: 1 is as recorded, 10 is ten times as fast, instant leaves them out."),
            OptionSpec(
                "keepalive", "HOW", checked(["auto", "off"]) { _ = try ReplayOptions.Keepalive(parsing: $0) },
                default: "auto", "Keepalives towards the client: auto (the protocol's schedule), off, or each D."),
            OptionSpec(
                "until", "WHEN",
                checked(["finished", "signal", "idle:5s"]) { _ = try ReplayOptions.Until(parsing: $0) },
                default: "signal",
                "When the run ends: finished (all is played), idle:D (nothing happened for D), or signal."),
            .missing("time-scale", "the client's clock is taken as real time"),
            .missing("idle-cap", "use --speed to shorten long gaps"),
        ])

    private static let matching = OptionGroup(
        "Matching",
        [
            OptionSpec(
                "match", "HOW", checked(["relaxed"]) { _ = try ReplayOptions.Match(parsing: $0) }, default: "relaxed",
                "How client messages are found on the tape: relaxed takes any order that the protocol allows."),
            OptionSpec(
                "ignore", "RULE", checked { _ = try IgnoreRule(parsing: $0) }, repeatable: true,
                "A place of a message that may differ: 'Send:/arguments/0/sentAt'."),
            OptionSpec(
                "patience", "D", .duration, default: "30s", "How long an awaited client message may stay away."),
            OptionSpec(
                "on-divergence", "HOW", checked(["fail"]) { _ = try ReplayOptions.OnDivergence(parsing: $0) },
                default: "fail", "What happens when a client does not do what is on the tape."),
            OptionSpec(
                "on-reconnect", "HOW", checked(["resume"]) { _ = try ReplayOptions.OnReconnect(parsing: $0) },
                default: "resume", "What a client gets that comes back: resume goes on where it was cut."),
            OptionSpec(
                "when-exhausted", "HOW", checked(["refuse"]) { _ = try ReplayOptions.WhenExhausted(parsing: $0) },
                default: "refuse", "What a client gets when every recorded session is taken."),
            .missing("grace", "it comes with the full release rules"),
        ])

    private static let judging = OptionGroup(
        "Verdict",
        [
            OptionSpec(
                "expect", "POLICY", checked { _ = try Expectation.parse($0) }, repeatable: true,
                "A policy that every client is held to: 'delays(0s, 2s, 10s, 30s)'."),
            OptionSpec(
                "report", "PATH", .file,
                "Write the report as JSON to a .json file, as text to a .txt file, both into a directory; - is standard "
                    + "output."),
        ])

    private static func checked(
        _ suggestions: [String] = [], _ check: @escaping @Sendable (String) throws -> Void
    ) -> ValueKind { .checked(suggestions: suggestions, check) }
}
