extension FaultPlan {
    /// Rules about TLS handshakes that a run cannot carry out, each as an error at its word. Those that are optional are none.
    /// - Parameters:
    ///   - hasTLS: whether clients can speak TLS to it at all.
    ///   - issues: whether certificates are issued on demand; else one was given.
    package func problemsOfTLS(hasTLS: Bool, issues: Bool) -> [PlanError] {
        rules.compactMap { rule in
            guard !rule.optional, rule.selector.isPoint(.tls) else { return nil }
            guard hasTLS else {
                return PlanError(
                    "no listener speaks TLS, so there is no handshake that '\(rule.name)' could meet; add --tls or write "
                        + "--listen https://HOST:PORT", at: rule.subjectSource)
            }
            for case .tls(.certificate(let flaw)) in rule.actions.map(\.verdict) where flaw.needsTrust && !issues {
                return PlanError(
                    "certificate(\(flaw.rawValue)) needs an authority that issues it, and clients are shown the one of --cert; "
                        + "leave --cert out, or write unknown-ca or self-signed", at: rule.source)
            }
            return nil
        }
    }
}
