/// A line of the catalogue: a word, what its arguments make of it, and how `docs/faults.md` and the schema show it.
package struct FaultEntry: Sendable {
    package var word: String
    /// What it is at the wire, in one line.
    package var summary: String
    /// Rules that use it, each of which can be loaded.
    package var examples: [String]
    /// The verdict, and the arguments in their one spelling. Errors point at the argument.
    var make: @Sendable (FaultArguments, RuleText) throws(PlanError) -> (FaultEffect, String)
}
