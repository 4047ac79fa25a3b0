/// One option. Without a value it is a switch.
package struct OptionSpec: Sendable {
    /// Without the dashes.
    package var name: String
    package var short: Character?
    /// What the value is called in texts, nil for a switch.
    package var valueName: String?
    package var kind: ValueKind
    package var isRequired: Bool
    package var isRepeatable: Bool
    /// Used when the option is absent; shown in `--help`.
    package var defaultValue: String?
    /// Whole sentences.
    package var help: String
    /// Set for an option of the interface that this version does not have yet: what is missing, as the end of the
    /// sentence "`--x` is not built yet: …". Naming it is an error; it is listed nowhere else.
    package var missing: String?

    /// An option with a value.
    package init(
        _ name: String, short: Character? = nil, _ valueName: String, _ kind: ValueKind = .text,
        required: Bool = false, repeatable: Bool = false, default defaultValue: String? = nil, _ help: String
    ) {
        self.name = name
        self.short = short
        self.valueName = valueName
        self.kind = kind
        self.isRequired = required
        self.isRepeatable = repeatable
        self.defaultValue = defaultValue
        self.help = help
    }

    /// A switch.
    package init(switch name: String, short: Character? = nil, _ help: String) {
        self.name = name
        self.short = short
        self.kind = .text
        self.isRequired = false
        self.isRepeatable = false
        self.help = help
    }

    /// An option that is planned and refused with a sentence until it is there.
    package static func missing(_ name: String, _ why: String) -> OptionSpec {
        var option = OptionSpec(switch: name, "")
        option.missing = why
        return option
    }

    /// `-o, --output FILE` as texts write it.
    package var spelling: String {
        let value = valueName.map { " " + $0 } ?? ""
        let more = isRepeatable ? "…" : ""
        return (short.map { "-\($0), " } ?? "") + "--\(name)\(value)\(more)"
    }
}
