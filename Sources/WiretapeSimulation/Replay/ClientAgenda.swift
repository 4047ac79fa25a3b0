internal import WiretapeBytes

/// What a model client does next, and when: it connects, says a line, or leaves.
struct ClientAgenda {
    private(set) var due: WireInstant?
    /// The line that is to be said then; nil for anything else.
    private(set) var line: Int?

    init(start: WireInstant) { due = start }

    func isDue(at now: WireInstant) -> Bool { due.map { $0 <= now } ?? false }

    /// Something that is no line is done then.
    mutating func wait(until due: WireInstant) { self.due = due }

    mutating func plan(_ line: Int, at due: WireInstant) {
        self.due = due
        self.line = line
    }

    mutating func clear() {
        due = nil
        line = nil
    }
}
