package import WiretapeFaults

/// Settings in YAML: `wiretape.yaml`, or `x.tape.yaml` beside a tape. `docs/guide.md` has an example,
/// `docs/wiretape.schema.json` the schema.
package struct SettingsFile: Sendable {
    /// A value and where it stands.
    package struct Value: Hashable, Sendable {
        package var text: String
        package var source: RuleSource
    }

    /// An option of a command and its values.
    package struct Default: Sendable {
        package var command: Value
        package var option: Value
        package var values: [Value]
    }

    /// Rules such as `Send:/arguments/0`.
    package var ignore: [Value] = []
    /// `A=B`.
    package var routes: [Value] = []
    /// `NAME=URL`.
    package var upstreams: [Value] = []
    package var defaults: [Default] = []
    /// `on`, `off` and places where secrets stand, such as `json:/arguments/0`.
    package var redact: [Value] = []
    /// Places whose values are recorded as they are.
    package var keep: [Value] = []
    /// Places at which answers name servers, or `off`.
    package var leadBack: [Value] = []

    /// The keys of a settings file.
    package static let keys = ["ignore", "routes", "upstreams", "defaults", "redact", "keep", "leadBack"]

    /// - Parameters:
    ///   - bytes: at most 1 MiB.
    ///   - file: as messages name it.
    /// - Throws: at what is no YAML, or no setting, with line, column and the nearest name. Options and their values are
    ///   for others to check.
    package init(_ bytes: [UInt8], file: String) throws(PlanError) {
        guard let root = try YAMLReader.read(bytes, file: file) else { return }
        for (key, name, value) in try root.pairs("a settings file", known: SettingsFile.keys) {
            switch name {
            case "ignore": ignore = try SettingsFile.values(value, "'ignore'")
            case "routes": routes = try SettingsFile.assignments(value, "'routes'")
            case "upstreams": upstreams = try SettingsFile.assignments(value, "'upstreams'")
            case "defaults": defaults = try SettingsFile.defaults(value)
            case "redact": redact = try SettingsFile.values(value, "'redact'")
            case "keep": keep = try SettingsFile.values(value, "'keep'")
            case "leadBack": leadBack = try SettingsFile.values(value, "'leadBack'")
            default: throw key.error("'\(name)' is not built yet")
            }
        }
    }

    private static func defaults(_ node: PlanNode) throws(PlanError) -> [Default] {
        var defaults: [Default] = []
        for (key, command, options) in try node.pairs("'defaults'", known: nil) {
            for (place, option, value) in try options.pairs("'\(command)'", known: nil) {
                defaults.append(
                    Default(
                        command: Value(text: command, source: key.source),
                        option: Value(text: option, source: place.source), values: try values(value, "'\(option)'")))
            }
        }
        return defaults
    }

    /// A text or a list of texts.
    private static func values(_ node: PlanNode, _ what: String) throws(PlanError) -> [Value] {
        switch node.kind {
        case .scalar(let text, _): return [Value(text: text, source: node.source)]
        case .list(let items):
            var values: [Value] = []
            for item in items {
                guard let text = item.text else { throw item.error("\(what) holds texts, found \(item.description)") }
                values.append(Value(text: text, source: item.source))
            }
            return values
        case .map: throw node.error("\(what) is a text or a list of texts, found a mapping")
        }
    }

    /// `{ A: B }`, or a list of `A=B`.
    private static func assignments(_ node: PlanNode, _ what: String) throws(PlanError) -> [Value] {
        guard case .map(let pairs) = node.kind else { return try values(node, what) }
        var values: [Value] = []
        for (key, value) in pairs {
            guard let name = key.text, let text = value.text else {
                throw value.error("\(what) maps texts to texts, found \(value.description)")
            }
            values.append(Value(text: "\(name)=\(text)", source: key.source))
        }
        return values
    }
}
