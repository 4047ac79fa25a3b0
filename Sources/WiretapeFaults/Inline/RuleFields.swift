/// A rule written as a mapping (`when`, `do`, `place`), before it is understood: texts with their places. YAML and JSON
/// come through here, so that they give the same rules as the inline form.
package struct RuleFields: Sendable {
    package struct Text: Sendable {
        package var text: String
        package var source: RuleSource
        /// In quotes: never a number or a word of JSON.
        package var isQuoted: Bool

        package init(_ text: String, isQuoted: Bool = false, at source: RuleSource) {
            self.text = text
            self.isQuoted = isQuoted
            self.source = source
        }
    }

    package var name: String?
    package var actions: [Text] = []
    package var place: Text?
    /// The pause of `place: after`, as a duration.
    package var pause: Text?
    /// Keys and values of `when`, in their order.
    package var when: [(key: Text, value: Text)] = []
    /// `since: { run: 5s }`.
    package var since: (mark: Text, value: Text)?
    package var optional = false
    package var source: RuleSource

    package init(source: RuleSource) { self.source = source }

    /// The keys that `when` can have, besides JSON Pointers, `header.NAME` and `headers`.
    package static let whenKeys =
        ["at", "occurrence", "attempt", "retry", "session", "probability", "max", "per", "since", "headers"]
        + Condition.keys

    /// The keys of a rule.
    package static let keys = ["name", "fault", "when", "do", "place", "pause", "optional"]
}
