/// What else must hold for a rule to fire: `in attempt=2 p=0.2 max=3 since run=5s`.
package struct RuleFilters: Hashable, Sendable {
    /// The recorded session's number.
    package var session: Ordinal?
    package var attempt: Ordinal?
    /// Attempts since the last success.
    package var retry: Ordinal?
    /// 0 ... 1; 1 always fires and 0 never.
    package var probability = 1.0
    /// Firings, counted as occurrences are.
    package var max: Int?
    /// Of the point `time` the moment; elsewhere the rule sleeps until then.
    package var since: Since?
    package var per = Scope.session

    package init() {}

    /// What occurrences and firings are counted in.
    package enum Scope: String, Hashable, Sendable, CaseIterable { case session, connection, run }

    package struct Since: Hashable, Sendable {
        package var mark: Mark
        /// Nanoseconds.
        package var gap: UInt64

        package init(_ mark: Mark, _ gap: UInt64) {
            self.mark = mark
            self.gap = gap
        }

        /// The first thing that happened · the connection's first request · the end of the protocol's handshake on it.
        package enum Mark: String, Hashable, Sendable, CaseIterable { case run, connect, handshake }
    }
}
