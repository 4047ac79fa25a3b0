internal import WiretapeBytes
package import WiretapeCommandLine
package import WiretapeWire

extension LeadBackRules {
    /// What the command line says; nil: nothing is led back, or clients name the hosts themselves.
    package static func asked(_ arguments: ParsedArguments) throws(UsageError) -> LeadBackRules? {
        let texts = arguments.all("lead-back")
        let mode = arguments.value("mode") ?? "reverse"
        guard mode == "reverse" else {
            guard texts.isEmpty else {
                throw arguments.error(
                    "--lead-back: clients of a proxy come back by themselves; leave it out with --mode \(mode)")
            }
            return nil
        }
        let hosts = ["only", "bypass"].filter { !arguments.all($0).isEmpty }
        if texts == ["off"] {
            if let name = hosts.first {
                throw arguments.error("--\(name): with --lead-back off no host is led back; leave one of them out")
            }
            return nil
        }
        do {
            return try LeadBackRules(
                texts, only: HostPatterns(arguments.all("only")), bypass: HostPatterns(arguments.all("bypass")))
        } catch {
            throw arguments.error(error.message)
        }
    }
}
