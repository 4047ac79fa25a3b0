/// Completion scripts, made from the declarations.
package enum Completions {
    package static let shells = ["bash", "zsh", "fish"]

    /// The script for one of ``shells``.
    package static func script(for shell: String, _ specs: [CommandSpec]) -> String {
        switch shell {
        case "zsh": zsh(specs)
        case "fish": fish(specs)
        default: bash(specs)
        }
    }

    /// In single quotes, for any of the shells.
    static func quoted(_ text: String) -> String {
        "'" + text.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
    }

    /// The options that a person may write.
    static func offered(_ spec: CommandSpec) -> [OptionSpec] { spec.options.filter { $0.missing == nil } }
}
