/// docs/cli.md, made from the declarations. A test compares the file with this.
package enum CommandTable {
    /// The whole page.
    package static func markdown(_ specs: [CommandSpec]) -> String {
        var out = "# Command line\n\nMade from the declarations by `wiretape help --markdown`; do not edit.\n\n"
        out += "| Command | |\n|---|---|\n"
        for spec in specs { out += "| [`\(spec.name)`](#\(spec.name)) | \(cell(spec.abstract)) |\n" }
        for spec in specs { out += section(spec) }
        return out
    }

    private static func section(_ spec: CommandSpec) -> String {
        var out = "\n## \(spec.name)\n\n```\n\(HelpPage.synopsis(spec))\n```\n\n\(spec.discussion)\n\n"
        out += "| Argument | |\n|---|---|\n"
        for argument in spec.positionals { out += "| `\(argument.spelling)` | \(cell(argument.help)) |\n" }
        if let tail = spec.tail { out += "| `-- COMMAND…` | \(cell(tail.help)) |\n" }
        for option in spec.options where option.missing == nil {
            out += "| `\(cell(option.spelling))` | \(cell(HelpPage.explanation(option))) |\n"
        }
        for example in spec.examples { out += "\n\(example.meaning)\n\n```\n\(example.command)\n```\n" }
        out += "\nExit codes: "
        out += HelpPage.codes(spec).map { "\($0.code == 128 ? "128+n" : "\($0.code)")" }.joined(separator: ", ") + ".\n"
        return out
    }

    private static func cell(_ text: String) -> String {
        text.map { $0 == "|" ? "\\|" : $0 == "\n" ? " " : String($0) }.joined()
    }
}
