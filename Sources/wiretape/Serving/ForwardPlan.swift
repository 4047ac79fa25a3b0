internal import WiretapeBytes
internal import WiretapeProxy
internal import WiretapeRuntime
internal import WiretapeWire

/// What makes a listener a forward proxy.
struct ForwardPlan: Sendable {
    let scope: ForwardDoor.Scope
    /// Of TLS within.
    let inner: TLSDoor
    let page: AuthorityPage
    /// A line for people.
    let say: @Sendable (String) -> Void

    /// What the command line says of hosts; nil in reverse mode.
    /// - Throws: when options of one mode are given in the other, or there is nothing to stand in front of.
    static func scope(_ arguments: ParsedArguments) throws(UsageError) -> ForwardDoor.Scope? {
        guard arguments.value("mode") == "forward" else { return nil }
        for name in ["upstream", "allow-host"] where !arguments.all(name).isEmpty {
            throw arguments.error("--\(name): in forward mode clients name the hosts; leave it out")
        }
        if arguments.all("listen").count > 1 { throw arguments.error("--listen: a forward proxy has one listener") }
        do {
            return ForwardDoor.Scope(
                only: try HostPatterns(arguments.all("only")), bypass: try HostPatterns(arguments.all("bypass")))
        } catch {
            throw arguments.error(error.message)
        }
    }
}
