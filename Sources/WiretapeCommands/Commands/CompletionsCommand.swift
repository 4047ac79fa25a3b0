package import WiretapeCommandLine
internal import WiretapeSystem

/// `wiretape completions SHELL`.
package struct CompletionsCommand: Command {
    package static let spec = CommandSpec(
        name: "completions", abstract: "Print a completion script for a shell",
        discussion: "Prints a script that completes the commands, options and values of wiretape.",
        positionals: [PositionalSpec("SHELL", .choice(Completions.shells), "One of: bash, zsh, fish.")],
        examples: [
            ExampleSpec("source <(wiretape completions bash)", "Completes in this bash."),
            ExampleSpec(
                "wiretape completions fish > ~/.config/fish/completions/wiretape.fish", "Completes in every fish."),
        ])

    private let shell: String

    package init(_ arguments: ParsedArguments) { shell = arguments.positionals[0] }

    package func run() -> Int32 {
        Console.output.write(Completions.script(for: shell, Commands.specs))
        return 0
    }
}
