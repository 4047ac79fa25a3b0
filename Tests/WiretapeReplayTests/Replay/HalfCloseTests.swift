import Testing
import WiretapeAttempts
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// Clients whose FIN comes before their answer: some have only shut down their sending side, others are gone.
@Suite struct HalfCloseTests {
    private static func exchange(_ method: String, _ target: String, after ms: UInt64) -> RecordedExchange {
        RecordedExchange(
            event: 1, line: 3, time: 1_000_000_000, answered: 1_000_000_000 + ms * 1_000_000, connection: 1,
            request: RequestHead(method: method, target: target, headers: [HeaderField("Host", "a.example")]),
            requestBody: [], response: ResponseHead(status: 200, headers: []), responseBody: Array("answer".utf8))
    }

    private static func streams(
        _ script: String = EventsTape.prices, speed: ReplayOptions.Speed = .factor(1), faults: [String] = [],
        expect policies: [String] = []
    ) throws -> Playbook {
        let expectations = try policies.map { try Expectation.parse($0) }
        return try Playbook(EventsTape.sessions(script), speed: speed, faults: faults) {
            $0.expectations = expectations
        }
    }

    private func events(_ play: Playbook, _ c: ConnectionID) -> [String] {
        play.take(c).filter { $0.hasPrefix("id") || $0 == "end" || $0 == "FIN" || $0 == "RST" }
    }

    private static let gone = ClientEnd.rst("connection reset by peer")

    // MARK: Plain requests

    @Test func anAnswerComesAfterTheFIN() throws {
        let play = try Playbook([Self.exchange("GET", "/report", after: 600)])
        let c = play.request("GET", "/report")
        play.pass(ms: 100)
        play.close(c)
        play.expect(c)
        play.pass(ms: 600)
        play.expect(c, "200 answer")
        play.close(c)
        let report = play.finish()
        #expect(report.verdict == .pass && report.exchanges.played == 1 && report.exchanges.givenUp == [])
    }

    @Test(arguments: [true, false])
    func aClientThatLeftBeforeItsAnswerHasNotPlayed(isReset: Bool) throws {
        let play = try Playbook([Self.exchange("GET", "/report", after: 600)])
        play.kernelTakes = false
        let c = play.request("GET", "/report")
        play.pass(ms: 200)
        play.close(c)
        if isReset {
            play.pass(ms: 500)
            play.expect(c, "200 answer")
            play.close(c, Self.gone)
        }
        let report = play.finish()
        #expect(report.exchanges.played == 0 && report.exchanges.unplayed == [])
        #expect(report.exchanges.givenUp == ["GET /report (chat.tape:3), after 200 ms"])
        #expect(report.exitCode == 2)
        #expect(report.reasons[0].contains("its client left before the answer to GET /report (chat.tape:3)"))
        #expect(report.text.contains("left by its client before the answer: GET /report (chat.tape:3), after 200 ms"))
        #expect(report.json["exchanges"]?["given_up"]?.array?.count == 1)
    }

    @Test func aResetBeforeTheAnswerIsThatAsWell() throws {
        let play = try Playbook([Self.exchange("GET", "/report", after: 600), Self.exchange("GET", "/other", after: 0)])
        let c = play.request("GET", "/report")
        play.close(c, Self.gone)
        play.expect(play.request("GET", "/other"), "200 answer")
        let report = play.finish()
        #expect(report.exitCode == 0 && report.exchanges.played == 1 && report.exchanges.givenUp.count == 1)
    }

    /// An answer that nobody got is still there for the request that comes again.
    @Test func aRetryGetsTheAnswerThatWasGivenUp() throws {
        let play = try Playbook([Self.exchange("POST", "/order", after: 600)])
        let c = play.request("POST", "/order")
        play.pass(ms: 200)
        play.close(c, Self.gone)
        let d = play.request("POST", "/order")
        play.pass(ms: 600)
        play.expect(d, "200 answer")
        #expect(play.finish().exchanges.played == 1)
    }

