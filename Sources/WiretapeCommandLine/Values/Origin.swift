package import WiretapeBytes

/// Scheme, host and port of a URL that a person wrote.
package struct Origin: Hashable, Sendable {
    /// `http`, `https`, `ws` or `wss`.
    package var scheme: String
    /// A name or a number, IPv6 without brackets.
    package var host: String
    package var port: UInt16
    /// What follows, beginning with `/`, `?` or `#`; empty when nothing does.
    package var rest: String

    package var isTLS: Bool { scheme == "https" || scheme == "wss" }

    /// Whether only this machine reaches it, as far as the text tells.
    package var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }

    /// `http://[::1]:5000`.
    package var text: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(scheme)://\(name):\(port)"
    }

    package static let schemes = ["http", "https", "ws", "wss"]

    /// Reads `SCHEME://HOST[:PORT][/…]`.
    /// - Parameter bareScheme: the scheme of a text without one, and then a port must be named; nil when it must have one.
    package static func parse(_ text: String, bareScheme: String? = nil) throws(OptionError) -> Origin {
        var rest = text[...]
        let scheme: String
        if let mark = text.firstRange(of: "://") {
            scheme = text[..<mark.lowerBound].lowercased()
            rest = text[mark.upperBound...]
            guard schemes.contains(scheme) else {
                let meant = NearestName.hint(scheme, among: schemes)
                throw fail(text, "has the scheme '\(scheme)', and it must be one of http, https, ws, wss\(meant)")
            }
        } else if let bareScheme {
            scheme = bareScheme
        } else {
            throw fail(text, "is no URL; write http://HOST:PORT")
        }
        let authority = rest.prefix { !"/?#".contains($0) }
        rest = rest[authority.endIndex...]
        if authority.contains("@") { throw fail(text, "carries a user name or a password, which has no place here") }
        let (host, digits) = try split(authority, of: text)
        var port: UInt16? = bareScheme == nil ? (scheme == "https" || scheme == "wss" ? 443 : 80) : nil
        if let digits {
            port = UInt16(digits)
            if port == nil { throw fail(text, "has the port '\(digits)', and ports go from 0 to 65535") }
        }
        guard let port else { throw fail(text, "names no port; write HOST:PORT, with port 0 to get a free one") }
        return Origin(scheme: scheme, host: host, port: port, rest: String(rest))
    }

    /// Host and port's digits.
    private static func split(
        _ authority: Substring, of text: String
    ) throws(OptionError) -> (host: String, digits: Substring?) {
        if authority.first == "[" {
            guard let end = authority.firstIndex(of: "]") else { throw fail(text, "has a '[' without its ']'") }
            let host = String(authority[..<end].dropFirst())
            let after = authority[end...].dropFirst()
            guard host.contains(":"), after.isEmpty || after.first == ":" else { throw fail(text, "is no address") }
            return (host, after.isEmpty ? nil : after.dropFirst())
        }
        if authority.count(where: { $0 == ":" }) > 1 {
            throw fail(text, "is an IPv6 address without brackets; write [::1]:5000")
        }
        let colon = authority.firstIndex(of: ":")
        let host = String(colon.map { authority[..<$0] } ?? authority)
        if host.isEmpty { throw fail(text, "names no host; 127.0.0.1 is this machine only") }
        return (host, colon.map { authority[$0...].dropFirst() })
    }

    package static func fail(_ text: String, _ message: String) -> OptionError { OptionError("'\(text)' \(message)") }
}
