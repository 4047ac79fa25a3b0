/// What a rule does, as written and as it is carried out.
package struct FaultAction: Hashable, Sendable {
    /// `close(4403, "Forbidden")`: one spelling for each meaning.
    package var text: String
    package var verdict: FaultEffect

    package init(text: String, verdict: FaultEffect) {
        self.text = text
        self.verdict = verdict
    }
}
