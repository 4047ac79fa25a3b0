/// One combination of a sweep: a fault at a point of the tape.
struct SweepCase: Hashable, Sendable {
    /// 1, 2, … in the order of the tape, whatever is run of them.
    var number: Int
    /// `reset`.
    var fault: String
    /// The fault that was asked for: with others of it, and the same outcome, it is one way to break the client.
    var asked: String
    /// `after ReceiveMessage[3]`.
    var place: String
    /// Recorded session; nil when the tape has only one.
    var session: Int?

    /// The rule in its inline form: what is run, told and kept in a file of known failures.
    var rule: String { "\(fault) \(place)" + (session.map { " in session=\($0)" } ?? "") }
}
