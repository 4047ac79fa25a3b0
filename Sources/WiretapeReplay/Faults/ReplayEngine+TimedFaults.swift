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
            for session in due where comes(i, to: session) {
                let moment = moment(of: session)
                carryOut(rules.judge(since, moment), of: session, into: &out)
            }
        }
    }

    private mutating func comes(_ i: Int, to session: SessionRun) -> Bool {
        guard let opened = session.link?.openedAt else { return false }
        let ready = session.link?.readyAt
        return session.link?.faults.moments.comes(i, opened: opened, ready: ready, by: now) ?? false
    }

    private mutating func fireForAll(_ since: RuleFilters.Since, into out: inout [ReplayAction]) {
        let linked = runs.filter(\.isConnected).sorted {
            ($0.recorded.number, $0.run) < ($1.recorded.number, $1.run)
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
        for session in linked where session.isConnected {
            let moment = moment(of: session)
            carryOut(rules.judge(since, moment), of: session, into: &out)
        }
    }

    private mutating func carryOut(_ hits: [FaultHit], of session: SessionRun, into out: inout [ReplayAction]) {
        guard let fate = MessageFate(hits), session.isConnected else { return }
        for hit in fate.hits where hit != fate.end?.hit { record(hit, moment(of: session), cut: false) }
        for edit in fate.injectedBefore + fate.injectedAfter { inject(edit, by: fate.hits, to: session, into: &out) }
        let effects = fate.effectsBefore + fate.effectsAfter
        if !effects.isEmpty {
            let connection = session.link?.connection
            for hit in fate.hits where hit != fate.end?.hit { noteFault(hit, .none, on: connection, into: &out) }
        }
        guard let end = fate.end else {
            for effect in effects { apply(effect, on: session.link?.connection, of: session, into: &out) }
            return
        }
        let ending = Link.Ending(
            verdict: end.verdict, hit: end.hit, effects: effects, lingering: fate.lingering)
        cut(session, ending, following: false, into: &out)
    }
}
