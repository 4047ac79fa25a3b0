extension Completions {
    static func fish(_ specs: [CommandSpec]) -> String {
        var out = "# fish completion of wiretape: put it into ~/.config/fish/completions/wiretape.fish\n"
        out += "complete -c wiretape -f\n"
        for spec in specs {
            out += "complete -c wiretape -n __fish_use_subcommand -a \(spec.name) -d \(fishQuoted(spec.abstract))\n"
        }
        for spec in specs {
            let when = "complete -c wiretape -n '__fish_seen_subcommand_from \(spec.name)'"
            if let first = spec.positionals.first {
                if case .file = first.kind { out += "\(when) -F\n" }
                if !first.kind.suggestions.isEmpty {
                    out += "\(when) -a \(fishQuoted(first.kind.suggestions.joined(separator: " ")))\n"
                }
            }
            for option in offered(spec) {
                var line = "\(when) -l \(option.name)"
                if let short = option.short { line += " -s \(short)" }
                if option.valueName != nil { line += " -r" }
                switch option.kind {
                case .file, .directory: line += " -F"
                case .text, .choice, .count, .duration, .checked:
                    let words = option.kind.suggestions
                    if !words.isEmpty { line += " -a \(fishQuoted(words.joined(separator: " ")))" }
                }
                out += line + " -d \(fishQuoted(option.help))\n"
            }
        }
        return out
    }

    private static func fishQuoted(_ text: String) -> String {
        "'" + text.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "'"
    }
}
