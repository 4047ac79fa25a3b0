/// Where a hub is: `http://host[:port]/path[?query]`, or the same with `ws`.
package struct HubURL: Hashable, Sendable, CustomStringConvertible {
    /// Without brackets.
    package var host: String
    package var port: UInt16
    /// With the leading slash and without one at the end.
    package var path: String
    /// Without the question mark; empty when there is none.
    package var query: String

    /// Nil for anything else: other schemes, user names, ports that are no numbers.
    package init?(_ text: String) {
        guard let mark = text.firstRange(of: "://"), ["http", "ws"].contains(text[..<mark.lowerBound].lowercased())
        else { return nil }
        var rest = text[mark.upperBound...].prefix { $0 != "#" }
        query = ""
        if let question = rest.firstIndex(of: "?") {
            query = String(rest[rest.index(after: question)...])
            rest = rest[..<question]
        }
        var authority = rest.prefix { $0 != "/" }
        path = String(rest[authority.endIndex...])
        while path.hasSuffix("/") { path.removeLast() }
        port = 80
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            guard let number = UInt16(authority[authority.index(after: colon)...]) else { return nil }
            port = number
            authority = authority[..<colon]
        }
        if authority.hasPrefix("["), authority.hasSuffix("]") { authority = authority.dropFirst().dropLast() }
        guard !authority.isEmpty, !authority.contains("@") else { return nil }
        host = String(authority)
    }

    /// For the `Host` field.
    package var authority: String {
        (host.contains(":") ? "[\(host)]" : host) + (port == 80 ? "" : ":\(port)")
    }

    package var description: String { "http://\(authority)\(path)\(query.isEmpty ? "" : "?\(query)")" }

    /// The target of a request below the path, with `item` added to the query.
    package func target(_ below: String, adding item: String?) -> String {
        let items = (query.isEmpty ? [] : [query]) + (item.map { [$0] } ?? [])
        let whole = path + below
        return (whole.isEmpty ? "/" : whole) + (items.isEmpty ? "" : "?" + items.joined(separator: "&"))
    }
}
