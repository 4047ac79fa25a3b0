/// What a rule does, as written and as the engine carries it out.
package struct FaultAction: Hashable, Sendable {
    /// `close(4403, "Forbidden")`: one spelling for each meaning.
    package var text: String
    package var verdict: FaultVerdict

    package init(text: String, verdict: FaultVerdict) {
        self.text = text
        self.verdict = verdict
    }
}

/// What happens to the connection.
package enum FaultVerdict: Hashable, Sendable {
    /// RST.
    case reset
    /// FIN without a close frame.
    case disconnect
    /// A close frame, then the end.
    case close(code: UInt16?, reason: String)
    /// This answer instead of the right one.
    case respond(HTTPAnswer)
}
