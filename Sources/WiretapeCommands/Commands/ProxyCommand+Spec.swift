package import WiretapeCommandLine

extension ProxyCommand {
    package static let spec = CommandSpec(
        name: "proxy", abstract: "Relay as record does, writing nothing",
        discussion: """
            Relays HTTP and WebSocket traffic between clients and a server, unchanged and as it arrives: the same path as \
            'wiretape record', with no tape behind it.
            """,
        groups: [.relay, .tls, .faults, .liveReport, .limits, .run],
        tail: RecordCommand.tail,
        examples: [
            ExampleSpec(
                "wiretape proxy --upstream http://127.0.0.1:5000 --listen 127.0.0.1:8080", "Relays until interrupted."),
            ExampleSpec(
                "wiretape proxy --upstream http://127.0.0.1:5000 --fault 'reset after ReceiveMessage[3]' -- ./client",
                "Resets each client's connection once it has the third message."),
        ], exitCodes: [.failure, .expectation, .timeout, .commandUnusable, .commandMissing, .signal])
}
