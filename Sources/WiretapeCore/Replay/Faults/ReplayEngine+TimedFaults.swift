/// Rules of the point `time`.
extension ReplayEngine {
    /// When the mark of a session's connection has come with that gap; nil: it has not begun.
    private func target(_ since: RuleFilters.Since, of r: Int) -> WireInstant? {
        guard let link = runs[r].link else { return nil }
        switch since.mark {
        case .run: return origin?.advanced(by: since.gap)
        case .connect: return link.openedAt.advanced(by: since.gap)
        case .handshake: return link.readyAt?.advanced(by: since.gap)
        }
    }

    /// The next moment that a rule waits for.
    var nextTimedFault: WireInstant? {
        guard !times.isEmpty else { return nil }
        var next: WireInstant?
        for (i, since) in times.enumerated() {
            if since.mark == .run {
                guard !runMarks.contains(i), let at = origin?.advanced(by: since.gap) else { continue }
                next = min(next ?? at, at)
                continue
            }
            for r in runs.indices where runs[r].link?.faults.marks.contains(i) == false {
                guard let at = target(since, of: r) else { continue }
                next = min(next ?? at, at)
            }
        }
        return next
    }

    /// Does what rules want at moments that have come.
    mutating func fireTimed(into out: inout [ReplayAction]) {
        guard !times.isEmpty else { return }
        for (i, since) in times.enumerated() {
            if since.mark == .run {
                guard !runMarks.contains(i), let at = origin?.advanced(by: since.gap), at <= now else { continue }
                runMarks.insert(i)
                fireForAll(since, into: &out)
                continue
            }
            for r in runs.indices where runs[r].link?.faults.marks.contains(i) == false {
                guard let at = target(since, of: r), at <= now else { continue }
                runs[r].link?.faults.marks.insert(i)
                carryOut(faultEngine.time(since, moment(of: r)), of: r, into: &out)
            }
        }
    }

    private mutating func fireForAll(_ since: RuleFilters.Since, into out: inout [ReplayAction]) {
        let linked = runs.indices.filter { runs[$0].link != nil }.sorted {
            (runs[$0].session.number, runs[$0].run) < (runs[$1].session.number, runs[$1].run)
        }
        guard !linked.isEmpty else {
            var moment = FaultMoment(session: 0, run: 0, attempt: 0)
            moment.sinceRun = since.gap
            for hit in faultEngine.time(since, moment) {
                guard case .outage(let outage)? = hit.ending else { continue }
                record(hit, moment, cut: false)
                begin(outage, by: hit, into: &out)
            }
            return
        }
        for r in linked where runs[r].link != nil {
            carryOut(faultEngine.time(since, moment(of: r)), of: r, into: &out)
        }
    }

    private mutating func carryOut(_ hits: [FaultHit], of r: Int, into out: inout [ReplayAction]) {
        guard let fate = MessageFate(hits), runs[r].link != nil else { return }
        for hit in fate.hits where hit != fate.end?.hit { record(hit, moment(of: r), cut: false) }
        for edit in fate.injectedBefore + fate.injectedAfter { inject(edit, to: r, into: &out) }
        let effects = fate.effectsBefore + fate.effectsAfter
        guard let end = fate.end else {
            for effect in effects { apply(effect, on: runs[r].link?.connection, of: r, into: &out) }
            return
        }
        let ending = Link.Ending(
            verdict: end.verdict, hit: end.hit, effects: effects, lingering: fate.lingering)
        cut(r, ending, following: false, into: &out)
    }
}