    /// The kernel has taken the answer, and the client is gone all the same.
    @Test func anAnswerThatTheKernelKeepsIsNotDelivered() throws {
        let play = try Playbook([Self.exchange("GET", "/report", after: 0)])
        play.kernelTakes = false
        let c = play.request("GET", "/report")
        play.expect(c, "200 answer")
        play.close(c)
        play.close(c, Self.gone)
        #expect(play.finish().exchanges.played == 0)
    }

    // MARK: Streams

    @Test(arguments: [ReplayOptions.Speed.factor(1), .instant])
    func aStreamGoesOnToItsEnd(_ speed: ReplayOptions.Speed) throws {
        let play = try Self.streams(speed: speed)
        let c = play.events("/prices")
        play.close(c)
        play.pass(ms: 100)
        #expect(Array(events(play, c).prefix(6)) == (1...5).map { EventsTape.event($0) } + ["end"])
        play.close(c)
        let session = try #require(play.finish().sessions.first)
        #expect(session.finished && session.attempts.count == 1)
        #expect(session.attempts[0].ended?.by == .server)
    }

    @Test(arguments: [true, false])
    func aStreamThatNobodyReadsEndedWithTheFIN(isReset: Bool) throws {
        let play = try Self.streams(expect: ["finished"])
        let c = play.events("/prices")
        play.pass(ms: 12)
        play.kernelTakes = false
        play.peerAcknowledges = false
        play.close(c)
        play.pass(ms: 100)
        if isReset { play.close(c, Self.gone) }
        let report = play.finish()
        let session = try #require(report.sessions.first)
        #expect(!session.finished)
        #expect(session.attempts[0].ended?.by == .client && session.attempts[0].ended?.how == .fin)
        #expect(session.attempts[0].ended?.time == 12_000_000)
        #expect(report.expectations.map(\.word) == ["not met"])
    }

    /// Between the FIN and what shows whether the client is there, a report counts it as gone.
    @Test func theReportInBetween() throws {
        let play = try Self.streams()
        let c = play.events("/prices")
        play.pass(ms: 12)
        play.close(c)
        let early = play.engine.soFar(at: play.now)
        #expect(early.sessions[0].attempts[0].ended?.by == .client)
        play.pass(ms: 100)
        play.close(c)
        #expect(play.finish().sessions[0].attempts[0].ended?.by == .server)
    }

    /// Nothing more is due: the FIN is the end.
    @Test func aClientThatLeavesWhenAllIsSaid() throws {
        let play = try Self.streams(
            """
            0 1 GET /prices
            5 1 sse
            10 1 < id: 1\\nevent: price\\ndata: {"n":1}\\n\\n
            20 1 < id: 2\\nevent: price\\ndata: {"n":2}\\n\\n
            60 1 left
            """)
        let c = play.events("/prices")
        play.pass(ms: 15)
        play.close(c)
        play.pass(ms: 50)
        #expect(events(play, c) == [1, 2].map { EventsTape.event($0) } + ["FIN"])
        let session = try #require(play.finish().sessions.first)
        #expect(session.finished && session.attempts[0].ended?.time == 15_000_000)
    }

    /// A client that asks again has given up the stream on which its FIN came: what it did not get comes again.
    @Test func aClientThatComesBackHasGivenUp() throws {
        let play = try Self.streams()
        let c = play.events("/prices")
        play.pass(ms: 12)
        play.kernelTakes = false
        play.close(c)
        play.pass(ms: 10)
        let d = play.events("/prices", behind: "1")
        play.kernelTakes = true
        play.takeAll()
        play.pass(ms: 100)
        #expect(events(play, c).last == "FIN")
        #expect(events(play, d) == (2...5).map { EventsTape.event($0) } + ["end"])
        let report = play.finish()
        #expect(report.sessions.count == 1 && report.sessions[0].finished)
        #expect(report.sessions[0].attempts.map(\.delay) == [nil, 10_000_000])
    }

