package import WiretapeBytes

/// Who is let in, by the host that a request names and by the page that it comes from.
///
/// A page from anywhere can make the browser on this machine ask what listens on loopback. What it learns is bounded by two
/// things that it cannot change: `Origin`, and `Host` when its own name was made to resolve to this machine (DNS rebinding).
/// Hosts that no stranger's page can have are let in: loopback, numbers, names without a dot, `.local` and `.internal`. So are
/// pages of loopback, on any port, and pages of the host that they ask. Everything else is named by `--allow-host` and
/// `--allow-origin` (docs/internals/access-and-limits.md).
package struct AccessPolicy: Hashable, Sendable {
    /// Lets everything in: for what is no listener of a command.
    package static let open = AccessPolicy()

    package enum Refusal: Hashable, Sendable {
        case host(String)
        case origin(String)
        /// A page of a site that the browser does not name.
        case unknownSite
        /// It was made to a proxy: CONNECT, or an absolute form; with what it asks for.
        case proxied(String)

        /// A sentence without its full stop, which says how to let it in.
        package var reason: String {
            switch self {
            case .host(let host):
                let name = Summary.line(host)
                return "requests for the host '\(name)' are not let in, since any page could make its name lead here; "
                    + "'--allow-host \(name)' lets them in"
            case .origin(let origin):
                let name = Summary.line(origin)
                return "pages of '\(name)' are not let in; '--allow-origin \(name)' lets them in"
            case .unknownSite:
                return
                    "a page of another site sent the request without Origin or Referer; \"--allow-origin '*'\" lets pages of every site in"
            case .proxied(let target):
                return "'\(Summary.line(target))' is asked for as of a proxy, and this listener stands for one server; "
                    + "'--mode forward' makes a proxy of it"
            }
        }
    }

    private let isOpen: Bool
    /// In lower case, without port: `chat.example.com`, `*.example.com`, `*`.
    private let hosts: [String]
    /// In lower case: `https://app.example.com`, `null`, `*`.
    private let origins: [String]

    private init() {
        isOpen = true
        hosts = []
        origins = []
    }

    package init(hosts: [String], origins: [String]) throws(OptionError) {
        isOpen = false
        var names: [String] = []
        for host in hosts { names.append(try Self.host(parsing: host)) }
        var pages: [String] = []
        for origin in origins { pages.append(try Self.origin(parsing: origin)) }
        self.hosts = names
        self.origins = pages
    }

    // MARK: Judging

    /// Why a request is not let in; nil when it is.
    /// - Parameter judgesOrigin: false where the page is for the upstream to judge.
    package func refusal(_ head: RequestHead, judgesOrigin: Bool) -> Refusal? {
        guard !isOpen else { return nil }
        for authority in [head.headers.first("Host"), head.authority] {
            if let authority, !letsIn(host: authority) { return .host(authority) }
        }
        if head.isForProxy { return .proxied(head.target) }
        guard judgesOrigin else { return nil }
        if let origin = head.headers.first("Origin") { return letsIn(origin: origin, head) ? nil : .origin(origin) }
        // Requests for images, scripts and links have no `Origin`. Browsers mark those to another site (Fetch Metadata, W3C).
        guard let site = head.headers.first("Sec-Fetch-Site"), equalIgnoringCase(site, "cross-site") else { return nil }
        guard let page = head.headers.first("Referer").flatMap(Self.origin(of:)) else {
            return origins.contains("*") ? nil : .unknownSite
        }
        return letsIn(origin: page, head) ? nil : .origin(page)
    }

    /// Scheme, host and port of a page's address.
    private static func origin(of address: String) -> String? {
        guard let mark = address.firstRange(of: "://") else { return nil }
        let end = address[mark.upperBound...].firstIndex { $0 == "/" || $0 == "?" || $0 == "#" }
        return String(address[..<(end ?? address.endIndex)])
    }

    /// An answer that was made for a request, as its page may read it: with the page's credentials when its origin is
    /// allowed by itself, without them when it is one of all, and not at all otherwise.
    package func restricted(_ answer: HTTPAnswer, to head: RequestHead) -> HTTPAnswer {
        guard !isOpen, let origin = head.headers.first("Origin"), !isTrusted(origin, head) else { return answer }
        let hidden = origins.contains("*") ? ["access-control-allow-credentials"] : Self.grants
        var answer = answer
        answer.headers.removeAll { field in hidden.contains { equalIgnoringCase($0, field.name) } }
        return answer
    }

    private static let grants = ["access-control-allow-origin", "access-control-allow-credentials"]

    private func letsIn(host authority: String) -> Bool {
        guard let host = Self.host(of: authority) else { return hosts.contains("*") }
        if Self.isLoopback(host) || Self.isOurs(host) { return true }
        return hosts.contains { $0 == "*" || $0 == host || $0.hasPrefix("*.") && host.hasSuffix($0.dropFirst()) }
    }

    private func letsIn(origin: String, _ head: RequestHead) -> Bool {
        origins.contains("*") || isTrusted(origin, head)
    }

    /// Pages of this machine, of the host that was asked, and those that were named.
    private func isTrusted(_ origin: String, _ head: RequestHead) -> Bool {
        let origin = origin.lowercased()
        if origins.contains(origin) { return true }
        guard let mark = origin.firstRange(of: "://") else { return false }
        let authority = String(origin[mark.upperBound...])
        guard let host = Self.host(of: authority) else { return false }
        return Self.isLoopback(host) || authority == head.headers.first("Host")?.lowercased()
    }

    // MARK: Names

    /// The host of `Host`, of an authority or of an origin's: in lower case, without port, brackets and a last dot. Nil for
    /// what is none.
    private static func host(of authority: String) -> String? {
        let text = authority.lowercased()
        var host = text[...]
        if host.first == "[" {
            guard let end = host.firstIndex(of: "]") else { return nil }
            guard isPort(host[host.index(after: end)...]) else { return nil }
            host = host[..<end].dropFirst()
            guard host.contains(":") else { return nil }
        } else if let colon = host.firstIndex(of: ":") {
            guard isPort(host[colon...]) else { return nil }
            host = host[..<colon]
        }
        if host.last == "." { host = host.dropLast() }
        let isName = host.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
                UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "%"):
                true
            default: false
            }
        }
        return host.isEmpty || !isName ? nil : String(host)
    }

    /// Nothing, or `:` and digits.
    private static func isPort(_ text: Substring) -> Bool {
        text.isEmpty
            || text.first == ":" && text.dropFirst().utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }

    /// Names that lead to this machine whatever a name server says.
    package static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host.hasSuffix(".localhost") || host == "::1" || isIPv4(host) && host.hasPrefix("127.")
    }

    /// Names that no stranger can own.
    private static func isOurs(_ host: String) -> Bool {
        host.contains(":") || isIPv4(host) || !host.contains(".") || host.hasSuffix(".local")
            || host.hasSuffix(".internal")
    }

    /// Four numbers in plain decimal.
    private static func isIPv4(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { part in UInt8(part).map { "\($0)" == part } ?? false }
    }

    // MARK: Options

    /// `--allow-host`: `chat.example.com`, `*.example.com` or `*`; a port is of no account.
    package static func host(parsing text: String) throws(OptionError) -> String {
        if text == "*" { return text }
        let isBelow = text.hasPrefix("*.")
        guard let host = host(of: isBelow ? String(text.dropFirst(2)) : text) else {
            throw OptionError("'\(text)' is no host; write chat.example.com, *.example.com, or * for every one")
        }
        return isBelow ? "*." + host : host
    }

    /// `--allow-origin`: `https://app.example.com`, `null` or `*`.
    package static func origin(parsing text: String) throws(OptionError) -> String {
        let origin = text.lowercased()
        if origin == "*" || origin == "null" { return origin }
        guard let mark = origin.firstRange(of: "://"), mark.lowerBound > origin.startIndex,
            host(of: String(origin[mark.upperBound...])) != nil
        else {
            throw OptionError(
                "'\(text)' is no origin; write https://app.example.com, null for pages of files, or * for every one")
        }
        return origin
    }
}

extension RequestHead {
    /// Whether the client takes whom it asks for a proxy.
    package var isForProxy: Bool { method == "CONNECT" || authority != nil }

    /// The authority of a target in absolute form: `http://chat.example.com/chat`. Nil for every other target.
    package var authority: String? {
        guard !target.utf8.starts(with: "/".utf8), let mark = target.firstRange(of: "://") else { return nil }
        return String(target[mark.upperBound...].prefix { !"/?#".contains($0) })
    }
}
