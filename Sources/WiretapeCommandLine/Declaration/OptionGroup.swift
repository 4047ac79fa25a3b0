/// Options that belong together and may be shared by several commands.
package struct OptionGroup: Sendable {
    /// Heading in `--help`.
    package var title: String
    package var options: [OptionSpec]

    package init(_ title: String, _ options: [OptionSpec]) {
        self.title = title
        self.options = options
    }

    /// In every command.
    package static let help = OptionGroup("Help", [OptionSpec(switch: "help", short: "h", "Show this text.")])
}
