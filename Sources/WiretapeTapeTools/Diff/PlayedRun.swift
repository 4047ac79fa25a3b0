internal import WiretapeBytes
package import WiretapeProtocol

/// What the tape of a run tells of the rules and of the tape that it played: which messages were meddled with, on which side,
/// and which connection carried which session.
package struct PlayedRun: Hashable, Sendable {
    /// Lines of the tape that was played whose messages a rule met.
    private(set) var lines: Set<Int> = []
    /// Events of the run's own tape to which a rule did something.
    private(set) var events: Set<UInt64> = []
    /// A rule let messages pass others.
    private(set) var reorders = false
    private var marks: [UInt32: [Place]] = [:]

    /// The session of the tape that was played, and the how manyth run of it.
    struct Played: Hashable, Sendable {
        var session: Int
        var run: Int
    }

    private struct Place: Hashable, Sendable {
        var event: UInt64
        var played: Played
        var mayLose: Bool
    }

    package init() {}

    /// - Parameter number: of the event, from 1.
    package mutating func read(_ event: TapeEvent, number: UInt64) {
        switch event.kind {
        case .fault(_, let action, let reference, _, let line):
            if let line { lines.insert(Int(clamping: line)) }
            if let reference { events.insert(reference) }
            if action.contains("reorder") { reorders = true }
        case .mark(let text):
            guard let mark = PlayedMark(text) else { return }
            marks[mark.connection, default: []].append(
                Place(
                    event: number, played: Played(session: mark.session, run: mark.run), mayLose: mark.policy != nil))
        case .open, .request, .response, .chunk, .end, .message, .part, .ping, .pong, .close, .frame, .gone, .take,
            .gap, .missing, .stop, .unknown:
            break
        }
    }

    /// Whether it is the tape of a run.
    var isOne: Bool { !marks.isEmpty }

    func played(_ session: RecordedSession) -> Played? { place(of: session)?.played }

    /// Whether the server may have left out what fell due before the session's connection.
    func mayLose(_ session: RecordedSession) -> Bool { place(of: session)?.mayLose ?? false }

    /// The last mark before the session's first message, else the first one behind it.
    private func place(of session: RecordedSession) -> Place? {
        let all = session.connections.flatMap { marks[$0] ?? [] }.sorted { $0.event < $1.event }
        guard let first = session.entries.first?.event else { return all.first }
        return all.last { $0.event < first } ?? all.first
    }
}
