internal import WiretapeBytes

/// Where a client of a forward proxy wants to go.
package struct ForwardTarget: Hashable, Sendable {
    /// A name in lower case, or an address without brackets.
    package let host: String
    package let port: UInt16

    package init(host: String, port: UInt16) {
        var host = host.lowercased()
        if host.last == "." { host.removeLast() }
        self.host = host
        self.port = port
    }

    /// Of `chat.example.com`, `chat.example.com:8443` or `[::1]:5000`.
    /// - Parameter defaultPort: of an authority that names none; nil: it has to.
    package init?(authority: String, defaultPort: UInt16? = nil) {
        var host = authority[...]
        var digits: Substring?
        if host.first == "[" {
            guard let end = host.firstIndex(of: "]") else { return nil }
            let after = host[end...].dropFirst()
            guard after.isEmpty || after.first == ":" else { return nil }
            if !after.isEmpty { digits = after.dropFirst() }
            host = host[..<end].dropFirst()
            guard host.contains(":") else { return nil }
        } else if let colon = host.firstIndex(of: ":") {
            digits = host[colon...].dropFirst()
            host = host[..<colon]
        }
        let port = digits.map { UInt16($0) } ?? defaultPort
        let isName = host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && !"/?#@[]\\\"<>".utf8.contains($0) }
        guard let port, port > 0, !host.isEmpty, isName else { return nil }
        self.init(host: String(host), port: port)
    }

    /// Of a request in absolute form (`GET http://chat.example.com/chat`): nil for every other one, and for other schemes.
    package init?(absolute head: RequestHead) {
        guard let authority = head.authority, let mark = head.target.firstRange(of: "://") else { return nil }
        switch head.target[..<mark.lowerBound].lowercased() {
        case "http", "ws": self.init(authority: authority, defaultPort: 80)
        default: return nil
        }
    }

    /// The host and port as in a URL or a `Host` header, without the default port of the scheme.
    package func name(isTLS: Bool) -> String {
        let shown = host.contains(":") ? "[\(host)]" : host
        return port == (isTLS ? 443 : 80) ? shown : "\(shown):\(port)"
    }

    /// The server's name on a tape. HTTPS on port 443 has the host only (`chat.example.com`). All others have host and port, so the two servers
    /// of a host have different names.
    package func tapeName(isTLS: Bool) -> String { name(isTLS: isTLS || port == 80) }

    /// The tape name of the same host under the other scheme: `chat.example.com` and `chat.example.com:80`. Nil if the name has another port.
    package static func otherOrigin(of name: String) -> String? {
        if name.hasSuffix(":80") { return String(name.dropLast(3)) }
        let hasNoPort = name.utf8.last == UInt8(ascii: "]") || !name.utf8.contains(UInt8(ascii: ":"))
        return hasNoPort ? "\(name):80" : nil
    }
}

extension HTTPHeadWriter {
    /// The head of a request to a proxy as the server gets it: the target in origin form, without the fields that are the proxy's
    /// (`Proxy-Connection`, `Proxy-Authorization`). Everything else stays as it came.
    /// - Parameter raw: a whole head with a target in absolute form, as ``HTTPHeadInfo/raw``.
    package static func originForm(_ raw: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(raw.count)
        let lines = raw.split(separator: 0x0a, omittingEmptySubsequences: false)
        for (number, line) in lines.enumerated() {
            if number > 0, isProxys(line) { continue }
            out += number == 0 ? originForm(requestLine: line) : Array(line)
            if number < lines.count - 1 { out.append(0x0a) }
        }
        return out
    }

    private static func originForm(requestLine line: ArraySlice<UInt8>) -> [UInt8] {
        let parts = line.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return Array(line) }
        var target = parts[1]
        if let slashes = target.firstRange(of: Array("://".utf8)) {
            target = target[slashes.upperBound...].drop { !"/?#".utf8.contains($0) }
        }
        var path = Array(target)
        if path.first != UInt8(ascii: "/") { path.insert(UInt8(ascii: "/"), at: 0) }
        return Array(parts[0]) + [0x20] + path + [0x20] + Array(parts[2])
    }

    /// The head of a request as a proxy gets it that asks the server in plain HTTP: the target in absolute form, behind the request
    /// line what the proxy wants of us. Everything else stays as it is.
    /// - Parameters:
    ///   - raw: a whole head with a target in origin form, as ``HTTPHeadInfo/raw``.
    ///   - authority: the server's: `chat.example.com:5000`.
    ///   - authorization: the value of `Proxy-Authorization`; nil: none.
    package static func absoluteForm(_ raw: [UInt8], of authority: String, authorization: String?) -> [UInt8] {
        guard let first = raw.firstIndex(of: 0x20), raw[first...].dropFirst().first == UInt8(ascii: "/"),
            let end = raw.firstIndex(of: 0x0a)
        else { return raw }
        var out = Array(raw[...first])
        out.append(utf8: "http://\(authority)")
        out += raw[(first + 1)...end]
        if let authorization { out.append(utf8: "Proxy-Authorization: \(authorization)\r\n") }
        return out + raw[(end + 1)...]
    }

    private static func isProxys(_ line: ArraySlice<UInt8>) -> Bool {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let name = String(decoding: line[..<colon], as: UTF8.self)
        return ["Proxy-Connection", "Proxy-Authorization"].contains { equalIgnoringCase($0, name) }
    }
}
