internal import WiretapeBytes
package import WiretapeCommandLine
package import WiretapeWire

extension ViaProxy {
    /// What `--via` says; nil: upstreams are reached by themselves.
    package static func asked(_ arguments: ParsedArguments) throws(UsageError) -> ViaProxy? {
        do throws(OptionError) {
            return try arguments.value("via").map { text throws(OptionError) in try ViaProxy(parsing: text) }
        } catch {
            throw arguments.error(error.message)
        }
    }
}
