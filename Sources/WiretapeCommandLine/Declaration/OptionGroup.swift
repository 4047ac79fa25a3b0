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

extension OptionGroup {
    /// What bodies, messages and trees may take.
    package static let memory = OptionSpec(
        "memory", "SIZE", .checked(suggestions: ["64MiB", "256MiB", "1GiB"]) { try ParsedArguments.checkMemory($0) },
        default: "256MiB",
        "What bodies, messages and their trees may take together, at least 64MiB; what a process and each connection "
            + "cost comes on top. Beyond it the client that holds most is refused.")

    /// The same for commands that only read tapes.
    package static let fileMemory: OptionSpec = {
        var option = memory
        option.help =
            "What the messages that are held and their trees may take together, at least 64MiB. What takes more is refused."
        return option
    }()

    package static let config = OptionSpec("config", "FILE", .file, configHelp)

    package static let configHelp =
        "Take settings from this file (- is standard input) in place of x.tape.yaml and wiretape.yaml; 'wiretape config' explains them."
}
