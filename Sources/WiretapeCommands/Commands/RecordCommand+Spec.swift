package import WiretapeCommandLine

extension RecordCommand {
    package static let spec = CommandSpec(
        name: "record", abstract: "Stand in front of a server and write what passes to a tape",
        discussion: """
            Relays HTTP and WebSocket traffic between clients and a server, unchanged and as it arrives, and writes it to a \
            tape. Clients use the address that is printed at the start in place of the server's.
            Credentials do not reach the tape: numbered pseudonyms stand in their places (docs/redaction.md). SIGINT or SIGTERM \
            closes the connections and finishes the tape; a second one stops at once, and the tape is still readable.
            """,
        groups: [tape, .redaction, .relay, .tls, .faults, .liveReport, .limits, .run],
        tail: tail,
        examples: [
            ExampleSpec(
                "wiretape record --upstream http://127.0.0.1:5000 --output chat.tape.gz", "Records until interrupted."),
            ExampleSpec(
                "wiretape record --upstream https://chat.example.com -o chat.tape.gz -- npm run client -- {url}",
                "Records what one command does."),
        ], exitCodes: [.failure, .expectation, .timeout, .commandUnusable, .commandMissing, .signal])

    static let tail = TailSpec(
        "A command to run against the listener. It finds WIRETAPE_URL and WIRETAPE_WS_URL in its environment, {url} in its "
            + "arguments is replaced, and the run ends with it. Each listener is WIRETAPE_URL_NAME and {url:NAME}.")

    private static let tape = OptionGroup(
        "Tape",
        [
            OptionSpec(
                "output", short: "o", "FILE", .file, required: true,
                "The tape: compressed when its name ends in .gz (chat.tape.gz), lines of text otherwise (chat.tape). "
                    + "- is standard output, as lines."),
            OptionSpec(switch: "force", "Write over a file that is there."),
            OptionSpec(
                "on-overload", "HOW", .choice(["wait", "drop"]), default: "wait",
                "When the disk is slower than the traffic: wait slows the traffic down, drop leaves events out and counts "
                    + "them on the tape."),
            OptionSpec(
                "on-disk-full", "HOW", .choice(["stop", "continue"]), default: "stop",
                "When the tape cannot be written any more: stop ends the run with exit code 1, continue relays on "
                    + "without recording."),
            OptionSpec(
                "sync", "WHEN", .choice(["every-member", "stop", "off"]), default: "stop",
                "When the tape is handed to the device, so that it outlives a loss of power: after every piece that is "
                    + "written (four times a second and more), once at the end, or never."),
            OptionSpec(
                switch: "canonical",
                "Bring the tape into canonical form when the recording ends, as 'wiretape canon' does: recordings of the same "
                    + "conversation differ in their start and times only."),
        ])
}
