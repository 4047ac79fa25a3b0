internal import WiretapeBytes
package import WiretapeFaults
internal import WiretapeMessages
package import WiretapeProtocol
package import WiretapeReplay
internal import WiretapeWire

/// One run of the simulation, as a seed draws it: a tape, the options of the replay, its clients and the weather. The same
/// seed is the same scenario everywhere.
package struct EngineScenario: Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        /// One connection a session, nothing in the way: times are exact.
        case calm
        /// Latencies, a slow kernel, slow clients.
        case slow
        /// Clients that cut themselves off and come back.
        case cut
        /// Rules that cut connections and refuse attempts.
        case faults
        /// Rules that hold requests back and stall connections, and clients that give both up.
        case silence
        /// A client that does one thing wrong.
        case mischief
        /// Clients that come back without a handshake after they, or rules, have cut their connections.
        case stateful
        /// Messages and plain requests that cause server messages on other connections.
        case causes
    }

    package let seed: UInt64
    package let kind: Kind
    package private(set) var tape: DrawnTape
    package private(set) var options = ReplayOptions()
    package private(set) var faults = FaultPlan()
    package private(set) var habits: [ClientHabits] = []
    package private(set) var weather = EngineStage.Weather()
    /// The delay of each plain request behind its recorded time, in nanoseconds.
    package private(set) var askDelays: [UInt64] = []

    /// - Parameter kinds: among which the seed draws; the list is a part of what is drawn. Not empty.
    package init(seed: UInt64, _ codec: CodecEntry, kinds: [Kind]) {
        self.seed = seed
        var random = SplitMix64(seed: seed)
        kind = kinds[random.below(kinds.count)]
        var limits = DrawnTape.Limits()
        limits.hasEquals = kind == .calm || kind == .slow
        if kind == .mischief {
            limits.clients = 1...1
            limits.sessions = 1...1
            limits.hasEquals = false
        }
        // Plain requests come at about their recorded times. No session may be far ahead of them.
        if random.below(12) == 0, kind != .causes { limits.gap = 20_000_000_000 }
        // What is changed on purpose is changed in JSON.
        limits.isPacked = kind != .mischief && random.below(4) == 0
        limits.isStateful = kind == .stateful
        // Drawn apart: what a seed draws besides stays the same.
        var other = SplitMix64(seed: ~seed)
        if [.cut, .faults, .silence, .stateful].contains(kind), other.below(4) > 0 {
            limits.greetings = 1 + other.below(2)
        }
        options.greeting = limits.greetings > 0 ? .named(["Welcome"]) : .off
        if kind == .causes {
            limits.clients = 1...3
            limits.requests = 1 + other.below(6)
            askDelays = (0..<limits.requests).map { _ in other.next() % [1, 300_000_000, 3_000_000_000][other.below(3)]
            }
        } else {
            // The lines of these tapes do not tell in which order the sessions spoke.
            options.causality = .session
        }
        tape = DrawnTape(&random, codec, limits: limits)
        options.speed = [.instant, .factor(1), .factor(1), .factor(10), .factor(0.5)][random.below(5)]
        // A client that thinks is none that does not answer.
        options.grace = 20_000_000_000
        if random.below(4) == 0 { options.clock.idleCap = 10_000_000 }
        options.ids.areFresh = random.below(4) == 0
        // Several clients may play the whole tape, each for itself.
        let runs = [.faults, .silence, .mischief, .stateful, .causes].contains(kind) || random.below(6) > 0 ? 1 : 2
        options.clients = runs == 1 ? 1 : runs * tape.clients.count
        for _ in 0..<runs {
            for k in tape.clients.indices { habits.append(drawnHabits(k, limits, &random)) }
        }
        if kind == .mischief { drawMischief(&random) }
        switch kind {
        case .calm: break
        case .slow, .cut, .faults, .silence, .stateful, .causes:
            weather.latency = 0...(random.below(2) == 0 ? 1_000_000 : 40_000_000)
            weather.taking = 0...(random.below(2) == 0 ? 0 : 30_000_000)
        case .mischief: weather.latency = 0...1_000_000
        }
        if kind == .silence { drawSilence(&random) }
        if kind == .faults || (kind == .stateful && random.below(2) == 0) { drawFaults(&random) }
    }

    private func drawnHabits(
        _ k: Int, _ limits: DrawnTape.Limits, _ random: inout SplitMix64
    ) -> ClientHabits {
        var habits = ClientHabits()
        habits.order = [.recorded, .swapped, .eager, .pipelined][random.below(4)]
        habits.ids = [.counter(0), .counter(1), .restarting(1), .opaque][random.below(4)]
        habits.think = 0...[0, 1_000_000, 200_000_000, 3_000_000_000][random.below(4)]
        habits.joins = random.below(3) == 0
        habits.negotiateVersion = [1, 1, 1, 0][random.below(4)]
        if random.below(4) == 0 { habits.pings = 15_000_000_000 }
        if [.calm, .slow, .silence, .causes].contains(kind) {
            habits.transport = [.ws, .ws, limits.isPacked ? .ws : .sse, .lp][random.below(4)]
        }
        habits.usesStatefulReconnect = limits.isStateful
        if limits.isStateful { habits.negotiateVersion = 1 }
        guard [.cut, .faults, .silence, .stateful].contains(kind) else { return habits }
        habits.delays = [[0], [100_000_000], [2_000_000_000, 10_000_000_000]][random.below(3)].map { $0 + 100_000_000 }
        habits.givesUpOneIn = random.below(2) * 4
        if kind == .silence {
            // Longer than any gap of a tape at half the speed.
            habits.serverTimeout = 100_000_000_000
            habits.openTimeout = 5_000_000_000
            let how: [ClientHabits.Cut.How] = [.fin, .fin, .reset, .closeFrame]
            habits.timeout = how[random.below(4)]
        }
        guard kind == .cut || (kind == .stateful && random.below(2) == 0) else { return habits }
        for _ in 0...random.below(3) {
            let how: [ClientHabits.Cut.How] = [.fin, .reset, .reset, .closeFrame]
            habits.cuts.append(ClientHabits.Cut(after: 1 + random.below(12), how: how[random.below(4)]))
        }
        return habits
    }

    private mutating func drawMischief(_ random: inout SplitMix64) {
        guard let session = tape.clients.first?.first else { return }
        let talk = Conversation(session)
        let lines = talk.lines.indices.filter {
            [.request, .send].contains(talk.lines[$0].role) && talk.lines[$0].direction == .toServer
        }
        guard !lines.isEmpty else { return }
        let what: [ClientHabits.Mischief.What] = [
            .drop, .double, .alter, .late(2_000_000_000), .late(100_000_000_000), .swap, .afterNextPush,
        ]
        habits[0].attempts = 1
        habits[0].mischief = ClientHabits.Mischief(
            line: lines[random.below(lines.count)], what: what[random.below(what.count)])
        switch habits[0].mischief?.what {
        case .drop, .double, .alter: break
        case .late, .swap, .afterNextPush, .extra, nil: options.grace = 500_000_000
        }
    }

    private mutating func drawSilence(_ random: inout SplitMix64) {
        for _ in 0...random.below(2) {
            let n = 1 + random.below(8)
            let time = ["50ms", "3s", "20s"][random.below(3)]
            let text =
                switch random.below(4) {
                case 0: "delay(\(time)) on negotiate[\(1 + random.below(2))]"
                case 1: "delay(\(time)) on upgrade[\(1 + random.below(2))]"
                case 2: "stall(both, \(time)) after message[direction=toClient, \(n)]"
                default: "stall(both) after message[direction=toClient, \(n)] max=1"
                }
            guard let rule = try? FaultRule(parsing: text, from: RuleSource(file: "--fault")) else { continue }
            faults.append(rule)
        }
        for i in faults.rules.indices { faults.rules[i].optional = true }
    }

    private mutating func drawFaults(_ random: inout SplitMix64) {
        for _ in 0...random.below(2) {
            let n = 1 + random.below(8)
            let action = ["reset", "disconnect", "close(1011)"][random.below(3)]
            let place = ["after", "before", "on"][random.below(3)]
            let pause = place == "after" ? ["", " + 30ms", " + 5s"][random.below(3)] : ""
            let text: String
            switch random.below(4) {
            case 0: text = "respond(503) on connect[retry=1..\(1 + random.below(2))]"
            case 1: text = "\(action) \(place) Tick[\(n)]\(pause)"
            default: text = "\(action) \(place) message[direction=toClient, \(n)]\(pause)"
            }
            guard let rule = try? FaultRule(parsing: text, from: RuleSource(file: "--fault")) else { continue }
            faults.append(rule)
        }
        for i in faults.rules.indices { faults.rules[i].optional = true }
    }

    /// The sessions that each client plays.
    package var parts: [[RecordedSession]] {
        habits.indices.map { tape.clients[$0 % tape.clients.count] }
    }

    /// The same over WebSockets.
    package var overWebSockets: EngineScenario {
        var other = self
        for k in other.habits.indices { other.habits[k].transport = .ws }
        return other
    }

    /// The same without latencies.
    package var calm: EngineScenario {
        var other = self
        other.weather = EngineStage.Weather()
        return other
    }

    /// The same with an engine that compares nothing of what the client says.
    package var uncompared: EngineScenario {
        var other = self
        other.options.match = .off
        return other
    }

    /// The same with an engine in which nothing waits for other connections.
    package var heedless: EngineScenario {
        var other = self
        other.options.causality = .session
        return other
    }

    /// The same conversation without thinking, gaps and weather, said in recorded order: whatever is compared with it must
    /// have the same digest.
    package var plain: EngineScenario {
        var plain = self
        plain.options.speed = .instant
        plain.weather = EngineStage.Weather()
        for k in plain.habits.indices {
            plain.habits[k].order = .recorded
            plain.habits[k].think = 0...0
            plain.habits[k].joins = false
            plain.habits[k].mischief = nil
        }
        return plain
    }
}
