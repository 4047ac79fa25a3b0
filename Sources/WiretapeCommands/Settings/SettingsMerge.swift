internal import WiretapeCommandLine
internal import WiretapeFaults
internal import WiretapeSettings
internal import WiretapeSystem

/// Fills the options that were not written on the command line: from `WIRETAPE_*`, then `x.tape.yaml`, then `wiretape.yaml`.
/// Rules (`--ignore`, `--route`, `--lead-back`) add up instead.
struct SettingsMerge {
    /// A value and who gave it: `WIRETAPE_SPEED`, `wiretape.yaml:3`.
    struct Given {
        var value: String
        var origin: String
        /// Whether the value comes from the file beside the tape.
        var isBeside = false
    }

    private let spec: CommandSpec
    private let source: SettingsSource

    /// Lists whose parts all hold.
    private static let sums = ["ignore", "route", "redact", "keep", "lead-back"]

    init(_ spec: CommandSpec, _ source: SettingsSource) {
        self.spec = spec
        self.source = source
    }

    /// The arguments with the settings; as they were when the command takes none.
    static func apply(to arguments: ParsedArguments, _ spec: CommandSpec) throws(UsageError) -> ParsedArguments {
        guard spec.option("config") != nil else { return arguments }
        do throws(PlanError) {
            let source = try SettingsSource(
                tape: tape(arguments, spec),
                config: arguments.value("config") ?? ThisProcess.environment("WIRETAPE_CONFIG"))
            let filled = try SettingsMerge(spec, source).filled(arguments)
            let log = Log(filled)
            for (path, why) in source.refused {
                log.warning("\(path) is not read, since \(why); '--config \(path)' reads it")
            }
            if spec.name != "config" { for (path, _) in source.files { log.info("settings: \(path)") } }
            for one in source.leftOut where one.isFor(spec) { log.warning(one.text) }
            return filled
        } catch {
            throw arguments.error(error.description)
        }
    }

    /// The file that the command is about.
    private static func tape(_ arguments: ParsedArguments, _ spec: CommandSpec) -> String? {
        if case .file? = spec.positionals.first?.kind, let first = arguments.positionals.first { return first }
        return spec.option("output") == nil ? nil : arguments.value("output")
    }

    private func filled(_ arguments: ParsedArguments) throws(PlanError) -> ParsedArguments {
        var arguments = arguments
        for option in spec.options where option.missing == nil && SettingsCheck.isSettable(option) {
            let written = arguments.values[option.name]
            let isSum = Self.sums.contains(option.name)
            guard written == nil || isSum else { continue }
            let given = try values(of: option)
            guard !given.isEmpty else { continue }
            if option.valueName == nil {
                guard SettingsCheck.isSwitch(given[0].value) == true else { continue }
                arguments.values[option.name] = [""]
            } else {
                arguments.values[option.name] = (written ?? []) + given.map(\.value)
            }
            for one in given where one.isBeside && TapeSettings.relaxing.contains(option.name) {
                arguments.relaxations.append("\(one.origin) (\(option.name))")
            }
        }
        return arguments
    }

    /// What the settings say about an option: of the nearest origin that says anything; of a sum, of all.
    func values(of option: OptionSpec) throws(PlanError) -> [Given] {
        var given: [Given] = []
        let variable = "WIRETAPE_" + option.name.uppercased().replacing("-", with: "_")
        // WIRETAPE_CONTROL is what a command behind `--` finds the API by: one that is a wiretape itself opens none there.
        if option.name != "control", let value = ThisProcess.environment(variable) {
            if let complaint = SettingsCheck.complaint(option, value) {
                throw PlanError(complaint, at: RuleSource(file: variable))
            }
            given = [Given(value: value, origin: variable)]
        }
        for (path, settings) in source.files {
            guard given.isEmpty || Self.sums.contains(option.name) else { break }
            given += Self.values(option, of: spec.name, settings).map {
                Given(value: $0.value, origin: $0.origin, isBeside: path == source.beside)
            }
        }
        return given
    }

    private static func values(_ option: OptionSpec, of command: String, _ settings: SettingsFile) -> [Given] {
        let own = settings.defaults.filter { $0.command.text == command && $0.option.text == option.name }.flatMap(
            \.values)
        let shared: [SettingsFile.Value] =
            switch option.name {
            case "ignore": settings.ignore
            case "route": settings.routes
            case "redact": settings.redact
            case "keep": settings.keep
            case "lead-back": settings.leadBack
            case "upstream": own.isEmpty ? settings.upstreams : []
            default: []
            }
        return (own + shared).map { Given(value: $0.text, origin: "\($0.source.file):\($0.source.line)") }
    }
}
