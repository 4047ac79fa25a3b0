internal import WiretapeAttempts
package import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeProtocol
package import WiretapeReport
internal import WiretapeWire

extension ReplayEngine {
    /// The report, at the end of the run.
    /// - Parameter clientsAreGone: nothing more would have come, however long the run had lasted.
    package mutating func finish(at now: WireInstant, clientsAreGone: Bool = false) -> ReplayReport {
        clock.reach(now)
        record.clientsAreGone = clientsAreGone
        for r in runs.indices { settleParked(of: r) }
        return soFar(at: now)
    }

    /// What the run has come to by now. It goes on.
    package mutating func soFar(at now: WireInstant) -> ReplayReport {
        clock.reach(now)
        var digest = Digest()
        var reports: [ReplayReport.Session] = []
        var reported: [SessionRun] = []
        var numbers = AttemptNumbers()
        var played: [Int: [UInt64]] = [:]
        for r in runs.indices.sorted(by: {
            (runs[$0].session.number, runs[$0].session.part ?? 0, runs[$0].run)
                < (runs[$1].session.number, runs[$1].session.part ?? 0, runs[$1].run)
        }) {
            played[runs[r].session.number, default: []].append(
                runs[r].cursor.digest(timed: isTimed(r), part: runs[r].session.part))
            reports.append(relieved(report(r), runs[r]))
            reported.append(runs[r])
            numbers.add(runs[r].attempts, of: runs[r].session.number, run: runs[r].run)
        }
        for number in played.keys.sorted() { digest.add(number, played[number, default: []]) }
        digest.add(exchanges: claims.exchangeCounts)
        digest.add(rules.firings)
        return ReplayReport(
            digest: digest.text, seed: seed, sessions: reports,
            unclaimed: unclaimed.map { library.sessions[$0].number },
            faults: rules.firings.map { $0.renumbered(by: numbers) }, unfired: unfired,
            expectations: judgements(reports, reported),
            divergences: record.divergences.texts, divergencesBeyond: record.divergences.beyond,
            ownRefusals: record.ownRefusals,
            outsideDigest: outsideDigest,
            onDivergence: options.onDivergence,
            exchanges: exchangeReport, nobody: nobody)
    }

    /// What to say of a run that played nothing: no session was claimed, or, on a tape that has none, no request answered.
    private var nobody: String? {
        guard !options.ending.allowsUnplayed, !record.hasPassedOn, runs.isEmpty,
            !library.sessions.isEmpty || exchanges.played == 0
        else {
            return nil
        }
        let what = library.sessions.isEmpty ? "no request was answered" : "no session was claimed"
        return ReplayReport.nobody(
            at: tapeName, "\(what). It listens for \(everythingAsked); \(record.visitors.text)")
    }

    /// Whether what the session's client got depended on the moment at which it came back.
    private func isTimed(_ r: Int) -> Bool {
        options.onReconnect == .live && !options.clock.isManual && runs[r].generation > 1
    }

    /// What the digest leaves out since it hangs on real time.
    private var outsideDigest: [String] {
        runs.indices.filter(isTimed).sorted {
            (runs[$0].session.number, runs[$0].run) < (runs[$1].session.number, runs[$1].run)
        }.map { r in
            "pushes of session \(runs[r].session.number)\(runs[r].run > 1 ? " run \(runs[r].run)" : "") "
                + "(--on-reconnect live without a manual clock)"
        }
    }

    private func report(_ r: Int) -> ReplayReport.Session {
        let run = runs[r]
        // A client without a connection left for good while it was its turn, or before it.
        var (missing, unreached) = run.cursor.neverCame(isGone: !run.isConnected && !run.isOver)
        if options.match == .off { (missing, unreached) = ([], 0) }
        var attempts = run.attempts
        if let last = attempts.indices.last, attempts[last].outcome == nil { attempts[last].outcome = .abandoned }
        return ReplayReport.Session(
            session: run.session.number, run: run.run, client: run.client.identities.first ?? "",
            assigned: run.client.assigned,
            protocolID: run.session.codec.id, transports: run.client.transports,
            finished: run.isFinished, attempts: Attempt.joined(attempts),
            matched: run.tally.matched,
            missing: missing.map { DivergenceText.describe(run, $0, tape: tapeName) } + run.tally.missingElsewhere,
            unexpected: run.tally.unexpected.texts, unexpectedBeyond: run.tally.unexpected.beyond,
            late: run.tally.late.map { DivergenceText.describe(run, $0, tape: tapeName) },
            reordered: run.tally.reordered,
            abandoned: run.cursor.abandonedCount, unreached: unreached, repeated: run.speech.repeated,
            operation: run.session.part,
            others: library.sources(of: claims.all[r].session).dropFirst().map { library.sessions[$0].number },
            upstream: library.table.upstream(of: claims.all[r].session), greeting: greeting(of: run),
            notes: run.tally.notes)
    }

    private func greeting(of run: SessionRun) -> ReplayReport.Greeting? {
        guard let greeting = run.greeting, run.tally.greetings > 0 else { return nil }
        return ReplayReport.Greeting(labels: greeting.labels, why: greeting.why, connections: run.tally.greetings)
    }

    /// The rules that never acted, with what is near.
    private var unfired: [ReplayReport.Unfired] {
        faults.rules.filter { rule in !rules.ownFirings.contains { $0.rule == rule.name } }.map { rule in
            let place = rule.source.description
            var text = "wiretape: rule '\(rule.name)' (\(place)) never fired: "
            let names = rule.names(in: library.sessions)
            text += names.unknown(on: tapeName) ?? names.tooFew(rule) ?? rule.whyNever
            text += ". Exit 5; 'optional: true' allows it."
            return ReplayReport.Unfired(rule: rule.name, text: text, optional: rule.optional)
        }
    }
}
