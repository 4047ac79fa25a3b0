internal import WiretapeAttempts
package import WiretapeCommandLine
internal import WiretapeProtocol
internal import WiretapeReplay
internal import WiretapeReport
internal import WiretapeServing
internal import WiretapeWire

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
        positionals: [PositionalSpec("FILE", .file, "The tape; - is standard input.")],
        groups: [
            listening, .tls, requests, script, matching, .faults, judging, redaction, .limits, .run,
        ],
        tail: TailSpec(
            "A command to run against the replay. It finds WIRETAPE_URL and WIRETAPE_WS_URL in its environment, {url} in "
                + "its arguments is replaced, and the run ends with it. Each listener is WIRETAPE_URL_NAME and {url:NAME}."
        ),
        examples: [
            ExampleSpec("wiretape replay chat.tape.gz", "Serves the tape until it is interrupted."),
            ExampleSpec(
                "wiretape replay chat.tape.gz --speed instant --until finished --report report.json -- npm test",
                "Runs a test against the tape and writes a report."),
            ExampleSpec(
                "wiretape replay chat.tape.gz --clients 500 --when-exhausted repeat --speed instant",
                "Serves the tape to many clients at once."),
            ExampleSpec(
                "wiretape replay chat.tape.gz --fault 'reset after ReceiveMessage[3]' --expect 'delays(0s, 2s)' -- ./client",
                "Resets the connection after the third message and judges the client's retries."),
        ],
        exitCodes: [
            .failure, .diverged, .badFile, .expectation, .missing, .timeout, .commandUnusable, .commandMissing, .signal,
        ])

    private static let redaction = OptionGroup("Redaction", [OptionGroup.redact])

    private static let listening = OptionGroup(
        "Listening",
        [
            OptionSpec(
                "listen", "ADDRESS", ListenValue.kind, repeatable: true,
                "Where clients connect: HOST:PORT, http://HOST:PORT or https://HOST:PORT; port 0 picks a free one. Of a tape "
                    + "with several upstreams the n-th is for the n-th, NAME=ADDRESS for that one. (default: 127.0.0.1:0)"
            ),
            OptionGroup.mode, OptionGroup.only, OptionGroup.bypass, OptionGroup.leadBack, OptionGroup.allowHost,
            OptionGroup.allowOrigin,
            OptionSpec(
                "session", "NAMES", checked { _ = try ReplayOptions.names(parsing: $0) },
                "Names of sessions (alice,bob): each has a listener of its own, in the order of --listen. Clients of one "
                    + "listener may name themselves with ?wt=NAME instead."),
            OptionSpec(
                "clients", "N", .count(1...100_000), default: "1",
                "How many clients may play the whole tape, each its own run of it."),
            OptionSpec(
                "when-exhausted", "HOW",
                checked(["refuse", "repeat", "last"]) { _ = try ReplayOptions.WhenExhausted(parsing: $0) },
                default: "refuse",
                "What a client gets when every recorded session is taken: refuse (404), repeat (all of them again) or last (the last "
                    + "one again)."),
            OptionSpec(
                "transports", "LIST",
                checked(Transport.allCases.map(\.rawValue) + ["ws,sse,lp"]) {
                    _ = try ReplayOptions.transports(parsing: $0)
                },
                default: "ws,sse,lp,stream,multipart,http",
                "What is served at most, whatever was recorded."),
            OptionSpec(
                "deflate", "HOW", checked(["tape", "off"]) { _ = try ReplayOptions.Deflate(parsing: $0) },
                default: "tape",
                "Compress WebSockets: tape (as recorded, with clients that offer what allows it) or off."),
            OptionSpec(
                switch: "fresh-ids", "Make all ids of the server anew, also where the recorded ones could be kept."),
            OptionSpec(
                "secret", "KEY=SECRET", checked { _ = try ReplayOptions.secret(parsing: $0) }, repeatable: true,
                "The secret of a Pusher or Eventflit application: its signatures are checked, and made anew for other "
                    + "socket ids. Without it they are neither."),
        ])

    private static let requests = OptionGroup(
        "Requests",
        [
            OptionSpec(
                "route", "A=B", checked { _ = try ReplayOptions.Route(parsing: $0) }, repeatable: true,
                "Serve requests for path A, and for what is below it, from what was recorded at path B."),
            OptionSpec(
                "on-miss", "HOW",
                checked(["fail", "passthrough", "204", "404"]) { _ = try ReplayOptions.OnMiss(parsing: $0) },
                default: "fail",
                "What a request gets that is not on the tape: fail (404, a divergence), passthrough (to --upstream), or a "
                    + "status, which is no divergence."),
            OptionSpec("upstream", "URL", UpstreamValue.kind, "The server for --on-miss passthrough."),
            OptionGroup.via,
        ])

    private static let script = OptionGroup(
        "Rhythm",
        [
            OptionSpec(
                "speed", "SPEED", checked(["1", "instant", "step"]) { _ = try ReplayOptions.Speed(parsing: $0) },
                default: "1",
                "How fast recorded gaps pass: 1 is as recorded, 10 is ten times as fast, instant leaves them out, step lets "
                    + "nothing leave but what is let go over the control API or on its page."),
            OptionSpec(
                "idle-cap", "D", .duration, "The longest recorded gap that is played; longer ones are cut to it."),
            OptionSpec(
                "time-scale", "N", checked(["10", "100"]) { _ = try ReplayOptions.timeScale(parsing: $0) },
                default: "1",
                "How many times faster the client's clock runs (delays divided by N in its test): patience, keepalives, "
                    + "policies and the report are in the client's time."),
            OptionSpec(
                "keepalive", "HOW", checked(["auto", "off"]) { _ = try ReplayOptions.Keepalive(parsing: $0) },
                default: "auto", "Keepalives towards the client: auto (the protocol's schedule), off, or each D."),
            OptionSpec(
                "server-limits", "HOW",
                checked(["protocol", "off"]) { _ = try ServerLimitsOption(parsing: $0) }, default: "protocol",
                "How patient the server is: protocol (as the protocol's servers are, and never stricter than the "
                    + "recorded one), off, or numbers: 'handshake=15s, silence=30s, pong=30s, message=32KiB'."),
            OptionSpec(
                "until", "WHEN",
                checked(["finished", "signal", "idle:5s"]) { _ = try ReplayOptions.Until(parsing: $0) },
                default: "signal",
                "When the run ends: finished (all that clients began is played), idle:D (nothing happened for D, once a client has "
                    + "come), or signal."),
            .missing("threads", "a replay runs on one loop"),
        ])

    private static let matching = OptionGroup(
        "Matching",
        [
            OptionSpec(
                "match", "HOW",
                checked(["relaxed", "strict", "off"]) { _ = try ReplayOptions.Match(parsing: $0) }, default: "relaxed",
                "How client messages are found on the tape: relaxed takes any order that the protocol allows, strict the "
                    + "recorded one, off takes whatever comes."),
            OptionSpec(
                "ignore", "RULE", checked { _ = try IgnoreRule(parsing: $0) }, repeatable: true,
                "A place that may differ: 'Send:/arguments/0/sentAt' of a message, 'POST /api/orders:/id' of a request's "
                    + "body, '/api/orders:?page' of its query, also of one that opens a session."),
            OptionSpec(
                "causality", "SCOPE",
                checked(["auto", "session", "tape"]) { _ = try ReplayOptions.Causality(parsing: $0) }, default: "auto",
                "Which requests and client messages on other connections a server message waits for. auto: those that precede it "
                    + "on the tape, for a short time. session: none. tape: those that precede it, until --patience ends. "
                    + "If the tape has several sessions, tape needs a name for each, except for sessions of a single request."
            ),
            OptionSpec(
                "patience", "D", .duration, default: "30s", "How long an awaited client message may stay away."),
            OptionSpec(
                "grace", "D", .duration, default: "500ms",
                "How long a quiet client is waited for when only the held push could move it."),
            OptionSpec(
                "on-divergence", "HOW",
                checked(["fail", "warn", "ignore", "stall"]) { _ = try OnDivergence(parsing: $0) },
                default: "fail",
                "When a client does not do what is on the tape: fail ends its session, warn goes on, ignore goes on and "
                    + "passes, stall leaves it without an answer."),
            OptionSpec(
                "on-reconnect", "HOW",
                checked(["resume", "lose:1", "rewind:1", "live", "restart", "next", "refuse"]) {
                    _ = try ReplayOptions.OnReconnect(parsing: $0)
                }, default: "resume",
                "What a client gets that comes back: resume goes on where it was cut, lose:N without the next N pushes, "
                    + "rewind:N with the last N again, live without what was due meanwhile; restart begins anew, next "
                    + "takes the next recorded session, refuse answers 404."),
            OptionSpec(
                "greeting", "NAMES", checked(["auto", "none"]) { _ = try GreetingOption(parsing: $0) }, default: "auto",
                "What each new connection hears first: auto takes what begins connections on the tape, none nothing; "
                    + "else the names of pushes: Welcome,Motd."),
        ])

    private static let judging = OptionGroup(
        "Verdict",
        [
            OptionSpec(
                "expect", "POLICY", checked { _ = try Expectation.parse($0) }, repeatable: true,
                "A policy that every client is held to: "
                    + Expectation.forms.map { "'\($0.example)'" }.joined(separator: ", ") + "."),
            OptionSpec(
                switch: "allow-unplayed",
                "Let a run pass in which no client played anything. Without it that is a divergence: a test whose client "
                    + "never came proves nothing."),
            OptionSpec(
                "report", "PATH", .file,
                "Write the report as a page to an .html file, as JSON to a .json file, as JUnit XML to a .xml file, as text to a "
                    + ".txt file, all of them and the tape of the run into a directory; - is JSON on standard output."),
            OptionGroup.events,
        ])

    private static func checked(
        _ suggestions: [String] = [], _ check: @escaping @Sendable (String) throws -> Void
    ) -> ValueKind { .checked(suggestions: suggestions, check) }
}
