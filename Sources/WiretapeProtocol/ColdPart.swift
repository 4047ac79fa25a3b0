/// What is kept of a session that was over before its tape was read to the end: the numbers of its events.
package struct ColdPart: Sendable {
    package var events: [UInt32] = []
    /// Endings of the server, and how many of `events` stand before each.
    package var endings: [(after: Int, entry: RecordedSession.Entry)] = []
    /// The places of the client messages that hold back later server messages.
    package var gates: [RecordedSession.TapePlace] = []
    /// The line of the last message or ending.
    var lastLine: Int?
    package let openingFingerprint: OpeningFingerprint
    /// The time of the first entry, which counts earlier takes.
    package let start: UInt64

    init(openingFingerprint: OpeningFingerprint, start: UInt64) {
        self.openingFingerprint = openingFingerprint
        self.start = start
    }

    /// What came later for the same session.
    package mutating func append(_ later: ColdPart) {
        endings += later.endings.map { ($0.after + events.count, $0.entry) }
        events += later.events
        gates += later.gates
        lastLine = later.lastLine ?? lastLine
    }

    /// The session with its entries where they can be read again.
    /// - Parameter names: what messages are called that no script counts.
    package func finish(
        _ session: RecordedSession, from source: any PayloadSource, names: [String: Int]
    ) -> RecordedSession {
        var session = session
        var digested = session.digested
        digested.cold = ColdEntries(part: self, source: source)
        digested.openingFingerprint = openingFingerprint
        digested.names = names
        session.digested = digested
        session.writer = session.writer.withoutHistory()
        return session
    }
}
