extension Completions {
    static func zsh(_ specs: [CommandSpec]) -> String {
        var out = """
            #compdef wiretape
            # zsh completion of wiretape: put it into a folder of $fpath as _wiretape
            _wiretape() {
                local -a commands
                commands=(

            """
        for spec in specs { out += "        \(quoted(spec.name + ":" + spec.abstract))\n" }
        out += """
                )
                if (( CURRENT == 2 )); then
                    _describe command commands
                    return
                fi
                local name="$words[2]"
                shift words
                (( CURRENT-- ))
                case "$name" in

            """
        for spec in specs {
            out += "    \(spec.name))\n        _arguments -S"
            for option in offered(spec) { out += " \\\n            \(zshOption(option))" }
            for (place, argument) in spec.positionals.enumerated() {
                let at = argument.isRepeatable ? "*" : "\(place + 1)"
                out += " \\\n            \(quoted("\(at):\(argument.name):\(zshAction(argument.kind))"))"
            }
            out += " ;;\n"
        }
        return out
            + "    esac\n}\nif [[ \"$funcstack[1]\" == _wiretape ]]; then _wiretape \"$@\"; else compdef _wiretape wiretape; fi\n"
    }

    private static func zshOption(_ option: OptionSpec) -> String {
        let help = option.help.map { "[]:\\".contains($0) ? "\\\($0)" : String($0) }.joined()
        let value = option.valueName.map { name in
            ":" + name.map { ":[]".contains($0) ? "\\\($0)" : String($0) }.joined() + ":" + zshAction(option.kind)
        }
        let times = option.isRepeatable ? "*" : ""
        return quoted("\(times)--\(option.name)[\(help)]\(value ?? "")")
    }

    private static func zshAction(_ kind: ValueKind) -> String {
        switch kind {
        case .file: return "_files"
        case .directory: return "_files -/"
        case .text, .choice, .count, .duration, .checked:
            return kind.suggestions.isEmpty ? " " : "(\(kind.suggestions.joined(separator: " ")))"
        }
    }
}
