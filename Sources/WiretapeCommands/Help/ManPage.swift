package import WiretapeCommandLine

/// The man page, as roff with the man macros.
package enum ManPage {
    /// One page for the whole tool.
    package static func text(_ specs: [CommandSpec], version: String) -> String {
        var out = ".TH WIRETAPE 1 \"\" \"wiretape \(version)\" \"User Commands\"\n"
        out += ".SH NAME\nwiretape \\- record realtime traffic and play the server's part back\n"
        out += ".SH SYNOPSIS\n.B wiretape\n.I COMMAND\n[\\fIARGUMENTS\\fR]\n"
        out += ".SH DESCRIPTION\n" + line(HelpPage.about)
        out += ".SH COMMANDS\n"
        for spec in specs { out += command(spec) }
        out += faults()
        out += ".SH EXIT STATUS\n"
        let all: [ExitCode] = [
            .success, .failure, .diverged, .secretFound, .badFile, .expectation, .missing, .usage, .timeout,
            .commandUnusable, .commandMissing, .signal,
        ]
        for exit in all { out += ".TP\n.B \(exit.code == 128 ? "128+n" : "\(exit.code)")\n" + line(exit.meaning) }
        out += ".SH ENVIRONMENT\n"
        for (name, meaning) in Surroundings.variables { out += item("\\fB\(escaped(name))\\fR", meaning) }
        out += ".SH FILES\n"
        for (name, meaning) in Surroundings.files { out += item("\\fI\(escaped(name))\\fR", meaning) }
        return out
    }

    /// Every word of rules, as `wiretape help faults` lists them.
    private static func faults() -> String {
        var out = ".SH FAULTS\n" + line(FaultsPage.about)
        for section in FaultsPage.sections {
            out += ".SS \"\(escaped(section.title))\"\n"
            for entry in section.entries {
                out += item("\\fB\(escaped(entry.term))\\fR", entry.summary)
                if let example = entry.example { out += ".br\n.I \"\(escaped(example))\"\n" }
            }
        }
        return out
    }

    private static func command(_ spec: CommandSpec) -> String {
        var out = ".SS \"\(escaped(HelpPage.synopsis(spec)))\"\n"
        out += spec.discussion.split(separator: "\n").map { line(String($0)) }.joined(separator: ".PP\n")
        for argument in spec.positionals { out += item("\\fI\(escaped(argument.spelling))\\fR", argument.help) }
        if let tail = spec.tail { out += item("\\fB\\-\\-\\fR \\fICOMMAND…\\fR", tail.help) }
        for option in spec.options where option.missing == nil {
            out += item("\\fB\(escaped(option.spelling))\\fR", HelpPage.explanation(option))
        }
        for example in spec.examples {
            out += ".PP\n" + line(example.meaning) + ".PP\n.RS 4\n.nf\n" + line(example.command) + ".fi\n.RE\n"
        }
        return out
    }

    private static func item(_ term: String, _ text: String) -> String { ".TP\n\(term)\n" + line(text) }

    private static func line(_ text: String) -> String {
        let safe = escaped(text)
        return (safe.hasPrefix(".") || safe.hasPrefix("'") ? "\\&" : "") + safe + "\n"
    }

    private static func escaped(_ text: String) -> String {
        var out = ""
        for character in text {
            switch character {
            case "\\": out += "\\e"
            case "-": out += "\\-"
            case "\"": out += "\\(dq"
            case "'": out += "\\(aq"
            case "^": out += "\\(ha"
            case "~": out += "\\(ti"
            case "`": out += "\\(ga"
            case "\n": out += " "
            default: out.append(character)
            }
        }
        return out
    }
}
