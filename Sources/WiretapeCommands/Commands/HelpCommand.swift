package import WiretapeCommandLine
internal import WiretapeSystem

/// `wiretape help [COMMAND]`, also as `wiretape --help`.
package struct HelpCommand: Command {
    package static let spec = CommandSpec(
        name: "help", abstract: "Explain the commands",
        discussion: """
            Lists the commands, or explains one of them, which 'wiretape COMMAND --help' does too. 'wiretape help faults' lists \
            every fault, point and condition of rules.
            """,
        positionals: [
            PositionalSpec(
                "COMMAND", .checked(suggestions: [faults]) { _ in }, required: false,
                "The command to explain, or 'faults' for the words of rules.")
        ],
        groups: [
            OptionGroup(
                "Options",
                [OptionSpec(switch: "markdown", "Print the pages of all commands as Markdown (docs/cli.md).")])
        ],
        examples: [
            ExampleSpec("wiretape help completions", "Explains one command."),
            ExampleSpec("wiretape help faults", "Explains what rules can say."),
        ])

    /// The one topic that is no command.
    private static let faults = "faults"
    private let page: String

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        if arguments.has("markdown") {
            page = CommandTable.markdown(Commands.specs)
        } else if arguments.positionals.first == Self.faults {
            page = FaultsPage.text(width: TerminalWidth.current)
        } else if let name = arguments.positionals.first {
            page = HelpPage.text(try Tool.command(name).spec, width: TerminalWidth.current)
        } else {
            page = HelpPage.overview(Commands.specs, width: TerminalWidth.current)
        }
    }

    package func run() -> Int32 {
        Console.output.write(page)
        return 0
    }
}
