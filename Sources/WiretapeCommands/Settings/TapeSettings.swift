internal import WiretapeCommandLine
internal import WiretapeFaults
internal import WiretapeSettings

/// What may stand in a settings file beside a tape. Such a file comes with the tape, often from a stranger, and nobody named
/// it: it says how messages are matched and what clients are held to, and nothing that reaches beyond the run. Paths,
/// addresses, commands, upstreams, secrets and limits of the machine are for `wiretape.yaml`, for `--config` and for the
/// command line.
package enum TapeSettings {
    /// A value that does not hold.
    struct LeftOut {
        /// The command that it would be for; nil for all that have the option.
        var command: String?
        var option: String
        var value: String
        /// `chat.tape.yaml:3`.
        var origin: String

        init(command: String? = nil, option: String, _ value: SettingsFile.Value) {
            self.command = command
            self.option = option
            self.value = value.text
            origin = "\(value.source.file):\(value.source.line)"
        }

        func isFor(_ spec: CommandSpec) -> Bool { (command ?? spec.name) == spec.name && spec.option(option) != nil }

        var text: String {
            "\(origin): '\(option)' is left out, since a file beside a tape sets matching and policies only; it can stand in "
                + "wiretape.yaml or on the command line"
        }
    }

    /// Options that a file beside a tape may set. A new option is not among them until somebody puts it here.
    package static let options: Set<String> = [
        "speed", "idle-cap", "time-scale", "keepalive", "server-limits", "until", "transports", "deflate", "fresh-ids",
        "clients", "when-exhausted", "session", "match", "ignore", "causality", "patience", "grace", "on-divergence",
        "on-reconnect", "on-miss", "route", "expect", "allow-unplayed", "fault", "seed", "at", "greeting", "lead-back",
    ]

    /// Options that can turn a failed run into a passed one. The verdict of a replay names them.
    static let relaxing: Set<String> = [
        "allow-unplayed", "ignore", "match", "on-divergence", "on-miss", "when-exhausted", "until",
    ]

    /// Takes out of the settings what a file beside a tape may not say.
    static func restrict(_ settings: inout SettingsFile) -> [LeftOut] {
        var left = settings.upstreams.map { LeftOut(option: "upstream", $0) }
        settings.upstreams = []
        left += settings.redact.map { LeftOut(option: "redact", $0) }
        settings.redact = []
        left += settings.keep.map { LeftOut(option: "keep", $0) }
        settings.keep = []
        left += settings.leadBack.filter { !mayBeSet("lead-back", to: $0.text) }.map {
            LeftOut(option: "lead-back", $0)
        }
        settings.leadBack.removeAll { !mayBeSet("lead-back", to: $0.text) }
        var kept: [SettingsFile.Default] = []
        for one in settings.defaults {
            var one = one
            let refused = one.values.filter { !mayBeSet(one.option.text, to: $0.text) }
            left += refused.map { LeftOut(command: one.command.text, option: one.option.text, $0) }
            one.values.removeAll { refused.contains($0) }
            if !one.values.isEmpty { kept.append(one) }
        }
        settings.defaults = kept
        return left
    }

    private static func mayBeSet(_ option: String, to value: String) -> Bool {
        // Passing on is a way to an upstream, and so is not leading back.
        options.contains(option) && !(option == "on-miss" && value == "passthrough")
            && !(option == "lead-back" && value == "off")
    }
}
