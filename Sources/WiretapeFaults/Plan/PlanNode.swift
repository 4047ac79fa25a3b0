internal import WiretapeBytes

/// A value of a plan or of settings, in whatever form it is written, and where it stands.
package struct PlanNode: Sendable {
    package indirect enum Kind: Sendable {
        case scalar(String, isQuoted: Bool)
        case list([PlanNode])
        case map([(key: PlanNode, value: PlanNode)])
    }

    package var kind: Kind
    package var source: RuleSource

    package init(kind: Kind, source: RuleSource) {
        self.kind = kind
        self.source = source
    }

    /// What people call it.
    package var description: String {
        switch kind {
        case .scalar(let text, _): text.isEmpty ? "nothing" : "'\(text)'"
        case .list: "a list"
        case .map: "a mapping"
        }
    }

    package var text: String? { if case .scalar(let text, _) = kind { text } else { nil } }

    /// Whether it is written and has no value: YAML's empty and `~`, and `null`.
    package var isNothing: Bool {
        guard case .scalar(let text, isQuoted: false) = kind else { return false }
        return text.isEmpty || text == "~" || text == "null"
    }

    package func error(_ message: String) -> PlanError { PlanError(message, at: source) }

    /// As a text of a rule. A quoted one begins behind its quote.
    package func ruleText() throws(PlanError) -> RuleFields.Text {
        guard case .scalar(let text, let isQuoted) = kind, !isNothing else {
            throw error("expected a text, found \(isNothing ? "nothing" : description)")
        }
        var at = source
        at.column += isQuoted ? 1 : 0
        return RuleFields.Text(text, isQuoted: isQuoted, at: at)
    }

    /// The pairs of a mapping whose keys are all known.
    /// - Throws: at an unknown key, with the nearest known one.
    package func pairs(
        _ what: String, known: [String]?
    ) throws(PlanError) -> [(key: PlanNode, name: String, value: PlanNode)] {
        guard case .map(let pairs) = kind else { throw error("\(what) is a mapping, found \(description)") }
        var found: [(key: PlanNode, name: String, value: PlanNode)] = []
        for (key, value) in pairs {
            guard let name = key.text else { throw key.error("a key is a text, found \(key.description)") }
            if let known, !known.contains(name), !name.hasPrefix("/") {
                throw key.error("\(what) has no '\(name)'\(NearestName.hint(name, among: known))")
            }
            found.append((key, name, value))
        }
        return found
    }

    /// The items of a list; nothing at all is an empty one.
    package func items(_ what: String) throws(PlanError) -> [PlanNode] {
        switch kind {
        case .list(let items): return items
        case .scalar where isNothing: return []
        case .scalar, .map: throw error("'\(what)' is a list, found \(description)")
        }
    }
}
