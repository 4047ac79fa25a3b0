internal import WiretapeCore

/// A value of a YAML document and where it stands.
struct YAMLNode {
    indirect enum Kind {
        case scalar(String, isQuoted: Bool)
        case list([YAMLNode])
        case map([(key: YAMLNode, value: YAMLNode)])
    }

    var kind: Kind
    var source: RuleSource

    /// What people call it.
    var description: String {
        switch kind {
        case .scalar(let text, _): text.isEmpty ? "nothing" : "'\(text)'"
        case .list: "a list"
        case .map: "a mapping"
        }
    }

    var text: String? { if case .scalar(let text, _) = kind { text } else { nil } }

    func error(_ message: String) -> PlanError { PlanError(message, at: source) }

    /// As a text of a rule. A quoted one begins behind its quote.
    func ruleText() throws(PlanError) -> RuleFields.Text {
        guard case .scalar(let text, let isQuoted) = kind else { throw error("expected a text, found \(description)") }
        var at = source
        at.column += isQuoted ? 1 : 0
        return RuleFields.Text(text, isQuoted: isQuoted, at: at)
    }

    /// The pairs of a mapping whose keys are all known.
    /// - Throws: at an unknown key, with the nearest known one.
    func pairs(_ what: String, known: [String]?) throws(PlanError) -> [(key: YAMLNode, name: String, value: YAMLNode)] {
        guard case .map(let pairs) = kind else { throw error("\(what) is a mapping, found \(description)") }
        var found: [(key: YAMLNode, name: String, value: YAMLNode)] = []
        for (key, value) in pairs {
            guard let name = key.text else { throw key.error("a key is a text, found \(key.description)") }
            if let known, !known.contains(name), !name.hasPrefix("/") {
                throw key.error("\(what) has no '\(name)'\(NearestName.hint(name, among: known))")
            }
            found.append((key, name, value))
        }
        return found
    }
}
