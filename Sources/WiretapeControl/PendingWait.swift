internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeRuntime
internal import WiretapeWire

/// A request that waits for something to happen in a run.
struct PendingWait {
    /// What is waited for.
    enum Goal {
        case finished
        /// An event of `docs/events.md`.
        case event(String)
        /// A message, or the n-th of those.
        case message(Selector)
    }

    enum Outcome {
        case found(JSONValue)
        case never(ControlError)
        /// It may be there after so many nanoseconds although nothing happens until then.
        case notYet(lookAgainIn: UInt64?)
    }

    let run: Int
    let goal: Goal
    /// As it was written.
    let words: String
    /// In nanoseconds.
    let time: UInt64
    /// Only of this session; nil: of any.
    let session: Int?
    var timer: (any LoopTimer)?
    /// The last entry that was looked at.
    private var seen: UInt64
    /// Messages that the selector means, so far.
    private var count = 0

    init(run: Int, goal: Goal, words: String, time: UInt64, session: Int?, after: UInt64) {
        self.run = run
        self.goal = goal
        self.words = words
        self.time = time
        self.session = session
        seen = after
    }

    mutating func look(_ run: any ControlledRun) -> Outcome {
        if case .finished = goal {
            switch run.finished() {
            case .finished:
                return .found(
                    .object([
                        .init("for", .string(words)), .init("n", .number(run.journal.latest)), .init("event", .null),
                    ]))
            case .never(let why): return .never(.conflict(why))
            case .notYet(let again): return .notYet(lookAgainIn: again)
            }
        }
        for entry in run.journal.entries(after: seen) {
            seen = entry.number
            if let session, entry.session != session { continue }
            guard isMeant(entry) else { continue }
            return .found(
                .object([
                    .init("for", .string(words)), .init("n", .number(entry.number)),
                    .init("event", (try? JSONValue(parsing: entry.text)) ?? .null),
                ]))
        }
        return .notYet(lookAgainIn: nil)
    }

    private mutating func isMeant(_ entry: RunJournal.Entry) -> Bool {
        switch goal {
        case .finished: return false
        case .event(let name): return entry.event == name
        case .message(let selector):
            guard let message = entry.message, selector.matches(message) else { return false }
            count += 1
            return selector.occurrence?.contains(count) ?? true
        }
    }

    /// Why it did not come in time.
    func late(_ run: any ControlledRun) -> String {
        let time = DurationText.describe(time)
        switch goal {
        case .finished:
            let sessions = run.sessions
            let open = sessions.filter { !$0.isFinished }.map { "session \($0.id)" }
            let what =
                sessions.isEmpty
                ? "no client has begun a session"
                : open.isEmpty ? "clients still speak" : "\(open.joined(separator: ", ")) not played to the end"
            return "not finished after \(time): \(what)"
        case .event, .message:
            let names = run.journal.entries(after: 0).suffix(200).map { entry in
                entry.message.map { $0.label ?? $0.type } ?? entry.event
            }
            let came = names.isEmpty ? "nothing came" : "the last that came: " + names.suffix(8).joined(separator: ", ")
            return "no '\(words)' within \(time); \(came)"
        }
    }
}
