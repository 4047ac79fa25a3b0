package import WiretapeBytes

/// `--upstream [NAME=]URL`.
package struct UpstreamValue: Hashable, Sendable {
    /// `main` when none is given.
    package var name: String
    package var origin: Origin

    package static func parse(_ text: String) throws(OptionError) -> UpstreamValue {
        let (name, url) = try split(text)
        let origin = try Origin.parse(url)
        if origin.port == 0 { throw Origin.fail(text, "has port 0, and a server listens on another") }
        if !["", "/"].contains(origin.rest) {
            throw Origin.fail(
                text, "has '\(origin.rest)' behind the origin; paths are passed on as the client writes them")
        }
        return UpstreamValue(name: name ?? "main", origin: origin)
    }

    /// `NAME=REST`, or a text without a name.
    package static func split(_ text: String) throws(OptionError) -> (name: String?, rest: String) {
        guard let equals = text.firstIndex(of: "="), !text[..<equals].contains(where: { "/:?".contains($0) }) else {
            return (nil, text)
        }
        let name = String(text[..<equals])
        let isWord = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-.".contains($0)) }
        if name.isEmpty || !isWord {
            throw Origin.fail(text, "has the name '\(name)', and names are letters, digits, '-', '_' and '.'")
        }
        return (name, String(text[equals...].dropFirst()))
    }

    package static let kind = ValueKind.checked(suggestions: []) { _ = try parse($0) }
}
