/// A word of a rule besides the faults: what it means in one line, and a rule that uses it, which can be
/// loaded; nil where no rule can use it yet.
package struct RuleWord: Sendable {
    /// As it is written; `=` is left out of conditions.
    package var term: String
    package var summary: String
    package var example: String?

    init(_ term: String, _ summary: String, _ example: String?) {
        self.term = term
        self.summary = summary
        self.example = example
    }
}

extension RuleWord {
    /// Where an action stands to what the selector found.
    package static let places: [RuleWord] = [
        RuleWord(
            "after", "the peer has acknowledged the last byte of it, and 20 ms have passed; nothing later is sent",
            "reset after ReceiveMessage[3]"),
        RuleWord(
            "after … +", "the same after a further pause, so that a busy client can read first",
            "reset after ReceiveMessage[3] + 200ms"),
        RuleWord("before", "it is not sent", "close(1001) before ReceiveMessage[3]"),
        RuleWord("on", "instead of it, or to the message itself", "respond(503) on connect[retry=1]"),
    ]

    /// What stands behind the brackets.
    package static let filters: [RuleWord] = [
        RuleWord("in session=", "the recorded session's number", "reset after ReceiveMessage[1] in session=2"),
        RuleWord(
            "in attempt=", "the number of the attempt to connect, within its session",
            "stall(both, 30s) after upgrade in attempt=2"),
        RuleWord(
            "in retry=", "the number of the attempt since the last success", "respond(503) on connect in retry=1..2"),
        RuleWord("p=", "the probability of each firing, from 0 to 1", "delay(20ms..200ms) on message p=0.2"),
        RuleWord("max=", "the most firings, counted as ordinals are", "duplicate on message max=3"),
        RuleWord(
            "since",
            "the rule sleeps until then: run=, connect= or handshake= and a time; without a place it is the moment",
            "outage(3s) since run=5s"),
        RuleWord(
            "optional", "the run may pass although the rule never fires",
            "respond(401) on request[token=stale] optional"),
    ]
}
