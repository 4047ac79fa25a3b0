/// A server as URLs name it: its host, its port, and whether it speaks TLS.
package struct WebOrigin: Hashable, Sendable {
    package let target: ForwardTarget
    package let isTLS: Bool

    package init(_ target: ForwardTarget, isTLS: Bool) {
        self.target = target
        self.isTLS = isTLS
    }

    /// `https://chat.example.com`: with its port only where that is not the scheme's own.
    package var text: String { "\(isTLS ? "https" : "http")://\(target.name(isTLS: isTLS))" }
}

/// An absolute URL of the web, cut behind its authority.
package struct WebURL {
    package let origin: WebOrigin
    /// It is a `ws` or `wss` one.
    private let isWebSocket: Bool
    /// Path, query and fragment: `/chat?id=1#top`, or nothing.
    package let rest: Substring

    /// Nil for what names no server, for other schemes, and for a URL with a user's name.
    /// - Parameter isTLS: whether the server that said it speaks TLS, which `//host/path` takes for granted. Nil: such a text is none.
    package init?(_ text: String, saidOverTLS isTLS: Bool? = nil) {
        let mark: Range<String.Index>
        let scheme: String
        if text.hasPrefix("//"), let isTLS {
            mark = text.startIndex..<text.index(text.startIndex, offsetBy: 2)
            scheme = isTLS ? "https" : "http"
        } else {
            guard let found = text.firstRange(of: "://") else { return nil }
            mark = found
            scheme = text[..<found.lowerBound].lowercased()
        }
        guard ["http", "https", "ws", "wss"].contains(scheme) else { return nil }
        let isSecure = scheme == "https" || scheme == "wss"
        let authority = text[mark.upperBound...].prefix { !"/?#".contains($0) }
        guard let target = ForwardTarget(authority: String(authority), defaultPort: isSecure ? 443 : 80) else {
            return nil
        }
        origin = WebOrigin(target, isTLS: isSecure)
        isWebSocket = scheme.hasPrefix("ws")
        rest = text[authority.endIndex...]
    }

    /// The same at another place.
    /// - Parameter authority: `127.0.0.1:5000`.
    package func at(_ authority: String, isTLS: Bool) -> String {
        "\(isWebSocket ? "ws" : "http")\(isTLS ? "s" : "")://\(authority)\(rest)"
    }
}
