internal import WiretapeBytes

extension Judge {
    /// Judged only where a credential expired while the client was connected, or where the client renewed one.
    static func refreshes(_ session: JudgedSession) -> Finding {
        let owed = session.credentials.all.filter { one in
            one.renewedAt != nil || !one.isReplaced && isConnected(session, at: one.expiresAt)
        }
        guard !owed.isEmpty else { return .unjudged("no credential expired while its client was connected") }
        let late = owed.first { ($0.renewedAt ?? .max) >= $0.expiresAt }
        var problem: String?
        if let late {
            let what = late.renewedAt.map { "and the client renewed it \(text($0 - late.expiresAt)) later" }
            problem =
                "a credential of session \(session.session) expired at \(text(late.expiresAt)), "
                + (what ?? "and the client did not renew it")
        }
        let count = owed.count { $0.renewedAt != nil }
        return Finding(
            problem: problem, expected: "each credential renewed before it expires",
            actual: count == 1 ? "one renewal" : "\(count) renewals")
    }

    private static func text(_ time: UInt64) -> String { DurationText.milliseconds(time) + " ms" }

    private static func isConnected(_ session: JudgedSession, at time: UInt64) -> Bool {
        guard time <= session.elapsed else { return false }
        return session.attempts.contains { attempt in
            attempt.outcome == .connected && attempt.start <= time && attempt.ended.map { $0.time > time } ?? true
        }
    }
}
