internal import WiretapeBytes
package import WiretapeCommandLine
package import WiretapeProxy
internal import WiretapeRuntime
internal import WiretapeWire

extension ForwardPlan {
    /// What the command line says of hosts; nil in reverse mode.
    /// - Throws: when options of one mode are given in the other, or there is nothing to stand in front of.
    package static func scope(_ arguments: ParsedArguments) throws(UsageError) -> ForwardDoor.Scope? {
        if isTransparent(arguments) { return try transparent(arguments) }
        guard arguments.value("mode") == "forward" else { return nil }
        for name in ["upstream", "allow-host"] where !arguments.all(name).isEmpty {
            throw arguments.error("--\(name): in forward mode clients name the hosts; leave it out")
        }
        if arguments.all("listen").count > 1 { throw arguments.error("--listen: a forward proxy has one listener") }
        return try scope(of: arguments)
    }

    /// Whether connections are redirected.
    package static func isTransparent(_ arguments: ParsedArguments) -> Bool { arguments.value("mode") == "transparent" }

    /// - Throws: when options do not go with it, or the system cannot do it.
    private static func transparent(_ arguments: ParsedArguments) throws(UsageError) -> ForwardDoor.Scope {
        #if !os(Linux)
            throw arguments.error("--mode transparent: where a redirected connection was to go is told by Linux only")
        #else
            for name in ["only", "bypass"] where !arguments.all(name).isEmpty {
                throw arguments.error(
                    "--\(name) is for --mode forward; in transparent mode the rule that redirects chooses the connections"
                )
            }
            for name in ["upstream", "allow-host"] where !arguments.all(name).isEmpty {
                throw arguments.error(
                    "--\(name): in transparent mode connections say themselves where they were to go; leave it out")
            }
            if arguments.has("tls") {
                throw arguments.error(
                    "--tls: in transparent mode each client's first byte tells TLS from plain; leave it out")
            }
            if (arguments.count("threads") ?? 1) > 1 {
                throw arguments.error("--threads: a transparent proxy has one loop")
            }
            return try scope(of: arguments)
        #endif
    }

    private static func scope(of arguments: ParsedArguments) throws(UsageError) -> ForwardDoor.Scope {
        do {
            return ForwardDoor.Scope(
                only: try HostPatterns(arguments.all("only")), bypass: try HostPatterns(arguments.all("bypass")))
        } catch {
            throw arguments.error(error.message)
        }
    }
}
