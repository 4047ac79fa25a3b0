internal import WiretapeBytes
internal import WiretapeFaults

/// The moments of one connection that rules wait for (`since connect`, `since handshake`), and which of them have come.
struct LinkMoments: Sendable {
    /// Those of the whole plan, by their index there.
    private var times: [RuleFilters.Since]
    private var come: Set<Int> = []

    init(_ times: [RuleFilters.Since] = []) { self.times = times }

    /// Other moments from now on. What has come of those that stay has come.
    mutating func change(to times: [RuleFilters.Since]) {
        let old = Set(come.map { self.times[$0] })
        self.times = times
        come = Set(times.indices.filter { old.contains(times[$0]) })
    }

    /// When the next of them comes, as far as their marks have come.
    func next(opened: WireInstant, ready: WireInstant?) -> WireInstant? {
        var next: WireInstant?
        for i in times.indices where !come.contains(i) {
            guard let at = at(i, opened, ready) else { continue }
            next = min(next ?? at, at)
        }
        return next
    }

    /// Whether that one has come by now; true once.
    mutating func comes(_ i: Int, opened: WireInstant, ready: WireInstant?, by now: WireInstant) -> Bool {
        guard times.indices.contains(i), !come.contains(i), let at = at(i, opened, ready), at <= now else {
            return false
        }
        come.insert(i)
        return true
    }

    /// Nil when its mark has not come, or is none of a connection.
    private func at(_ i: Int, _ opened: WireInstant, _ ready: WireInstant?) -> WireInstant? {
        switch times[i].mark {
        case .run: nil
        case .connect: opened.advanced(by: times[i].gap)
        case .handshake: ready?.advanced(by: times[i].gap)
        }
    }
}
