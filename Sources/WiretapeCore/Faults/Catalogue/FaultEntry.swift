/// A line of the catalogue: a word, and what its arguments make of it.
struct FaultEntry: Sendable {
    var word: String
    /// The verdict, and the arguments in their one spelling. Errors point at the argument.
    var make: @Sendable (FaultArguments, RuleText) throws(PlanError) -> (FaultVerdict, String)
}
