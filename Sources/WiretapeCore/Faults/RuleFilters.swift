/// What else must hold for a rule to fire: `in attempt=2 p=0.2 max=3 since run=5s`.
package struct RuleFilters: Hashable, Sendable {
    /// The recorded session's number.
    package var session: Ordinal?
    package var attempt: Ordinal?
    /// Attempts since the last success.
    package var retry: Ordinal?
    /// 0 ... 1; 1 always fires and 0 never.
    package var probability = 1.0
    /// Firings per session.
    package var max: Int?

    package init() {}
}
