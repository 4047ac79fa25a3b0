import Testing
import WiretapeAttempts
import WiretapeBytes
import WiretapeCodecs
import WiretapeFaults
import WiretapeIntercept
import WiretapeReplay
import WiretapeReport
import WiretapeRuntime
import WiretapeWire

/// `--expect 'pings(every=15s)'`: how long a client is quiet on its connections, in replay and on live traffic.
@Suite struct PingsPolicyTests {
    private static let ping = #"{"type":6}"#
    private static let quiet = TestTape.session(
        TestTape.handshake + #"10 < {"type":1,"target":"Tick","arguments":[1]}"# + "\n"
            + #"200000 < {"type":1,"target":"Tick","arguments":[2]}"#)

    private func play(faults: [String] = [], _ policy: String = "pings(every=15s)") throws -> Playbook {
        let policy = try Expectation.parse(policy)
        return try Playbook([Self.quiet], faults: faults) {
            $0.expectations = [policy]
            $0.onDivergence = .ignore
        }
    }

    @Test func aClientThatPings() throws {
        let play = try play()
        let c = try play.start()
        for _ in 1...4 {
            play.pass(ms: 15_200)
            play.send(c, Self.ping)
        }
        play.close(c, .closeFrame(code: 1000, reason: ""))
        let verdict = try #require(play.finish().expectations.first)
        #expect(verdict.met && verdict.actual.contains("15200 ms"), "\(verdict)")
    }

    /// Nobody is silent longer than 15 s and a quarter; the reason says where.
    @Test(arguments: [(18_700, true), (18_800, false)]) func theTolerance(_ wait: UInt64, _ isMet: Bool) throws {
        let play = try play()
        let c = try play.start()
        play.pass(ms: wait)
        play.send(c, Self.ping)
        play.pass(ms: 16_000)
        play.send(c, Self.ping)
        play.pass(ms: 20_000 - wait / 10)
        play.send(c, Self.ping)
        let verdict = try #require(play.finish().expectations.first)
        #expect(verdict.met == isMet, "\(verdict)")
        if !isMet {
            #expect(
                verdict.reason.contains("attempt 1 of session 1 was silent for 18800 ms, from 1 ms on"),
                "\(verdict.reason)")
        }
    }

    /// A client that speaks all the time owes no ping: it cannot be told whether it would.
    @Test func aClientThatAlwaysSpeaks() throws {
        let play = try play()
        let c = try play.start()
        for _ in 1...10 {
            play.pass(ms: 10_000)
            play.send(c, #"{"type":1,"target":"Note","arguments":[]}"#)
        }
        let report = play.finish()
        #expect(report.expectations.map(\.met) == [false] && report.exitCode == 5)
        #expect(report.expectations[0].reason.contains("could not be judged"), "\(report.expectations[0].reason)")
    }

    @Test func aConnectionThatWasTooShort() throws {
        let play = try play()
        let c = try play.start()
        play.pass(ms: 14_000)
        play.close(c)
        #expect(play.finish().expectations[0].reason.contains("could not be judged"))
    }

    /// Pings and pongs of the WebSocket count, and so does the next connection by itself.
    @Test func framesAndFurtherConnections() throws {
        let play = try play()
        let c = try play.start()
        for _ in 1...3 {
            play.pass(ms: 14_000)
            play.act { engine, now, _ in engine.controlFrame(c, isPing: false, at: now) }
        }
        play.close(c)
        play.pass(ms: 60_000)
        let d = try play.start()
        play.pass(ms: 30_000)
        play.close(d)
        let verdict = try #require(play.finish().expectations.first)
        #expect(!verdict.met && verdict.reason.contains("attempt 2 of session 1 was silent for 30000 ms"))
    }

    /// What a rule keeps from the server, or the server from the client, is not charged to it.
    @Test(arguments: ["stall(both, 60s) after Tick[1]", "mute(all, 60s) after Tick[1]"])
    func rulesThatSilence(_ rule: String) throws {
        let play = try play(faults: [rule])
        let c = try play.start()
        play.pass(ms: 62_000)
        play.send(c, Self.ping)
        play.pass(ms: 16_000)
        play.send(c, Self.ping)
        play.pass(ms: 16_000)
        play.send(c, Self.ping)
        #expect(play.finish().expectations.map(\.met) == [true])
    }

    /// Polls are what keeps a client that polls.
    @Test func longPollingIsNotJudged() throws {
        let play = try play()
        let (token, poll) = try play.startPolling()
        play.pass(ms: 80_000)
        _ = (token, play.take(poll))
        #expect(play.finish().expectations[0].reason.contains("could not be judged"))
    }

    // MARK: Live

    /// - Parameter pings: seconds of the run.
    private func live(_ pings: [UInt64], until end: UInt64, frames: Bool = false) throws -> Judgement {
        let start = WireInstant(nanoseconds: 5_000_000_000)
        func at(_ seconds: UInt64) -> WireInstant { start.advanced(by: seconds * 1_000_000_000) }
        let faults = LiveFaults(FaultPlan(), seed: 1, codecs: Codecs.all, observes: true, at: start)
        _ = faults.accepted(1, from: Address(host: "10.0.0.1", port: 5_000), listener: "main", at: start)
        let head = RequestHead(
            method: "GET", target: "/chat",
            headers: [HeaderField("Connection", "Upgrade"), HeaderField("Upgrade", "websocket")])
        let upgrade = faults.request(head, on: 1, at: start)
        faults.answered(upgrade, ResponseHead(status: 101), at: start)
        func say(_ text: String, _ direction: Direction, _ time: UInt64) {
            _ = faults.payload(Array((text + "\u{1e}").utf8), .text, direction, of: upgrade, on: .ws, at: at(time))
        }
        say(#"{"protocol":"json","version":1}"#, .toServer, 0)
        say("{}", .toClient, 0)
        for ping in pings {
            if frames { faults.control(of: upgrade, at: at(ping)) } else { say(Self.ping, .toServer, ping) }
        }
        let report = faults.report([try Expectation.parse("pings(every=15s)")], at: at(end))
        return try #require(report.expectations.first)
    }

    @Test(arguments: [false, true]) func liveTraffic(_ frames: Bool) throws {
        #expect(try live([15, 30, 45], until: 60, frames: frames).met)
        let silent = try live([15], until: 60, frames: frames)
        #expect(
            !silent.met && silent.reason.contains("attempt 1 of session 1 was silent for 45000 ms, from 15000 ms on"))
        #expect(try live([], until: 10).reason.contains("could not be judged"))
    }
}
