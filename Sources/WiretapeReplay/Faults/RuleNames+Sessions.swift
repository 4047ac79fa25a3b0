internal import WiretapeBytes
package import WiretapeFaults
internal import WiretapeMessages
package import WiretapeProtocol

extension FaultRule {
    /// What it names, and what there is in the sessions of a tape.
    package func names(in sessions: [RecordedSession]) -> RuleNames {
        guard case .label(let label) = selector.subject else { return RuleNames(label: nil, onTape: []) }
        var counts: [String: Int] = [:]
        for session in sessions {
            if let script = session.digested.script { script.count(into: &counts) }
            for (name, count) in session.digested.names { counts[name, default: 0] += count }
            for case .message(let message) in session.entries.lazy.map(\.what) {
                MessageNames.count(message.role, message.type, message.label, message.channel, into: &counts)
            }
        }
        return RuleNames(label: label, onTape: counts.keys.sorted().map { ($0, counts[$0] ?? 0) })
    }
}

extension FaultPlan {
    /// The rules that name what never occurs on the tape and is no type of its protocols, each as an error at its word:
    /// `--fault: 1:13: 'RecieveMessage' never occurs on chat.tape; did you mean 'ReceiveMessage' (12 times)?`
    package func unknownNames(in sessions: [RecordedSession], tapeName: String) -> [PlanError] {
        rules.compactMap { rule in
            let names = rule.names(in: sessions)
            guard let label = names.label, names.count == 0, !rule.optional,
                !sessions.contains(where: { $0.codec.type.mayBeCalled(label) })
            else { return nil }
            let hint = names.nearest.map { "; did you mean '\($0.name)' (\(RuleNames.times($0.count)))?" } ?? ""
            return PlanError("'\(label)' never occurs on \(tapeName)\(hint)", at: rule.subjectSource)
        }
    }
}
