internal import WiretapeBytes
internal import WiretapeCommandLine
internal import WiretapeFaults
internal import WiretapeSettings

/// Holds settings against what the commands declare, so that a mistake shows before the day on which it matters.
enum SettingsCheck {
    static func check(_ settings: SettingsFile) throws(PlanError) {
        for value in settings.ignore { try check(value, as: "ignore") }
        for value in settings.routes { try check(value, as: "route") }
        for value in settings.upstreams { try check(value, as: "upstream") }
        for value in settings.redact { try check(value, as: "redact") }
        for value in settings.keep { try check(value, as: "keep") }
        for value in settings.leadBack { try check(value, as: "lead-back") }
        for one in settings.defaults { try check(one) }
    }

    /// Options that mean one command line only.
    static func isSettable(_ option: OptionSpec) -> Bool { !["help", "config"].contains(option.name) }

    private static func check(_ value: SettingsFile.Value, as name: String) throws(PlanError) {
        guard let option = Commands.specs.lazy.compactMap({ $0.option(name) }).first(where: { $0.missing == nil }),
            let complaint = option.kind.complaint(about: value.text)
        else { return }
        throw PlanError(complaint, at: value.source)
    }

    private static func check(_ one: SettingsFile.Default) throws(PlanError) {
        guard let spec = Commands.specs.first(where: { $0.name == one.command.text }) else {
            let names = Commands.specs.map(\.name)
            throw PlanError(
                "there is no command '\(one.command.text)'\(NearestName.hint(one.command.text, among: names))",
                at: one.command.source)
        }
        guard let option = spec.option(one.option.text), isSettable(option) else {
            let names = spec.options.filter { $0.missing == nil && isSettable($0) }.map(\.name)
            throw PlanError(
                "'\(spec.name)' has no option '\(one.option.text)'\(NearestName.hint(one.option.text, among: names))",
                at: one.option.source)
        }
        if let missing = option.missing {
            throw PlanError("'\(option.name)' of '\(spec.name)' is not built yet: \(missing)", at: one.option.source)
        }
        guard one.values.count == 1 || option.isRepeatable else {
            throw PlanError("'\(option.name)' has one value", at: one.option.source)
        }
        for value in one.values {
            if let complaint = complaint(option, value.text) { throw PlanError(complaint, at: value.source) }
        }
    }

    /// Why the option cannot have this value; a switch has `true` or `false`.
    static func complaint(_ option: OptionSpec, _ value: String) -> String? {
        if option.valueName != nil { return option.kind.complaint(about: value) }
        return isSwitch(value) == nil ? "'\(option.name)' is true or false, found '\(value)'" : nil
    }

    static func isSwitch(_ value: String) -> Bool? {
        switch value.lowercased() {
        case "true", "1", "yes", "on": true
        case "false", "0", "no", "off", "": false
        default: nil
        }
    }
}
