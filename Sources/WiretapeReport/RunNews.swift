package import WiretapeAttempts
package import WiretapeWire

/// Something that has happened in a run, for whoever follows it. Times are nanoseconds of the client's clock since the first thing
/// that a client did, as in the report.
package struct RunNews: Hashable, Sendable {
    package var time: UInt64
    /// The recorded session and which run of it; 0 for what belongs to none.
    package var session: Int
    package var run: Int
    package var what: What

    package init(time: UInt64, session: Int, run: Int, what: What) {
        self.time = time
        self.session = session
        self.run = run
        self.what = what
    }

    package enum What: Hashable, Sendable {
        /// A client begins to ask for a connection. Numbers are as it happens: the report joins those that turn out to be
        /// steps of one attempt.
        case attempt(number: Int, retry: Int, delay: UInt64?)
        /// The protocol is ready.
        case connected(attempt: Int, Transport?)
        /// The attempt's connection has ended, or the attempt came to none.
        case disconnected(attempt: Int, Attempt.Outcome?, Attempt.End)
        case fault(attempt: Int, rule: String, action: String, counted: String?)
        /// The text that people get.
        case divergence(String)
        /// All of the session is played.
        case finished
    }
}
