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
    /// Keys and values of `when`, in their order.
    package var when: [(key: Text, value: Text)] = []
    package var optional = false
    package var source: RuleSource

    package init(source: RuleSource) { self.source = source }

    /// The keys that `when` can have.
    package static let whenKeys = [
        "at", "type", "target", "event", "operation", "channel", "direction", "occurrence", "attempt", "retry",
        "session",
        "probability", "max", "method", "path",
    ]
}
