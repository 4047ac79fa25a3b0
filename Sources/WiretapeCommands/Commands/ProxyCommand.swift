package import WiretapeCommandLine
internal import WiretapeControl
internal import WiretapeFaults
internal import WiretapeServing
internal import WiretapeSystem

/// `wiretape proxy`.
package struct ProxyCommand: Command {
    private let arguments: ParsedArguments
    private let plan: RelayPlan

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        self.arguments = arguments
        plan = try RelayPlan(arguments)
    }

    package func run() throws -> Int32 {
        let follower = try RelayFollower(.proxy, plan)
        return try RelayFollower.telling(follower) { try relay(follower) }
    }

    private func relay(_ follower: RelayFollower?) throws -> Int32 {
        try CommandCheck.check(arguments.tail)
        let shell = try RunShell(arguments)
        defer { shell.close() }
        let addresses = try Listening.addresses(plan, on: shell.loop)
        let seed = plan.faults.seed ?? UInt64.random(in: 0..<1 << 53)
        let log = Log(arguments)
        let doors = try plan.openDoors(log)
        let relay = RelayRun(plan, shell, try UpstreamConnector(plan), seed: seed, writer: nil, follower, log)
        defer { relay.abandon() }
        var ready = ReadyLine(
            urls: try relay.start(addresses, doors), seed: plan.faults.plan.rules.isEmpty ? nil : seed,
            trust: doors.environment, listens: plan.listens.map(\.origin))
        ready.bypass = plan.bypass
        try relay.openControl(&ready, maker: RunFactory(log))
        ready.tell(arguments, log)
        let end = try shell.run(ready) { relay.stop() }
        relay.finish()
        let n = relay.connections
        let troubles = relay.troubles.map { "; \($0)" } ?? ""
        let own = Verdict(.done, 0, "\(n) \(n == 1 ? "connection" : "connections") relayed\(troubles)")
        return relay.tellEnd(end.verdict(try relay.tell(own, end, log)), end, log).tell(arguments)
    }
}

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
