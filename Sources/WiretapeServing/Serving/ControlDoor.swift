internal import WiretapeBytes
package import WiretapeCommandLine
package import WiretapeControl
package import WiretapeNet
internal import WiretapeRuntime
internal import WiretapeSystem
internal import WiretapeWire

/// `--control` and `--control-token`: where programs may look at the run and act on it.
package struct ControlDoor {
    private let origin: Origin
    private let access: ControlAccess
    /// For a command behind `--`, beside the address.
    package let token: String?

    /// Nil without `--control`.
    package init?(_ arguments: ParsedArguments) throws(UsageError) {
        let token = arguments.value("control-token")
        guard let text = arguments.value("control") else {
            // A command behind `--` finds the token of its API in the environment.
            guard token == nil || token == ThisProcess.environment("WIRETAPE_CONTROL_TOKEN") else {
                throw arguments.error("--control-token is for --control, which is not there")
            }
            return nil
        }
        do throws(OptionError) {
            origin = try ListenValue.parse(text)
            if origin.isTLS { throw OptionError("--control \(text): the control API speaks plain HTTP") }
            if try UpstreamValue.split(text).name != nil { throw OptionError("--control \(text): it has no name") }
            if token == nil, !ControlDoor.isLoopback(origin.host) {
                throw OptionError(
                    "--control \(text): whoever reaches an address beyond loopback could act on the run; "
                        + "set a token with --control-token")
            }
            access = try ControlAccess(hosts: arguments.all("allow-host"), token: token)
        } catch {
            throw arguments.error(error.message)
        }
        self.token = token
    }

    private static func isLoopback(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        let isIPv4 = parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
        return host == "localhost" || host == "::1" || isIPv4 && parts.first == "127"
    }

    /// Descriptors that its connections may take.
    package static var mostConnections: Int { min(2_048, ProcessSetup.descriptorLimit / 4) }

    /// Opens the API.
    /// - Returns: it, and where programs reach it.
    package func open(on loop: UVLoop, maker: (any RunMaker)? = nil) throws -> (server: ControlServer, url: String) {
        let server = ControlServer(loop, access: access, maker: maker, mostConnections: ControlDoor.mostConnections)
        let address = try server.listen(on: Listening.address(origin, of: "--control", on: loop))
        return (server, Listening.url(address, isTLS: false))
    }
}
