package import WiretapeBytes

/// `--listen [NAME=]URL` or `--listen [NAME=]HOST:PORT`.
package enum ListenValue {
    /// A free port of this machine.
    package static func free(_ scheme: String) -> Origin {
        Origin(scheme: scheme, host: "127.0.0.1", port: 0, rest: "")
    }

    /// - Parameter scheme: of an address that names none: `https` with `--tls`.
    package static func parse(_ text: String, scheme: String = "http") throws(OptionError) -> Origin {
        let origin = try Origin.parse(UpstreamValue.split(text).rest, bareScheme: scheme)
        if !["", "/"].contains(origin.rest) { throw Origin.fail(text, "has '\(origin.rest)' behind the port") }
        return origin
    }

    /// Where the listeners of these names are: at the address that names it, else at the n-th that names none, else at a
    /// free port of the first one's host.
    /// - Parameters:
    ///   - what: what the names are, for messages: `upstreams`.
    ///   - scheme: of addresses that name none.
    package static func assign(
        _ texts: [String], to names: [String], _ what: String, scheme: String = "http"
    ) throws(OptionError) -> [Origin] {
        var named: [String: Origin] = [:]
        var others: [Origin] = []
        for text in texts {
            let origin = try parse(text, scheme: scheme)
            guard let name = try UpstreamValue.split(text).name else {
                others.append(origin)
                continue
            }
            guard names.contains(name) else {
                let hint = NearestName.hint(name, among: names)
                throw OptionError(
                    "--listen \(text): there is no '\(name)' among the \(what)"
                        + (hint.isEmpty ? " \(names.joined(separator: ", "))" : hint))
            }
            guard named.updateValue(origin, forKey: name) == nil else {
                throw OptionError("--listen \(text): '\(name)' has an address already")
            }
        }
        if others.count > names.count - named.count {
            throw OptionError(
                "--listen is given \(texts.count) times for \(names.count) \(what); the n-th is for the n-th")
        }
        var free = others.first ?? names.lazy.compactMap { named[$0] }.first ?? free(scheme)
        free.port = 0
        return names.map { name in named[name] ?? (others.isEmpty ? free : others.removeFirst()) }
    }

    /// - Throws: when an address has a name where listeners have none.
    package static func parseUnnamed(_ text: String, scheme: String = "http") throws(OptionError) -> Origin {
        if let name = try UpstreamValue.split(text).name {
            throw OptionError(
                "--listen \(text): there is one upstream, whose listeners have no names; leave out '\(name)='")
        }
        return try parse(text, scheme: scheme)
    }

    package static let kind = ValueKind.checked(suggestions: []) { _ = try parse($0) }
}
