package import WiretapeBytes
package import WiretapeFaults

/// Rules of the point `time`.
extension LiveFaults {
    /// A connection's mark has come: moments are counted from it.
    func begin(_ mark: RuleFilters.Since.Mark, of carrier: LiveCarrier, at now: WireInstant) {
        guard reach.hasTime else { return }
        for (i, since) in times.enumerated() where since.mark == mark {
            let due = now.advanced(by: since.gap)
            moments.append(LiveMoment(rule: i, carrier: carrier, due: due))
            nextMoment = min(nextMoment ?? due, due)
        }
    }

    /// When a rule of the point `time` wants to be asked next.
    package var nextTime: WireInstant? {
        guard reach.hasTime else { return nil }
        var next = nextMoment
        guard hasBegun else { return next }
        for since in times where since.mark == .run && !passedRunTimes.contains(since) {
            let due = origin.advanced(by: since.gap)
            next = min(next ?? due, due)
        }
        return next
    }

    /// The rules whose moment has come, each with the connection that it is about; nil: it is about all.
    package func times(at now: WireInstant) -> [(hit: FaultHit, connection: UInt32?)] {
        guard reach.hasTime, hasBegun else { return [] }
        var found: [(hit: FaultHit, connection: UInt32?)] = []
        let due = takeMoments(at: now)
        for (i, since) in times.enumerated() {
            guard since.mark == .run else {
                for moment in due where moment.rule == i {
                    let carrier = moment.carrier
                    let hits = engine.time(since, self.moment(of: carrier.session, carrier, at: now))
                    found += hits.map { ($0, carrier.connection) }
                }
                continue
            }
            guard !passedRunTimes.contains(since), origin.advanced(by: since.gap) <= now else { continue }
            passedRunTimes.insert(since)
            found += engine.time(since, moment(of: nil, nil, at: now)).map { ($0, nil) }
        }
        return found
    }

    /// Those of connections that are still there, in the order of their sessions.
    private func takeMoments(at now: WireInstant) -> [LiveMoment] {
        guard let nextMoment, nextMoment <= now else { return [] }
        let there = moments.filter { $0.carrier.session.carrier === $0.carrier }
        moments = there.filter { $0.due > now }
        self.nextMoment = moments.map(\.due).min()
        return there.filter { $0.due <= now }.sorted { $0.carrier.session.number < $1.carrier.session.number }
    }
}
