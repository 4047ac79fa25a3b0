/// What a rule does, as written and as it is carried out.
package struct FaultAction: Hashable, Sendable {
    /// `close(4403, "Forbidden")`: one spelling for each meaning.
    package var text: String
    package var verdict: FaultVerdict

    package init(text: String, verdict: FaultVerdict) {
        self.text = text
        self.verdict = verdict
    }
}
