internal import WiretapeBytes

/// What a rule names, held against what a tape has.
package struct RuleNames: Sendable {
    /// The label that the rule names; nil for points.
    package var label: String?
    /// Every label and type on the tape with the number of messages that a rule naming it would count.
    package var onTape: [(name: String, count: Int)]

    package init(label: String?, onTape: [(name: String, count: Int)]) {
        self.label = label
        self.onTape = onTape
    }

    package var count: Int { onTape.first { $0.name == label }?.count ?? 0 }

    /// `target 'X' is not on the tape; nearest 'Y' (12 times)`; nil when it is there.
    package func unknown(on tape: String) -> String? {
        guard let label, count == 0 else { return nil }
        guard let nearest else { return "target '\(label)' is not on the tape\(point)" }
        return "target '\(label)' is not on the tape; nearest '\(nearest.name)' (\(RuleNames.times(nearest.count)))"
    }

    /// A point that the label may be meant for.
    private var point: String {
        guard let label, let near = NearestName.find(label, among: FaultPoint.allCases.map(\.rawValue)) else {
            return ""
        }
        return "; nearest is the point '\(near)'"
    }

    /// When the rule asks for an ordinal that the tape does not reach.
    package func tooFew(_ rule: FaultRule) -> String? {
        guard let label, let occurrence = rule.selector.occurrence, occurrence.first > count else { return nil }
        return "'\(label)' is on the tape \(RuleNames.times(count)), and number \(occurrence.first) was asked for"
    }

    package var nearest: (name: String, count: Int)? {
        guard let label, let name = NearestName.find(label, among: onTape.map(\.name)) else { return nil }
        return onTape.first { $0.name == name }
    }

    package static func times(_ count: Int) -> String {
        switch count {
        case 0: "never"
        case 1: "once"
        default: "\(count) times"
        }
    }
}

extension FaultRule {
    /// Why it never fired in a replay, when it names nothing that is missing.
    package var whyNever: String {
        let isBare =
            selector.conditions.isEmpty && selector.occurrence == nil && filters.attempt == nil && filters.retry == nil
            && filters.session == nil && filters.probability == 1
        if isBare, !needsUpgrade, case .point(let point) = selector.subject { return "'\(point.rawValue)' never came" }
        if isBare, !needsServer, case .label(let label) = selector.subject { return "'\(label)' never came" }
        let server = needsServer ? "; what it does to messages of the client needs a server, and a replay has none" : ""
        return "its conditions were never met\(server)"
    }
}
