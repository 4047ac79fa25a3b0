/// A plan, a rule or a selector that cannot be used, and the word at which that shows.
package struct PlanError: Error, Hashable, Sendable, CustomStringConvertible {
    package var source: RuleSource
    package var message: String

    package init(_ message: String, at source: RuleSource) {
        self.source = source
        self.message = message
    }

    /// `--fault: 1:13: …` or `plan.yaml:4:3: …`.
    package var description: String {
        source.file.hasPrefix("--")
            ? "\(source.file): \(source.line):\(source.column): \(message)"
            : "\(source.file):\(source.line):\(source.column): \(message)"
    }
}
