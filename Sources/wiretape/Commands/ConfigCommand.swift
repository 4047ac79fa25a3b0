internal import WiretapeBytes
internal import WiretapeCore
internal import WiretapeSystem

/// `wiretape config`.
package struct ConfigCommand: Command {
    package static let spec = CommandSpec(
        name: "config", abstract: "Show the settings that hold, and where they come from",
        discussion: """
            Options that are not written on the command line are taken from the environment (WIRETAPE_SPEED is --speed), then \
            from x.tape.yaml beside the tape x.tape, then from the wiretape.yaml that is found first upward from the tape's \
            folder, or from the current one. Ignore rules and routes of all of them add up.

            The files have 'ignore', 'routes', 'upstreams', and 'defaults' with the options of each command. Prints every \
            value that they set, with the file and line, or the variable, that sets it.
            """,
        positionals: [PositionalSpec("FILE", .file, required: false, "The tape that a command would be about.")],
        groups: [
            OptionGroup(
                "Options",
                [
                    OptionSpec(switch: "show", "Print the settings; what it does without options."),
                    OptionSpec(switch: "schema", "Print the JSON Schema of the files (docs/wiretape.schema.json)."),
                    OptionSpec(
                        switch: "plan-schema", "Print the JSON Schema of fault plans (docs/faults.schema.json)."),
                    OptionSpec("config", "FILE", .file, "Read this file in place of those that are found."),
                    OptionSpec(switch: "json", "Print an object a value."),
                ])
        ],
        examples: [
            ExampleSpec(
                "wiretape config --show recordings/chat.tape", "Explains what a replay of that tape would use."),
            ExampleSpec("wiretape config --schema > wiretape.schema.json", "For editors that check YAML."),
        ])

    private let arguments: ParsedArguments

    package init(_ arguments: ParsedArguments) { self.arguments = arguments }

    package func run() throws -> Int32 {
        if arguments.has("schema") {
            Console.output.writeJSON(SettingsSchema.text(Commands.specs))
            return 0
        }
        if arguments.has("plan-schema") {
            Console.output.writeJSON(PlanSchema.text)
            return 0
        }
        let source: SettingsSource
        var rows: [(command: String, option: String, given: SettingsMerge.Given)] = []
        do {
            source = try SettingsSource(
                tape: arguments.positionals.first,
                config: arguments.value("config") ?? ThisProcess.environment("WIRETAPE_CONFIG"))
            for spec in Commands.specs where spec.option("config") != nil && spec.name != Self.spec.name {
                let merge = SettingsMerge(spec, source)
                for option in spec.options where option.missing == nil && SettingsCheck.isSettable(option) {
                    rows += try merge.values(of: option).map { (spec.name, option.name, $0) }
                }
            }
        } catch {
            throw arguments.error(error.description)
        }
        for (command, option, given) in rows { print(command, option, given) }
        let files = source.files.map(\.path).joined(separator: ", ")
        return Verdict(
            .done, 0,
            "\(rows.count) \(rows.count == 1 ? "value" : "values") set; \(files.isEmpty ? "no settings file" : files)"
        ).tell()
    }

    private func print(_ command: String, _ option: String, _ given: SettingsMerge.Given) {
        if arguments.has("json") {
            let value = JSONValue.object([
                .init("command", .string(command)), .init("option", .string(option)),
                .init("value", .string(given.value)),
                .init("origin", .string(given.origin)),
            ])
            return Console.output.writeJSON(value.text + "\n")
        }
        let text = "\(command) --\(option) \(TerminalText.line(given.value))"
        let padding = String(repeating: " ", count: max(2, 48 - text.count))
        Console.output.write("\(text)\(padding)# \(TerminalText.line(given.origin))\n")
    }
}
