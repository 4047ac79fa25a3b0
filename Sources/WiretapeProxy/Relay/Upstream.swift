package import WiretapeRuntime

/// An origin that a relay forwards to.
package struct Upstream: Hashable, Sendable {
    /// `main` unless given as `NAME=URL`.
    package var name: String
    /// As the tape's header and messages show it: `http://127.0.0.1:5000`.
    package var url: String
    package var host: String
    package var port: UInt16
    package var isTLS: Bool
    /// Where it is, when that is known without looking its name up.
    package var address: Address?

    package init(name: String, url: String, host: String, port: UInt16, isTLS: Bool, address: Address? = nil) {
        self.address = address
        self.name = name
        self.url = url
        self.host = host
        self.port = port
        self.isTLS = isTLS
    }

    /// The value of `Host`: no port where it is the scheme's own.
    package var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isTLS ? 443 : 80) ? name : "\(name):\(port)"
    }
}
