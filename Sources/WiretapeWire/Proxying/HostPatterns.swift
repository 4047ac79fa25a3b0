package import WiretapeBytes

/// Hosts that a person names: `chat.example.com`, `*.example.com` (everything below it), `127.0.0.1`, each with or without
/// `:PORT`, and `*` for all.
package struct HostPatterns: Hashable, Sendable {
    private struct Pattern: Hashable, Sendable {
        /// In lower case; nil: every host.
        let host: String?
        /// Nil: every port.
        let port: UInt16?
    }

    private let patterns: [Pattern]

    /// Names no host.
    package static let none = HostPatterns()

    private init() { patterns = [] }

    package init(_ texts: [String]) throws(OptionError) {
        var patterns: [Pattern] = []
        for text in texts { patterns.append(try Self.pattern(text)) }
        self.patterns = patterns
    }

    package var isEmpty: Bool { patterns.isEmpty }

    package func matches(_ target: ForwardTarget) -> Bool {
        patterns.contains { pattern in
            guard pattern.port == nil || pattern.port == target.port else { return false }
            guard let host = pattern.host else { return true }
            return host.hasPrefix("*.") ? target.host.hasSuffix(host.dropFirst()) : target.host == host
        }
    }

    /// As `no_proxy` has them, for a command that is to go there by itself: names, and `.example.com` for what is below one.
    package var environmentValue: String {
        patterns.compactMap { pattern in
            guard let host = pattern.host else { return "*" }
            let name = host.hasPrefix("*.") ? String(host.dropFirst()) : host
            return pattern.port.map { "\(name):\($0)" } ?? name
        }.joined(separator: ",")
    }

    private static func pattern(_ text: String) throws(OptionError) -> Pattern {
        if text == "*" { return Pattern(host: nil, port: nil) }
        let isBelow = text.hasPrefix("*.")
        let rest = isBelow ? String(text.dropFirst(2)) : text
        // A port of 1 stands for none: what is left is whether one was written.
        guard let target = ForwardTarget(authority: rest, defaultPort: 1), !target.host.contains("*") else {
            throw OptionError(
                "'\(text)' is no host; write chat.example.com, *.example.com, chat.example.com:8443, or * for every one"
            )
        }
        let hasPort = rest.hasPrefix("[") ? rest.contains("]:") : rest.contains(":")
        return Pattern(host: (isBelow ? "*." : "") + target.host, port: hasPort ? target.port : nil)
    }
}
