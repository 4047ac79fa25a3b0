internal import WiretapeBytes
package import WiretapeCommandLine
package import WiretapeProxy

/// A time-out: a duration that is more than nothing, or `off`.
package enum TimeLimitValue {
    package static let kind = ValueKind.checked(suggestions: ["off"]) { text in
        if text != "off" { try check(text, orOff: ", or off") }
    }

    /// A time-out that cannot be switched off.
    package static let positive = ValueKind.checked(suggestions: []) { text in try check(text, orOff: "") }

    private static func check(_ text: String, orOff: String) throws(OptionError) {
        guard let time = DurationText.parse(text), time > 0 else {
            throw OptionError("'\(text)' is no time-out; write 250ms, 2s or 1m\(orOff)")
        }
    }
}

extension ClientLimits {
    /// What the command line says; its values have been checked while parsing.
    package init(_ arguments: ParsedArguments) {
        self.init(
            head: arguments.duration("head-timeout"), body: arguments.duration("body-timeout"),
            idle: arguments.duration("idle-timeout"))
    }
}
