internal import WiretapeBytes

/// The claimed sessions in the order of claiming. It notes which of them were changed, so that the next wake-up is found
/// without looking at all of them: some hundred clients are served at once.
struct RunTable: RandomAccessCollection {
    private var runs: [SessionRun] = []
    private var wakes = WakeTree()
    private let changes = RunChanges()
    /// Those that were changed since somebody who follows the run asked last; nil: nobody does.
    private var untold: Set<Int>?

    init() {}

    var startIndex: Int { 0 }
    var endIndex: Int { runs.count }

    subscript(r: Int) -> SessionRun {
        get { runs[r] }
        set {
            runs[r].note = nil
            runs[r] = newValue
            watch(r)
        }
    }

    mutating func append(_ run: SessionRun) {
        runs.append(run)
        watch(runs.count - 1)
    }

    private func watch(_ r: Int) {
        runs[r].note = RunNote(changes: changes, number: r)
        runs[r].noteChange()
    }

    /// When the first of them wants to be woken.
    var nextWake: WireInstant? {
        mutating get {
            refresh()
            return wakes.first
        }
    }

    /// Those that want to be woken by now, ascending.
    mutating func due(at now: WireInstant) -> [Int] {
        refresh()
        return wakes.due(at: now)
    }

    /// From now on ``takeUntold()`` tells which were changed.
    mutating func follow() { untold = [] }

    /// Those that were changed since the last call, ascending.
    mutating func takeUntold() -> [Int] {
        refresh()
        defer { if untold != nil { untold = [] } }
        return (untold ?? []).sorted()
    }

    private mutating func refresh() {
        for r in changes.runs {
            untold?.insert(r)
            runs[r].note?.isTold = false
            wakes.set(r, to: runs[r].nextWake)
        }
        changes.runs.removeAll(keepingCapacity: true)
    }
}

/// Sessions that were changed since the last look, each once.
final class RunChanges {
    var runs: [Int] = []
}

/// Where a session tells that it was changed, and as which.
struct RunNote {
    let changes: RunChanges
    let number: Int
    /// The table knows of a change that it has not looked at.
    var isTold = false
}

extension SessionRun {
    /// Tells the table, once until it looks.
    func noteChange() {
        guard let note, !note.isTold else { return }
        self.note?.isTold = true
        note.changes.runs.append(note.number)
    }

    /// When anything of the session or of its connection is due.
    fileprivate var nextWake: WireInstant? {
        let own = isConnected ? wakeAt : nil
        guard let carrier = carrierWake else { return own }
        return own.map { Swift.min($0, carrier) } ?? carrier
    }
}
