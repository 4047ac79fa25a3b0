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
        let shell = try RunShell(arguments)
        defer { shell.close() }
        let addresses = try Listening.addresses(plan, on: shell.loop)
        let relay = RelayRun(plan, shell, try UpstreamConnector(plan), writer: nil)
        defer { relay.abandon() }
        let ready = ReadyLine(urls: try relay.start(addresses))
        ready.tell(arguments, Log(arguments))
        let end = try shell.run(ready) { relay.stop() }
        relay.finish()
        let n = relay.connections
        return end.verdict(Verdict(.done, 0, "\(n) \(n == 1 ? "connection" : "connections") relayed")).tell(arguments)
    }
}
