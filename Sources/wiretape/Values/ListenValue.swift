package import WiretapeCore

/// `--listen URL` or `--listen HOST:PORT`.
package enum ListenValue {
    package static func parse(_ text: String) throws(OptionError) -> Origin {
        let origin = try Origin.parse(text, bareScheme: "http")
        if origin.isTLS { throw Origin.fail(text, "asks for TLS, which listeners do not have yet; write http://…") }
        if !["", "/"].contains(origin.rest) { throw Origin.fail(text, "has '\(origin.rest)' behind the port") }
        return origin
    }

    static let kind = ValueKind.checked(suggestions: []) { _ = try parse($0) }
}
