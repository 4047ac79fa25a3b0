import Testing
import WiretapeFaults
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// What fires, as a function of seed, plan and moment alone.
@Suite struct FaultEngineTests {
    private func plan(_ rules: String...) throws -> FaultPlan {
        var plan = FaultPlan()
        for rule in rules { plan.append(try FaultRule(parsing: rule, from: RuleSource(file: "--fault"))) }
        return plan
    }

    private func tick(_ direction: Direction = .toClient, content: JSONValue = .null) -> Message {
        Message(
            direction: direction, role: .push, type: "Invocation", label: "Tick", content: content, summary: "",
            bytes: Array(content.text.utf8))
    }

    /// The ordinals that fire for `rule` among `count` ticks.
    private func firings(
        _ engine: inout FaultEngine, _ count: Int, session: Int = 1, named: String? = nil
    ) -> [Int] {
        (1...count).filter { n in
            engine.message(tick(), ordinal: n, FaultMoment(session: session)).contains {
                named == nil || $0.name == named
            }
        }
    }

    @Test func zeroNeverAndOneAlways() throws {
        var engine = FaultEngine(try plan("drop on Tick p=0", "duplicate on Tick p=1"), seed: 5)
        var never = 0
        var always = 0
        let message = tick()
        for n in 1...40_000 {
            for hit in engine.message(message, ordinal: n, FaultMoment(session: 1)) {
                if hit.rule == 0 { never += 1 } else { always += 1 }
            }
        }
        #expect(never == 0 && always == 40_000)
    }

    @Test func drawsDependOnNothingElse() throws {
        var alone = FaultEngine(try plan("drop on Tick p=0.3"), seed: 5)
        let wanted = firings(&alone, 400)
        #expect(wanted.count > 60 && wanted.count < 180)
        var crowded = FaultEngine(
            try plan("delay(1ms) on Tick p=0.5", "drop on Tick p=0.3", "duplicate on Tick p=0.9"), seed: 5)
        var other = 0
        var got: [Int] = []
        for n in 1...400 {
            // Another session in between.
            other += engine(&crowded, n, session: 2).count
            if engine(&crowded, n, session: 1).contains(where: { $0.name == "drop on Tick p=0.3" }) { got.append(n) }
        }
        #expect(got == wanted && other > 0)
        var second = FaultEngine(try plan("drop on Tick p=0.3"), seed: 6)
        #expect(firings(&second, 400) != wanted)
        var session = FaultEngine(try plan("drop on Tick p=0.3"), seed: 5)
        #expect(firings(&session, 400, session: 2) != wanted)
    }

    private func engine(_ engine: inout FaultEngine, _ n: Int, session: Int) -> [FaultHit] {
        engine.message(tick(), ordinal: n, FaultMoment(session: session))
    }

    @Test func rulesComposeUntilTheFirstThatEnds() throws {
        var engine = FaultEngine(
            try plan("delay(5ms) on Tick", "duplicate(2) on Tick[2]", "reset after Tick[3]", "drop on Tick"), seed: 1)
        var fates: [MessageFate] = []
        for n in 1...4 {
            if let fate = MessageFate(engine.message(tick(), ordinal: n, FaultMoment(session: 1))) {
                fates.append(fate)
            }
        }
        #expect(fates.map(\.delay) == Array(repeating: 5_000_000, count: 4))
        #expect(fates.map(\.copies) == [0, 2, 0, 0])
        #expect(fates.map(\.isDropped) == [true, true, false, true])
        #expect(fates.map { $0.end?.verdict } == [nil, nil, .reset, nil])
    }

    @Test func countersPerSessionConnectionAndRun() throws {
        let rules = try plan(
            "drop on Tick[2]", "drop on \"Tick\"[2, per=connection]", "drop on Invocation[2, per=run]")
        var engine = FaultEngine(rules, seed: 1)
        var seen: [[Int]] = []
        for (session, connection) in [(1, 1), (1, 2), (1, 2), (2, 1), (2, 1)] {
            let hits = engine.message(
                tick(), ordinal: 1, FaultMoment(session: session, connection: connection))
            seen.append(hits.map(\.rule))
        }
        #expect(seen == [[], [0, 2], [1], [], [0, 1]])
        engine.forget(session: 2, run: 1)
        _ = engine.message(tick(), ordinal: 1, FaultMoment(session: 2))
        #expect(engine.message(tick(), ordinal: 2, FaultMoment(session: 2)).map(\.rule) == [0, 1])
    }

