internal import WiretapeBytes
package import WiretapeCommandLine
internal import WiretapeFaults
internal import WiretapeSystem
internal import WiretapeWire

/// `wiretape config`.
package struct ConfigCommand: Command {
    package static let spec = CommandSpec(
        name: "config", abstract: "Show the settings that hold, and where they come from",
        discussion: """
            Options that are not written on the command line are taken from the environment (WIRETAPE_SPEED is --speed), then \
            from x.tape.yaml beside the tape x.tape, then from wiretape.yaml. It is looked for in the current folder, then in its \
            parents up to the root of the repository (.git) or the home folder. Ignore rules and routes of all of them add up.

            A file beside a tape may come from a stranger, as the tape does: it sets how messages are matched and what \
            clients are held to. What it says about paths, addresses, commands and upstreams is left out, and shown as such.

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
                    rows += try merge.values(of: option).map {
                        (spec.name, option.name, Self.shown($0, of: option.name))
                    }
                }
            }
        } catch {
            throw arguments.error(error.description)
        }
        for (command, option, given) in rows { print(command, option, given) }
        for one in source.leftOut { print(one) }
        let left = source.leftOut.isEmpty ? "" : ", \(source.leftOut.count) left out"
        let files = source.files.map(\.path).joined(separator: ", ")
        return Verdict(
            .done, 0,
            "\(rows.count) \(rows.count == 1 ? "value" : "values") set\(left); \(files.isEmpty ? "no settings file" : files)"
        ).tell()
    }

    /// A proxy's password is nobody's to read.
    private static func shown(_ given: SettingsMerge.Given, of option: String) -> SettingsMerge.Given {
        var given = given
        if option == "via" { given.value = (try? ViaProxy(parsing: given.value)).map { "\($0)" } ?? "?" }
        return given
    }

    private func print(_ command: String, _ option: String, _ given: SettingsMerge.Given) {
        if arguments.has("json") { return json(command, option, given.value, given.origin, isLeftOut: false) }
        text("\(command) --\(option) \(given.value)", given.origin)
    }

    private func print(_ one: TapeSettings.LeftOut) {
        if arguments.has("json") { return json(one.command, one.option, one.value, one.origin, isLeftOut: true) }
        let command = one.command.map { $0 + " " } ?? ""
        text("left out: \(command)--\(one.option) \(one.value)", "\(one.origin), beside a tape")
    }

    private func json(_ command: String?, _ option: String, _ value: String, _ origin: String, isLeftOut: Bool) {
        let object = JSONValue.object([
            .init("command", command.map(JSONValue.string) ?? .null), .init("option", .string(option)),
            .init("value", .string(value)), .init("origin", .string(origin)), .init("left_out", .bool(isLeftOut)),
        ])
        Console.output.writeJSON(object.text + "\n")
    }

    private func text(_ text: String, _ origin: String) {
        let text = TerminalText.line(text)
        let padding = String(repeating: " ", count: max(2, 48 - text.count))
        Console.output.write("\(text)\(padding)# \(TerminalText.line(origin))\n")
    }
}
