/// A resolved address: a numeric IPv4 or IPv6 host and a port. Names are resolved by ``Loop/resolve(_:port:_:)``.
package struct Address: Hashable, Sendable, CustomStringConvertible {
    /// `127.0.0.1` or `::1`, never a name and never in brackets.
    package var host: String
    /// 0 asks the system for a free port.
    package var port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// `127.0.0.1:80` or `[::1]:80`.
    package var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
