package import WiretapeBytes
package import WiretapeFaults

/// Rules of the point `time`.
extension LiveFaults {
    /// A connection's mark has come: moments are counted from it.
    func begin(_ mark: RuleFilters.Since.Mark, of carrier: LiveCarrier, at now: WireInstant) {
        if reach.hasTime { moments.begin(mark, of: carrier, at: now) }
    }

    /// When a rule of the point `time` wants to be asked next.
    package var nextTime: WireInstant? {
        reach.hasTime ? moments.next(since: hasBegun ? origin : nil) : nil
    }

    /// The rules whose moment has come, each with the connection that it is about; nil: it is about all.
    package func times(at now: WireInstant) -> [(hit: FaultHit, connection: UInt32?)] {
        guard reach.hasTime, hasBegun else { return [] }
        var found: [(hit: FaultHit, connection: UInt32?)] = []
        let due = moments.takeDue(at: now)
        for (i, since) in moments.times.enumerated() {
            guard since.mark == .run else {
                for moment in due where moment.rule == i {
                    let carrier = moment.carrier
                    let hits = engine.time(since, self.moment(of: carrier.session, carrier, at: now))
                    found += hits.map { ($0, carrier.connection) }
                }
                continue
            }
            guard moments.comes(since, after: origin, at: now) else { continue }
            found += engine.time(since, moment(of: nil, nil, at: now)).map { ($0, nil) }
        }
        return found
    }
}
