package import WiretapeCommandLine
internal import WiretapeSystem

/// `wiretape man`.
package struct ManCommand: Command {
    package static let spec = CommandSpec(
        name: "man", abstract: "Print the man page",
        discussion: "Prints the man page of all commands as roff, for 'man -l' or a man1 folder.",
        examples: [
            ExampleSpec("wiretape man | man -l -", "Shows it."),
            ExampleSpec("wiretape man > ~/.local/share/man/man1/wiretape.1", "Installs it."),
        ])

    package init(_ arguments: ParsedArguments) {}

    package func run() -> Int32 {
        Console.output.write(ManPage.text(Commands.specs, version: ToolVersion.text))
        return 0
    }
}
