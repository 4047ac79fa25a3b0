/// Where in its session something happens.
package struct FaultMoment: Hashable, Sendable {
    /// The recorded session's number and run; 0 when it belongs to none.
    package var session: Int
    package var run: Int
    package var attempt: Int
    /// Attempts since the last success.
    package var retry: Int
    /// 1, 2, …: which connection of the session, for rules that count per connection.
    package var connection: Int
    package var context: SelectorContext
    /// Nanoseconds since the marks; nil: not reached yet.
    package var sinceRun: UInt64?
    package var sinceConnect: UInt64?
    package var sinceHandshake: UInt64?

    package init(
        session: Int, run: Int = 1, attempt: Int = 1, retry: Int = 0, connection: Int = 1,
        context: SelectorContext = SelectorContext(), sinceRun: UInt64? = nil, sinceConnect: UInt64? = nil,
        sinceHandshake: UInt64? = nil
    ) {
        self.session = session
        self.run = run
        self.attempt = attempt
        self.retry = retry
        self.connection = connection
        self.context = context
        self.sinceRun = sinceRun
        self.sinceConnect = sinceConnect
        self.sinceHandshake = sinceHandshake
    }

    package func since(_ mark: RuleFilters.Since.Mark) -> UInt64? {
        switch mark {
        case .run: sinceRun
        case .connect: sinceConnect
        case .handshake: sinceHandshake
        }
    }
}
