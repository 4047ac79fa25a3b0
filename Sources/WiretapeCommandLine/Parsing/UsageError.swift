internal import WiretapeBytes

/// A command line that cannot be meant: exit 64.
package struct UsageError: Error, Hashable, Sendable {
    /// The command, when one was named.
    package var command: String?
    /// A sentence without its full stop that names what was written and what was meant.
    package var message: String

    package init(_ message: String, command: String? = nil) {
        self.message = message
        self.command = command
    }

    /// What goes to standard error.
    package var text: String {
        let page = command.map { "wiretape \($0) --help" } ?? "wiretape --help"
        return "See '\(page)'.\nwiretape: usage (exit 64): \(TerminalText.line(message))\n"
    }
}
