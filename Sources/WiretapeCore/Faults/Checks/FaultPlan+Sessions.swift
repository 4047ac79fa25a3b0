extension FaultPlan {
    /// Rules about points that no protocol of those sessions has, each as an error at its word:
    /// `--fault: 1:10: 'subscribe' never comes: atmosphere has no subscriptions`
    package func impossible(in sessions: [RecordedSession]) -> [PlanError] {
        guard !sessions.isEmpty else { return [] }
        let names = Set(sessions.map(\.codec.id)).sorted().joined(separator: ", ")
        return rules.compactMap { rule in
            guard !rule.optional, case .point(let point) = rule.selector.subject else { return nil }
            let types = sessions.lazy.map(\.codec.type)
            switch point {
            case .subscribe:
                guard !types.contains(where: { $0.hasSubscriptions }) else { return nil }
                return PlanError("'subscribe' never comes: \(names) has no subscriptions", at: rule.subjectSource)
            case .handshake:
                // Replay makes the handshakes that scripts do not have.
                guard !types.contains(where: { !$0.preamble.isEmpty || !$0.scriptsHandshake }) else { return nil }
                return PlanError("'handshake' never comes: \(names) has none", at: rule.subjectSource)
            default: return nil
            }
        }
    }
}
