/// What `--help` prints.
package enum HelpPage {
    /// The page of one command.
    /// - Parameter width: columns to fill.
    package static func text(_ spec: CommandSpec, width: Int) -> String {
        var out = usage(spec, width: width) + "\n"
        out += TextWrap.block(spec.discussion, indent: 0, width: width)
        let column = 26
        if !spec.positionals.isEmpty || spec.tail != nil {
            out += "\nArguments:\n"
            for argument in spec.positionals {
                out += TextWrap.entry(argument.spelling, argument.help, column: column, width: width)
            }
            if let tail = spec.tail { out += TextWrap.entry("-- COMMAND…", tail.help, column: column, width: width) }
        }
        for group in spec.groups {
            let shown = group.options.filter { $0.missing == nil }
            if shown.isEmpty { continue }
            out += "\n\(group.title):\n"
            for option in shown {
                let term = option.short == nil ? "    " + option.spelling : option.spelling
                out += TextWrap.entry(term, explanation(option), column: column, width: width)
            }
        }
        if !spec.examples.isEmpty {
            out += "\nExamples:\n"
            for example in spec.examples {
                out += "  \(example.command)\n" + TextWrap.block(example.meaning, indent: 6, width: width)
            }
        }
        out += "\nExit codes:\n"
        for exit in codes(spec) {
            out += TextWrap.entry(exit.code == 128 ? "128+n" : "\(exit.code)", exit.meaning, column: 9, width: width)
        }
        return out
    }

    /// What an option does, which values it takes and what holds without it.
    package static func explanation(_ option: OptionSpec) -> String {
        var text = option.help
        if case .choice(let words) = option.kind { text += " One of: \(words.joined(separator: ", "))." }
        if let value = option.defaultValue { text += " (default: \(value))" }
        return text
    }

    /// All codes of the command, in order.
    package static func codes(_ spec: CommandSpec) -> [ExitCode] {
        ([.success, .usage] + spec.exitCodes).sorted { $0.code < $1.code }
    }

    /// `Usage: wiretape record --upstream [NAME=]URL… --output FILE [OPTIONS] [-- COMMAND…]`
    package static func usage(_ spec: CommandSpec, width: Int) -> String {
        "Usage: " + TextWrap.lines(synopsis(spec), width: width - 7).joined(separator: "\n           ") + "\n"
    }

    /// The command line in short.
    package static func synopsis(_ spec: CommandSpec) -> String {
        var parts = ["wiretape", spec.name] + spec.positionals.map(\.spelling)
        for option in spec.options where option.isRequired {
            parts.append("--\(option.name) \(option.valueName ?? "")\(option.isRepeatable ? "…" : "")")
        }
        if spec.options.contains(where: { !$0.isRequired && $0.missing == nil && $0.name != "help" }) {
            parts.append("[OPTIONS]")
        }
        if spec.tail != nil { parts.append("[-- COMMAND…]") }
        return parts.joined(separator: " ")
    }
}

extension HelpPage {
    /// What `wiretape --help` prints: the commands.
    package static func overview(_ specs: [CommandSpec], width: Int) -> String {
        var out = "Usage: wiretape COMMAND [ARGUMENTS]\n       wiretape COMMAND --help\n\n"
        out += TextWrap.block(about, indent: 0, width: width)
        out += "\nCommands:\n"
        for spec in specs { out += TextWrap.entry(spec.name, spec.abstract + ".", column: 16, width: width) }
        out += "\nOptions:\n"
        out += TextWrap.entry("-h, --help", "Show this text, or that of a command.", column: 16, width: width)
        out += TextWrap.entry("--version", "Print the version.", column: 16, width: width)
        return out
    }

    /// What the tool is, in a sentence or two.
    package static let about = """
        Wiretape records realtime traffic (WebSockets, server-sent events, streamed HTTP) between a client and its \
        server, and plays the server's part back to a client under test, with faults.
        """
}
