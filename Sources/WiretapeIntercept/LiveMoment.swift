internal import WiretapeBytes
internal import WiretapeFaults

/// A moment of a connection that a rule of the point `time` waits for.
struct LiveMoment {
    /// Index into the moments that rules name.
    var rule: Int
    var carrier: LiveCarrier
    var due: WireInstant
}

/// The moments that rules of the point `time` wait for.
struct LiveMoments {
    /// Those that rules name, each once.
    private(set) var times: [RuleFilters.Since]
    /// Those of the run that have come, and those of connections that have not.
    private var passed: Set<RuleFilters.Since> = []
    private var waiting: [LiveMoment] = []
    private var nextOfConnections: WireInstant?

    init(_ engine: FaultEngine) { times = engine.times }

    /// Rules name other moments from now on.
    mutating func change(to engine: FaultEngine) {
        let old = times
        times = engine.times
        waiting = waiting.compactMap { moment in
            guard let place = times.firstIndex(of: old[moment.rule]) else { return nil }
            return LiveMoment(rule: place, carrier: moment.carrier, due: moment.due)
        }
        nextOfConnections = waiting.map(\.due).min()
        passed = passed.intersection(times)
    }

    /// A connection's mark has come: moments are counted from it.
    mutating func begin(_ mark: RuleFilters.Since.Mark, of carrier: LiveCarrier, at now: WireInstant) {
        for (i, since) in times.enumerated() where since.mark == mark {
            let due = now.advanced(by: since.gap)
            waiting.append(LiveMoment(rule: i, carrier: carrier, due: due))
            nextOfConnections = min(nextOfConnections ?? due, due)
        }
    }

    /// When the next of them comes.
    /// - Parameter origin: when the run began; nil: it has not.
    func next(since origin: WireInstant?) -> WireInstant? {
        guard let origin else { return nextOfConnections }
        var next = nextOfConnections
        for since in times where since.mark == .run && !passed.contains(since) {
            let due = origin.advanced(by: since.gap)
            next = min(next ?? due, due)
        }
        return next
    }

    /// Whether a moment of the run has come; true once.
    mutating func comes(_ since: RuleFilters.Since, after origin: WireInstant, at now: WireInstant) -> Bool {
        guard !passed.contains(since), origin.advanced(by: since.gap) <= now else { return false }
        passed.insert(since)
        return true
    }

    /// Those of connections that are still there and have come, in the order of their sessions.
    mutating func takeDue(at now: WireInstant) -> [LiveMoment] {
        guard let nextOfConnections, nextOfConnections <= now else { return [] }
        let there = waiting.filter { $0.carrier.session.carrier === $0.carrier }
        waiting = there.filter { $0.due > now }
        self.nextOfConnections = waiting.map(\.due).min()
        return there.filter { $0.due <= now }.sorted { $0.carrier.session.number < $1.carrier.session.number }
    }
}
