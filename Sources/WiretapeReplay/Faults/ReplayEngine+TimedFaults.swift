internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeProtocol

/// Rules of the point `time`.
extension ReplayEngine {
    /// Does what rules want at moments that have come.
    mutating func fireTimed(into out: inout [ReplayAction]) {
        guard !rules.times.isEmpty else { return }
        let due = runs.due(at: now)
        for (i, since) in rules.times.enumerated() {
            if since.mark == .run {
                if rules.comes(i, since: clock.origin, by: now) { fireForAll(since, into: &out) }
                continue
            }
            for r in due where comes(i, to: r) {
                let moment = moment(of: r)
                carryOut(rules.judge(since, moment), of: r, into: &out)
            }
        }
    }

    private mutating func comes(_ i: Int, to r: Int) -> Bool {
        guard let opened = runs[r].link?.openedAt else { return false }
        let ready = runs[r].link?.readyAt
        return runs[r].link?.faults.moments.comes(i, opened: opened, ready: ready, by: now) ?? false
    }

    private mutating func fireForAll(_ since: RuleFilters.Since, into out: inout [ReplayAction]) {
        let linked = runs.indices.filter { runs[$0].isConnected }.sorted {
            (runs[$0].session.number, runs[$0].run) < (runs[$1].session.number, runs[$1].run)
        }
        guard !linked.isEmpty else {
            var moment = FaultMoment(session: 0, run: 0, attempt: 0)
            moment.sinceRun = since.gap
            for hit in rules.judge(since, moment) {
                guard case .outage(let outage)? = hit.ending else { continue }
                record(hit, moment, cut: false)
                noteFault(hit, .none, on: nil, into: &out)
                begin(outage, by: hit, into: &out)
            }
            return
        }
        for r in linked where runs[r].isConnected {
            let moment = moment(of: r)
            carryOut(rules.judge(since, moment), of: r, into: &out)
        }
    }

    private mutating func carryOut(_ hits: [FaultHit], of r: Int, into out: inout [ReplayAction]) {
        guard let fate = MessageFate(hits), runs[r].isConnected else { return }
        for hit in fate.hits where hit != fate.end?.hit { record(hit, moment(of: r), cut: false) }
        for edit in fate.injectedBefore + fate.injectedAfter { inject(edit, by: fate.hits, to: r, into: &out) }
        let effects = fate.effectsBefore + fate.effectsAfter
        if !effects.isEmpty {
            let c = runs[r].link?.connection
            for hit in fate.hits where hit != fate.end?.hit { noteFault(hit, .none, on: c, into: &out) }
        }
        guard let end = fate.end else {
            for effect in effects { apply(effect, on: runs[r].link?.connection, of: r, into: &out) }
            return
        }
        let ending = Link.Ending(
            verdict: end.verdict, hit: end.hit, effects: effects, lingering: fate.lingering)
        cut(r, ending, following: false, into: &out)
    }
}
