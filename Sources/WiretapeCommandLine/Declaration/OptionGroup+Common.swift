extension OptionGroup {
    /// What bodies, messages and trees may take.
    package static let memory = OptionSpec(
        "memory", "SIZE", .checked(suggestions: ["64MiB", "256MiB", "1GiB"]) { try ParsedArguments.checkMemory($0) },
        default: "256MiB",
        "What bodies, messages and their trees may take together, at least 64MiB; what a process and each connection "
            + "cost comes on top. Beyond it the client that holds most is refused.")

    /// The same for commands that only read tapes.
    package static let fileMemory: OptionSpec = {
        var option = memory
        option.help =
            "What the messages that are held and their trees may take together, at least 64MiB. What takes more is refused."
        return option
    }()

    package static let config = OptionSpec("config", "FILE", .file, configHelp)

    package static let configHelp =
        "Take settings from this file (- is standard input) in place of x.tape.yaml and wiretape.yaml; 'wiretape config' explains them."
}
