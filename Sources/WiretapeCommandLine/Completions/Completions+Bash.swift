extension Completions {
    /// For bash 4 and newer, with or without the bash-completion package.
    static func bash(_ specs: [CommandSpec]) -> String {
        let names = specs.map(\.name).joined(separator: " ")
        var out = """
            # bash completion of wiretape: source this file, or put it into ~/.local/share/bash-completion/completions/wiretape
            _wiretape() {
                local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" i
                COMPREPLY=()
                for ((i = 1; i < COMP_CWORD; i++)); do
                    if [[ "${COMP_WORDS[i]}" == "--" ]]; then
                        COMPREPLY=($(compgen -c -f -- "$cur"))
                        return
                    fi
                done
                if [[ $COMP_CWORD -eq 1 ]]; then
                    COMPREPLY=($(compgen -W "\(names) --help --version" -- "$cur"))
                    return
                fi
                case "${COMP_WORDS[1]} $prev" in

            """
        for spec in specs {
            for option in offered(spec) where option.valueName != nil {
                let short = option.short.map { "|\"\(spec.name) -\($0)\"" } ?? ""
                out += "    \"\(spec.name) --\(option.name)\"\(short)) \(bashValues(option.kind)); return ;;\n"
            }
        }
        out += "    esac\n    case \"${COMP_WORDS[1]}\" in\n"
        for spec in specs {
            let options = offered(spec).map { "--" + $0.name }.joined(separator: " ")
            out += "    \(spec.name))\n"
            out += "        if [[ \"$cur\" == -* ]]; then COMPREPLY=($(compgen -W \"\(options)\" -- \"$cur\"))\n"
            out += "        else \(bashValues(spec.positionals.first?.kind ?? .text)); fi ;;\n"
        }
        return out + "    esac\n}\ncomplete -F _wiretape wiretape\n"
    }

    private static func bashValues(_ kind: ValueKind) -> String {
        switch kind {
        case .file: return "COMPREPLY=($(compgen -f -- \"$cur\"))"
        case .directory: return "COMPREPLY=($(compgen -d -- \"$cur\"))"
        case .text, .choice, .count, .duration, .checked:
            let words = kind.suggestions
            return words.isEmpty ? ":" : "COMPREPLY=($(compgen -W \(quoted(words.joined(separator: " "))) -- \"$cur\"))"
        }
    }
}
