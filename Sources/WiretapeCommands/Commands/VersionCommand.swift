package import WiretapeCommandLine
internal import WiretapeSystem

/// `wiretape version`, also as `wiretape --version`.
package struct VersionCommand: Command {
    package static let spec = CommandSpec(
        name: "version", abstract: "Print the version", discussion: "Prints the version of wiretape.")

    package init(_ arguments: ParsedArguments) {}

    package func run() -> Int32 {
        Console.output.write("wiretape \(ToolVersion.text)\n")
        return 0
    }
}
