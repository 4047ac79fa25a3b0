internal import WiretapeBytes
package import WiretapeRedaction
internal import WiretapeSystem

/// Text for people, on standard error. Its further lines are indented, so that nothing from outside looks like ours.
package struct Log: Sendable {
    package enum Level: String, CaseIterable, Comparable, Sendable {
        case error, warning, info

        package static func < (a: Self, b: Self) -> Bool { a.rank < b.rank }

        private var rank: Int { self == .error ? 0 : self == .warning ? 1 : 2 }
    }

    package var level: Level
    /// What is a secret.
    package let rules: RedactionRules
    /// Texts that the user wrote, such as rule names. They are never redacted.
    package var words: [String] = []

    /// From `--log-level`, `--quiet` and `--redact`.
    package init(_ arguments: ParsedArguments) {
        let level = arguments.value("log-level").flatMap(Level.init(rawValue:)) ?? .info
        self.level = arguments.has("quiet") ? .error : level
        // What is wrong with them is told by who has them.
        rules = (try? RedactionChoice(arguments))?.rules ?? RedactionRules()
    }

    package func info(_ text: String) { write(text, .info) }
    package func warning(_ text: String) { write(text, .warning) }
    package func error(_ text: String) { write(text, .error) }

    /// A text without what is known to be a secret by its name, its looks, or the user's rules.
    /// - Parameter more: texts of the user besides ``words``.
    package func masked(_ text: String, sparing more: [String] = []) -> String {
        var redactor = Redactor(rules)
        return redactor.text(text, sparing: words + more)
    }

    private func write(_ text: String, _ level: Level) {
        guard level <= self.level else { return }
        let text = masked(text)
        // The golden texts of the engine begin with our name already.
        Console.error.write((text.hasPrefix("wiretape: ") ? "" : "wiretape: ") + TerminalText.block(text) + "\n")
    }
}
