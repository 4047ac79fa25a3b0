internal import WiretapeBytes
internal import WiretapeProtocol

/// Which of the claimed sessions it is.
struct SessionID: Hashable, Comparable, Sendable {
    /// In the order of claiming, from 0 on.
    let place: Int

    static func < (a: SessionID, b: SessionID) -> Bool { a.place < b.place }
}

/// The claimed sessions in the order of claiming. It notes which of them were changed, so that the next wake-up is found
/// without looking at all of them: some hundred clients are served at once.
struct RunTable: RandomAccessCollection {
    private var sessions: [SessionRun] = []
    private var wakes = WakeTree()
    private let changes = RunChanges()
    /// Those that had no connection when somebody asked last, and are no single operations.
    private var unconnected: [SessionID] = []
    /// Those that were changed since somebody who follows the run asked last; nil: nobody does.
    private var untold: Set<SessionID>?

    init() {}

    var startIndex: Int { 0 }
    var endIndex: Int { sessions.count }

    subscript(place: Int) -> SessionRun { sessions[place] }

    /// A client has claimed a recorded session.
    /// - Parameter run: which run of the recorded session it is, from 1.
    mutating func begin(_ recorded: RecordedSession, _ script: Script, run: Int, at now: WireInstant) -> SessionRun {
        let session = SessionRun(recorded, script: script, id: SessionID(place: sessions.count), run: run, at: now)
        sessions.append(session)
        if !recorded.isOperation { unconnected.append(session.id) }
        session.report(to: changes)
        return session
    }

    /// Those that have never had a connection and are no single operations, in the order of claiming.
    mutating func neverConnected() -> [SessionRun] {
        unconnected.removeAll { id in
            sessions[id.place].generation > 0 || sessions[id.place].recorded.isOperation
        }
        return unconnected.map { sessions[$0.place] }
    }

    /// When the first of them wants to be woken.
    var nextWake: WireInstant? {
        mutating get {
            refresh()
            return wakes.first
        }
    }

    /// Those that want to be woken by now, in the order of claiming.
    mutating func due(at now: WireInstant) -> [SessionRun] {
        refresh()
        return wakes.due(at: now).map { sessions[$0] }
    }

    /// From now on ``takeUntold()`` tells which were changed.
    mutating func follow() { untold = [] }

    /// Those that were changed since the last call, in the order of claiming.
    mutating func takeUntold() -> [SessionRun] {
        refresh()
        defer { if untold != nil { untold = [] } }
        return (untold ?? []).sorted().map { sessions[$0.place] }
    }

    private mutating func refresh() {
        changes.take { id in
            untold?.insert(id)
            wakes.set(id.place, to: sessions[id.place].takeNextWake())
        }
    }
}

/// Which session it is, and where it tells that it was changed.
struct RunNote {
    let id: SessionID
    /// Nil: nobody asks when it wants to be woken.
    var changes: RunChanges?
    /// A change is told that nobody has looked at.
    var isTold = false

    init(_ id: SessionID) { self.id = id }
}

/// Sessions that were changed since the last look, each once.
final class RunChanges {
    private var changed: [SessionID] = []

    func note(_ id: SessionID) { changed.append(id) }

    func take(_ look: (SessionID) -> Void) {
        for id in changed { look(id) }
        changed.removeAll(keepingCapacity: true)
    }
}
