/// What a rule did, as the tape of a run tells it.
package struct FaultNote: Hashable, Sendable {
    package var rule: String
    package var action: String
    /// Of the message on the tape that is played.
    package var line: UInt64?
    package var about: About

    package init(_ hit: FaultHit, line: UInt64? = nil, _ about: About) {
        (rule, action) = (hit.name, hit.text)
        self.line = line
        self.about = about
    }

    /// To which event of the connection it was done.
    package enum About: Hashable, Sendable {
        /// To none that is on the tape of the run.
        case none
        /// The last one.
        case said
        /// The next answer.
        case answer
        /// The next end, or the answer that is given instead of the right one: it is the rule's.
        case end
    }

    /// How `gone` and reports begin the account of an end that a rule made: `fault:flaky`.
    package static let account = "fault:"
}
