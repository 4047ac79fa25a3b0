extension ReplayEngine {
    /// The report, at the end of the run.
    package mutating func finish(at now: WireInstant) -> ReplayReport {
        self.now = max(self.now, now)
        var digest = Digest()
        var reports: [ReplayReport.Session] = []
        for r in runs.indices.sorted(by: {
            (runs[$0].session.number, runs[$0].run) < (runs[$1].session.number, runs[$1].run)
        }) {
            digest.add(runs[r])
            reports.append(report(r))
        }
        digest.add(firings)
        return ReplayReport(
            digest: digest.text, seed: seed, sessions: reports, unclaimed: unclaimed.map { sessions[$0].number },
            faults: firings, unfired: unfired, expectations: judgements(reports), divergences: divergences)
    }

    private mutating func report(_ r: Int) -> ReplayReport.Session {
        var run = runs[r]
        let complete = run.isComplete
        if run.link == nil, run.failure == nil, !complete, let first = run.firstAwaitedStep {
            // The client left for good while it was its turn, or before it.
            let awaited = run.script.toServer.filter {
                $0 >= first && run.state[$0] == .waiting && !run.script.steps[$0].optional
            }
            run.missing = awaited.map { DivergenceText.describe(run, $0, tape: tapeName) }
        }
        if let last = run.attempts.indices.last, run.attempts[last].outcome == nil {
            run.attempts[last].outcome = .abandoned
        }
        return ReplayReport.Session(
            session: run.session.number, run: run.run, client: run.identities.first ?? "", assigned: run.assigned,
            protocolID: run.session.codec.id, transports: run.transports, finished: run.failure == nil && complete,
            attempts: run.attempts, matched: run.matched, missing: run.missing, unexpected: run.unexpected, late: [],
            reordered: 0, abandoned: run.state.count { $0 == .abandoned })
    }

    /// The rules that never acted, with what is near.
    private var unfired: [ReplayReport.Unfired] {
        faults.rules.filter { rule in !firings.contains { $0.rule == rule.name } }.map { rule in
            let place = rule.source.description
            var text = "wiretape: rule '\(rule.name)' (\(place)) never fired: "
            let names = rule.names(in: sessions)
            text += names.unknown(on: tapeName) ?? names.tooFew(rule) ?? "its conditions were never met"
            text += ". Exit 5; 'optional: true' allows it."
            return ReplayReport.Unfired(rule: rule.name, text: text, optional: rule.optional)
        }
    }
}
