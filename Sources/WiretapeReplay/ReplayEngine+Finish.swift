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
        record.ends(clientsAreGone: clientsAreGone)
        settleHalfClosed()
        for session in runs { settleParked(of: session) }
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
        for session in runs.sorted(by: {
            ($0.recorded.number, $0.recorded.part ?? 0, $0.run) < ($1.recorded.number, $1.recorded.part ?? 0, $1.run)
        }) {
            played[session.recorded.number, default: []].append(
                session.cursor.digest(timed: isTimed(session), part: session.recorded.part))
            reports.append(noted(relieved(report(session), session), session))
            reported.append(session)
            numbers.add(session.attempts, of: session.recorded.number, run: session.run)
        }
        for number in played.keys.sorted() { digest.add(number, played[number, default: []]) }
        digest.add(exchanges: claims.exchangeCounts)
        digest.add(rules.firings)
        return ReplayReport(
            digest: digest.text, seed: seed, sessions: reports,
            unclaimed: unclaimed.map { library[$0].number },
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
        if let left = exchanges.givenUp.texts.first {
            return ReplayReport.nobody(at: tapeName, "its client left before the answer to \(left)")
        }
        let what = library.sessions.isEmpty ? "no request was answered" : "no session was claimed"
        return ReplayReport.nobody(
            at: tapeName, "\(what). It listens for \(everythingAsked); \(record.visitors.text)")
    }

    /// Whether what the session's client got depended on the moment at which it came back.
    private func isTimed(_ session: SessionRun) -> Bool {
        options.onReconnect == .live && !options.clock.isManual && session.generation > 1
    }

    /// What the digest leaves out since it hangs on real time.
    private var outsideDigest: [String] {
        runs.filter(isTimed).sorted {
            ($0.recorded.number, $0.run) < ($1.recorded.number, $1.run)
        }.map { session in
            "pushes of session \(session.recorded.number)\(session.run > 1 ? " run \(session.run)" : "") "
                + "(--on-reconnect live without a manual clock)"
        }
    }

    private func report(_ session: SessionRun) -> ReplayReport.Session {
        // A client without a connection left for good while it was its turn, or before it.
        var (missing, unreached) = session.cursor.neverCame(
            isGone: !session.isConnected && !session.isOver, endedOperations: session.hasEndedOperations)
        if options.match == .off { (missing, unreached) = ([], 0) }
        var attempts = attemptsSoFar(of: session)
        if let last = attempts.indices.last, attempts[last].outcome == nil { attempts[last].outcome = .abandoned }
        return ReplayReport.Session(
            session: session.recorded.number, run: session.run, client: session.client.identities.first ?? "",
            assigned: session.client.assigned,
            protocolID: session.recorded.codec.id, transports: session.client.transports,
            finished: session.isFinished, attempts: Attempt.joined(attempts),
            matched: session.tally.matched,
            missing: missing.map { DivergenceText.describe(session, $0, tape: tapeName) }
                + session.tally.missingElsewhere,
            unexpected: session.tally.unexpected.texts, unexpectedBeyond: session.tally.unexpected.beyond,
            late: session.tally.late.map { DivergenceText.describe(session, $0, tape: tapeName) },
            reordered: session.tally.reordered,
            abandoned: session.cursor.abandonedCount, unreached: unreached, repeated: session.repeated,
            operation: session.recorded.part,
            others: library.sources(of: claims[session].recorded).dropFirst().map { library[$0].number },
            upstream: library.table.upstream(of: claims[session].recorded), greeting: greeting(of: session),
            notes: session.tally.notes + [letGoNote(of: session), session.unansweredNote(options)].compactMap { $0 })
    }

    private func greeting(of session: SessionRun) -> ReplayReport.Greeting? {
        guard let greeting = session.greeting, session.tally.greetings > 0 else { return nil }
        return ReplayReport.Greeting(labels: greeting.labels, why: greeting.why, connections: session.tally.greetings)
    }

    /// The rules that never acted, with what is near.
    private var unfired: [ReplayReport.Unfired] {
        faults.rules.filter { rule in !rules.ownFirings.contains { $0.rule == rule.name } }.map { rule in
            let place = rule.source.description
            var text = "wiretape: rule '\(rule.name)' (\(place)) never fired: "
            let names = rule.names(in: library.sessions)
            // Replay sends some types of messages by itself, so the tape need not have them.
            let isOwn = names.label.map { name in library.codecs.contains { $0.type.mayBeCalled(name) } } ?? false
            text += (isOwn ? nil : names.unknown(on: tapeName) ?? names.tooFew(rule)) ?? rule.whyNever
            text += ". Exit 5; 'optional: true' allows it."
            return ReplayReport.Unfired(rule: rule.name, text: text, optional: rule.optional)
        }
    }
}
