internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeReplay
package import WiretapeReport
internal import WiretapeWire

/// What became of an ``EngineScenario``.
package struct EngineRun: Sendable {
    /// What broke a rule; empty for a good run.
    package private(set) var problems: [String] = []
    package let report: ReplayReport
    /// Of every byte, with the time and the connection.
    package let bytes: UInt64
    /// Nanoseconds of virtual time, wake-ups of the engine, events in all.
    package let elapsed: UInt64
    package let wakes: Int
    package let events: Int

    private static let second: UInt64 = 1_000_000_000

    /// Whether the mutant had the occasion to act.
    package let hasMutated: Bool

    /// - Parameters:
    ///   - mutant: stands between the engine and what judges it.
    ///   - trace: hears everything that happens, for people.
    package init(_ scenario: EngineScenario, mutant: EngineMutant? = nil, trace: ((String) -> Void)? = nil) {
        let engine = ReplayEngine(
            sessions: scenario.tape.sessions, exchanges: scenario.tape.exchanges, tapeName: "drawn.tape",
            options: scenario.options,
            faults: scenario.faults, seed: scenario.seed)
        let start = WireInstant(nanoseconds: EngineRun.second)
        let clients = zip(scenario.parts, scenario.habits).enumerated().map { k, pair in
            ModelClient("client-\(k)", pair.0, pair.1, seed: scenario.seed &+ UInt64(k), start: start)
        }
        let stage = EngineStage(
            engine, clients, weather: scenario.weather, timing: EngineRun.timing(scenario), seed: scenario.seed)
        stage.trace = trace
        stage.mutant = mutant
        for (exchange, delay) in zip(scenario.tape.exchanges, scenario.askDelays) {
            stage.ask(exchange, at: start.advanced(by: exchange.time + delay))
        }
        if let mischief = scenario.habits.first?.mischief {
            stage.referees[0][0].terms.expectsRefusals = true
            switch mischief.what {
            case .double: break
            case .drop, .late, .swap, .afterNextPush, .alter, .extra:
                stage.referees[0][0].terms.forgiven = Set(stage.referees[0][0].talk.lines.indices)
            }
        }
        for k in stage.referees.indices {
            for s in stage.referees[k].indices {
                stage.referees[k][s].terms.endsAreTheClients = scenario.faults.rules.isEmpty
            }
        }
        let bound = EngineRun.bound(scenario)
        let isEnded = stage.run(until: start.advanced(by: bound))
        report = stage.finish()
        hasMutated = stage.mutant?.hasActed ?? false
        bytes = stage.digest.value
        elapsed = stage.now.since(start)
        wakes = stage.wakes
        events = stage.events
        problems += stage.problems
        if !isEnded { problems.append("not over after \(bound / EngineRun.second) s") }
        // Beside keepalives a wake-up has a cause.
        let most = 20 + 2 * events + Int(elapsed / (5 * EngineRun.second))
        if wakes > most { problems.append("\(wakes) wake-ups for \(events) events") }
        for (k, client) in clients.enumerated() {
            problems += client.violations.map { "client \(k): \($0)" }
            for (s, play) in client.plays.enumerated() {
                let lost = takenAway(play.talk, scenario.faults)
                // What was forgiven may be passed by anything.
                let isForgiven = !stage.referees[k][s].terms.forgiven.isEmpty
                stage.referees[k][s].finish(takenAway: isForgiven ? Set(play.talk.lines.indices) : lost)
                check(play, stage.referees[k][s], client, lost, "client \(k) session \(s)")
                checkReport(stage.accounts[k][s], of: play.talk.session.number, client, stage.begun)
            }
        }
        if let mischief = scenario.habits.first?.mischief {
            checkMischief(mischief, clients[0])
        } else if scenario.kind != .mischief {
            checkVerdict(clients, scenario)
        }
    }

    /// The report agrees with the wire about every connection. Polls have none, and where several clients play the whole tape, the report does
    /// not tell which of them had which session.
    private mutating func checkReport(
        _ account: WireAccount, of number: Int, _ client: ModelClient, _ begun: WireInstant?
    ) {
        let told = report.sessions.filter { $0.session == number }
        guard client.habits.transport != .lp, told.count == 1, let begun else { return }
        problems += account.problems(told[0].attempts, start: begun).map { "session \(number): \($0)" }
    }

    /// What a client does wrong is told; what only comes late or out of turn may be forgiven.
    private mutating func checkMischief(_ mischief: ClientHabits.Mischief, _ client: ModelClient) {
        guard client.wasMischievous else { return }
        switch mischief.what {
        case .drop, .double, .alter:
            if report.verdict != .diverged { problems.append("\(mischief) is not told: \(report.verdict)") }
            if report.sessions.allSatisfy({ $0.missing.isEmpty && $0.unexpected.isEmpty }) {
                problems.append("\(mischief) is named nowhere")
            }
        case .late, .swap, .afterNextPush, .extra: break
        }
    }

    private mutating func check(
        _ play: ClientPlay, _ referee: Referee, _ client: ModelClient, _ takenAway: Set<Int>, _ who: String
    ) {
        problems += referee.problems.map { "\(who): \($0)" }
        problems += play.strange.map { "\(who) got \($0)" }
        guard client.habits.mischief == nil else { return }
        for line in play.talk.lines.indices where play.talk.lines[line].direction == .toClient {
            let step = play.talk.lines[line]
            guard !step.isOptional, referee.effective(line) == 0, !referee.isOvertaken(line) else { continue }
            if let opener = step.opener, play.givenUp.contains(opener) { continue }
            if takenAway.contains(line) { continue }
            problems.append("\(who): \(referee.name(line)) was never sent")
        }
    }

    /// Lines that rules took away instead of letting them pass; an ending that a rule came before.
    private func takenAway(_ talk: Conversation, _ faults: FaultPlan) -> Set<Int> {
        let lines = talk.lines.indices.filter { talk.lines[$0].direction == .toClient }
        let instead = Set(faults.rules.filter { $0.place == .instead }.map(\.name))
        let fired = report.faults.filter { $0.session == talk.session.number }
        var taken = Set(fired.filter { instead.contains($0.rule) }.compactMap(\.message).map { lines[$0 - 1] })
        if !faults.rules.isEmpty { taken.formUnion(lines.filter { talk.lines[$0].ending != nil }) }
        return taken
    }

    private mutating func checkVerdict(_ clients: [ModelClient], _ scenario: EngineScenario) {
        for (k, client) in clients.enumerated() {
            if client.phase != .over {
                problems.append("client \(k) is \(client.phase) in session \(client.current): \(client.wants)")
            }
            if client.hasGivenUp {
                problems.append("client \(k) gave up session \(client.current): \(client.wants) \(client.refusals)")
            }
        }
        // A client that does not wait for a response that a rule holds back may not have seen the refusal.
        checkVerdict(ofRefused: clients.contains { $0.refusals.contains(404) || $0.habits.openTimeout > 0 })
        // An end that a rule made is taken for the tape's: then the tape's is still to come.
        let cut = Set(report.faults.map(\.session))
        for session in report.sessions where !session.finished && !cut.contains(session.session) {
            problems.append("session \(session.session) is not finished")
        }
        if !report.unclaimed.isEmpty { problems.append("unclaimed: \(report.unclaimed)") }
    }

    /// All that a model client does is on its tape, but for one thing: one that has left in order may come again although no
    /// session is left for it. The replay has to say that it refused it, and nothing else may speak against the run.
    private mutating func checkVerdict(ofRefused isRefused: Bool) {
        let isExpected =
            report.ownRefusals.isEmpty
            ? report.verdict == .pass
            : report.verdict == .diverged && isRefused && report.divergences == report.ownRefusals
        if !isExpected { problems.append("verdict \(report.verdict): \(report.reasons)") }
    }

    private static func timing(_ scenario: EngineScenario) -> RefereeTerms.Timing? {
        guard scenario.kind == .calm, scenario.habits.allSatisfy({ $0.transport != .lp }) else { return nil }
        if case .factor(let speed) = scenario.options.speed {
            return RefereeTerms.Timing(speed: speed, idleCap: scenario.options.clock.idleCap)
        }
        return RefereeTerms.Timing(speed: 0)
    }

    /// No run takes longer than the tape, all thinking and waiting one after the other, and patience once a session.
    private static func bound(_ scenario: EngineScenario) -> UInt64 {
        var bound = 10 * second
        for (sessions, habits) in zip(scenario.parts, scenario.habits) {
            for session in sessions {
                let length = (session.entries.last?.time ?? 0) - (session.opened ?? 0)
                var speed = 1.0
                if case .factor(let factor) = scenario.options.speed { speed = factor }
                let waits = habits.think.upperBound + 4 * scenario.weather.latency.upperBound
                // After each loss: the handshake and the gap that went on, and a grace for what is not asked for again.
                let losses = habits.cuts.count + scenario.faults.rules.count
                bound += UInt64(losses + 1) * UInt64(Double(length) / speed) + UInt64(losses) * scenario.options.grace
                // A client that is let in again waits for an end that it has missed.
                bound += losses > 0 ? 2 * length + 60 * second : 0
                bound += UInt64(losses) * (habits.serverTimeout + habits.openTimeout)
                bound += UInt64((losses + 1) * session.entries.count) * waits + scenario.options.patience + 20 * second
            }
            // What comes late, and what a client says after a grace.
            if habits.mischief != nil { bound += 200 * second }
            bound += UInt64(habits.attempts + habits.cuts.count + 4) * ((habits.delays.max() ?? 0) + second)
        }
        return bound
    }
}
