/// The claimed sessions in the order of claiming. It notes which of them were changed, so that the next wake-up is found
/// without looking at all of them: some hundred clients are served at once.
struct RunTable: RandomAccessCollection, Sendable {
    private var runs: [SessionRun] = []
    private var wakes = WakeTree()
    /// Changed since the last look, each once.
    private var changed: [Int] = []
    private var isChanged: [Bool] = []

    init() {}

    var startIndex: Int { 0 }
    var endIndex: Int { runs.count }

    subscript(r: Int) -> SessionRun {
        _read { yield runs[r] }
        _modify {
            if !isChanged[r] {
                isChanged[r] = true
                changed.append(r)
            }
            yield &runs[r]
        }
    }

    mutating func append(_ run: SessionRun) {
        changed.append(runs.count)
        isChanged.append(true)
        runs.append(run)
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

    private mutating func refresh() {
        for r in changed {
            isChanged[r] = false
            wakes.set(r, to: runs[r].nextWake)
        }
        changed.removeAll(keepingCapacity: true)
    }
}

extension SessionRun {
    /// When anything of the session or of its connection is due.
    fileprivate var nextWake: WireInstant? {
        let own = link == nil ? nil : wakeAt
        guard let carrier = carrierWake else { return own }
        return own.map { Swift.min($0, carrier) } ?? carrier
    }
}