    @Test func maxRetryAttemptSessionAndSince() throws {
        var engine = FaultEngine(
            try plan("reset on connect[retry=1..2] max=1", "reset after Tick since connect=5s in session=2"), seed: 1)
        let head = RequestHead(method: "POST", target: "/chat/negotiate", headers: [])
        var hits: [Int] = []
        for retry in 0...3 {
            var moment = FaultMoment(session: 1, attempt: retry + 1, retry: retry)
            moment.context.opensAttempt = true
            hits.append(engine.request(head, .negotiate, ordinal: retry + 1, moment).count)
        }
        #expect(hits == [0, 1, 0, 0])
        func at(_ seconds: UInt64?, session: Int) -> Int {
            let moment = FaultMoment(session: session, sinceConnect: seconds.map { $0 * 1_000_000_000 })
            return engine.message(tick(), ordinal: 1, moment).count
        }
        #expect([at(4, session: 2), at(5, session: 2), at(9, session: 1), at(nil, session: 2)] == [0, 1, 0, 0])
    }

    @Test func aTokenIsStaleWhenTheLastAttemptHadIt() throws {
        var engine = FaultEngine(try plan("respond(401) on request[token=stale]"), seed: 1)
        func ask(_ attempt: Int, _ token: String?) -> Int {
            let head = RequestHead(
                method: "GET", target: "/chat",
                headers: token.map { [HeaderField("Authorization", "Bearer \($0)")] } ?? [])
            return engine.request(head, .upgrade, ordinal: attempt, FaultMoment(session: 1, attempt: attempt)).count
        }
        #expect(
            [ask(1, "a"), ask(1, "a"), ask(2, "a"), ask(2, "b"), ask(3, "b"), ask(4, nil), ask(4, "c")] == [
                0, 0, 1, 0, 1, 0, 0,
            ])
    }

    @Test func conditionsOnContent() throws {
        let content = try JSONValue(parsing: #"{"channel":"room","item":{"id":7},"text":"hello"}"#)
        for (rule, wanted) in [
            ("drop on message[/item/id=7.0]", 1), ("drop on message[/item/id=8]", 0),
            ("drop on message[channel=room]", 1),
            ("drop on message[event=room]", 0), ("drop on message[regex=\"he(l+)o\"]", 1),
            ("drop on message[size=<10]", 0),
            ("drop on message[size=10..100]", 1), ("drop on message[transport=ws|lp]", 1),
            ("drop on message[protocol=raw]", 0), ("drop on message[direction=toServer]", 0), ("drop on subscribe", 1),
        ] {
            var engine = FaultEngine(try plan(rule), seed: 1)
            var moment = FaultMoment(session: 1)
            moment.context = SelectorContext(protocolID: "signalr", transport: .lp)
            moment.context.subscribes = true
            #expect(engine.message(tick(content: content), ordinal: 1, moment).count == wanted, "\(rule)")
        }
    }

    @Test func listenersEndsAndMoments() throws {
        var engine = FaultEngine(
            try plan(
                "refuse on accept[2..3, listener=a]", "outage(1s) after close[by=server, code=1001]",
                "stall since handshake=2s"), seed: 1)
        let accepted = (1...4).map { engine.accept(.accept, listener: "a", ordinal: $0, sinceRun: 0).count }
        #expect(accepted == [0, 1, 1, 0])
        #expect(engine.accept(.accept, listener: "b", ordinal: 2, sinceRun: 0).isEmpty)
        #expect(engine.accept(.tls, listener: "a", ordinal: 2, sinceRun: 0).isEmpty)
        let moment = FaultMoment(session: 1)
        #expect(engine.close(by: .toClient, code: 1001, moment).count == 1)
        #expect(engine.close(by: .toServer, code: 1001, moment).isEmpty)
        #expect(engine.times == [RuleFilters.Since(.handshake, 2_000_000_000)])
        var then = moment
        then.sinceHandshake = 2_000_000_000
        #expect(engine.time(engine.times[0], then).count == 1)
    }

    @Test func delaysAreWithinTheirBounds() throws {
        func drawn(_ text: String) throws -> [UInt64] {
            var engine = FaultEngine(try plan("\(text) on Tick"), seed: 3)
            return (1...2_000).compactMap {
                MessageFate(engine.message(tick(), ordinal: $0, FaultMoment(session: 1)))?.delay
            }
        }
        let uniform = try drawn("delay(20ms..200ms)")
        #expect(uniform.allSatisfy { (20_000_000...200_000_000).contains($0) })
        #expect(abs(Double(uniform.reduce(0, +)) / 2_000 - 110e6) < 5e6)
        let normal = try drawn("delay(normal, 100ms, 20ms)")
        let mean = Double(normal.reduce(0, +)) / 2_000
        let deviation = (normal.map { (Double($0) - mean) * (Double($0) - mean) }.reduce(0, +) / 2_000).squareRoot()
        #expect(abs(mean - 100e6) < 2e6 && abs(deviation - 20e6) < 2e6)
        let pareto = try drawn("delay(pareto, 10ms, 2)").sorted()
        // The median of a Pareto distribution of shape 2 is its minimum times the root of 2.
        #expect(pareto[0] >= 10_000_000 && abs(Double(pareto[1_000]) - 14.14e6) < 1e6)
    }
}