    @Test func aHalfClosedEventStreamOfAProtocol() throws {
        let tape = TestTape.session(
            TestTape.handshake + """
                100 < {"type":1,"target":"Tick","arguments":[1]}
                200 < {"type":1,"target":"Tick","arguments":[2]}
                """)
        let play = try Playbook([tape])
        let (_, c) = try play.startStream()
        play.close(c)
        play.pass(ms: 300)
        let ticks = (1...2).map { Playbook.event(#"{"type":1,"target":"Tick","arguments":[\#($0)]}"#) }
        #expect(play.take(c) == ticks + ["FIN"])
    }

    // MARK: Silence

    @Test func aRecordedEndDoesNotFallIntoASilence() throws {
        let play = try Self.streams(faults: ["stall(both, 60s) after price[2]"], expect: ["detects(within=2s)"])
        let c = play.events("/prices")
        play.pass(ms: 800)
        #expect(!play.take(c).contains("end"))
        play.close(c)
        let report = play.finish()
        #expect(report.expectations.map(\.word) == ["met"], "\(report.expectations.map(\.reason))")
        let session = try #require(report.sessions.first)
        #expect(!session.finished)
        #expect(session.attempts[0].ended?.by == .client && session.attempts[0].ended?.time == 800_000_000)
    }

    @Test func aClientThatNeverGivesUpIsJudged() throws {
        let play = try Self.streams(faults: ["stall(both, 60s) after price[2]"], expect: ["detects(within=2s)"])
        _ = play.events("/prices")
        play.pass(ms: 5_000)
        let report = play.finish()
        #expect(report.expectations.map(\.word) == ["not met"])
        #expect(!report.sessions[0].finished)
    }

    /// What fell due leaves when the silence is over, and the end behind it.
    @Test(arguments: ["stall(both, 200ms)", "stall(out, 200ms)"])
    func whatFellDueComesAfterwards(_ stall: String) throws {
        let play = try Self.streams(faults: ["\(stall) after price[2]"])
        let c = play.events("/prices")
        play.pass(ms: 150)
        #expect(events(play, c) == [1, 2].map { EventsTape.event($0) })
        play.pass(ms: 150)
        #expect(events(play, c) == (3...5).map { EventsTape.event($0) } + ["end"])
        #expect(play.finish().sessions[0].finished)
    }

    /// The FIN comes in a silence that has an end: whoever still reads gets the rest then.
    @Test func aFINInASilenceThatEnds() throws {
        let play = try Self.streams(faults: ["stall(out, 200ms) after price[2]"])
        let c = play.events("/prices")
        play.pass(ms: 100)
        play.close(c)
        play.pass(ms: 200)
        #expect(events(play, c) == (1...5).map { EventsTape.event($0) } + ["end"])
        play.close(c)
        #expect(play.finish().sessions[0].finished)
    }

    @Test func aRecordedCloseFrameDoesNotFallIntoASilence() throws {
        let tape = TestTape.session(
            TestTape.handshake + """
                100 < {"type":1,"target":"Tick","arguments":[1]}
                200 < {"type":1,"target":"Tick","arguments":[2]}
                300 < {"type":7}
                301 < close 1000
                """)
        let policy = try Expectation.parse("detects(within=2s)")
        let play = try Playbook([tape], faults: ["stall(both, 60s) after Tick[1]"]) { $0.expectations = [policy] }
        let c = try play.start()
        play.pass(ms: 900)
        #expect(!play.take(c).contains { $0.hasPrefix("close") })
        play.close(c, Self.gone)
        let report = play.finish()
        #expect(report.expectations.map(\.word) == ["met"], "\(report.expectations.map(\.reason))")
        #expect(report.sessions[0].attempts[0].ended?.by == .client)
    }
}
