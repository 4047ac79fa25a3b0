import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

@Suite struct TextTests {
    @Test(
        arguments: [
            ("0", 0), ("0s", 0), ("250ms", 250_000_000), ("2s", 2_000_000_000), ("1.5s", 1_500_000_000),
            ("1m", 60_000_000_000), ("2h", 7_200_000_000_000), ("10us", 10_000), ("3ns", 3), ("0.5ms", 500_000),
        ] as [(String, UInt64)])
    func durationsAreRead(_ text: String, _ nanoseconds: UInt64) {
        #expect(DurationText.parse(text) == nanoseconds)
        #expect(DurationText.parse(DurationText.describe(nanoseconds)) == nanoseconds)
    }

    @Test(arguments: [
        "", "s", "2", "-1s", "1 s", "1.s", ".5s", "1e3s", "2sec", "999999999999h", "1s2", "٣s", "nan", "1..2s",
    ])
    func otherTextsAreNoDurations(_ text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test func durationsAreWritten() {
        for (nanoseconds, text) in [
            (0, "0s"), (20_000_000, "20ms"), (1_500_000_000, "1.5s"), (120_000_000_000, "2m"), (1, "1ns"),
            (90_000_000_000, "90s"), (3_600_000_000_000, "1h"), (2_000_125_000, "2.000125s"),
        ] as [(UInt64, String)] {
            #expect(DurationText.describe(nanoseconds) == text)
        }
        #expect(DurationText.spoken(30_000_000_000) == "30 s")
        #expect(DurationText.milliseconds(812_345_678) == "812.345")
        #expect(DurationText.milliseconds(2_000_000_000) == "2000")
    }

    @Test func theNearestNameIsWhatWasMeant() {
        let names = ["reset", "respond", "ReceiveMessage", "connect"]
        #expect(NearestName.find("rest", among: names) == "reset")
        #expect(NearestName.find("RecieveMessage", among: names) == "ReceiveMessage")
        #expect(NearestName.find("CONECT", among: names) == "connect")
        #expect(NearestName.find("banana", among: names) == nil)
        #expect(NearestName.find("", among: names) == nil)
        #expect(NearestName.find("x", among: []) == nil)
        #expect(NearestName.hint("rest", among: names) == "; did you mean 'reset'?")
    }

    @Test func optionsAreRead() throws {
        #expect(try ReplayOptions.Speed(parsing: "10") == .factor(10))
        #expect(try ReplayOptions.Speed(parsing: "instant") == .instant)
        #expect(try ReplayOptions.Keepalive(parsing: "2s") == .every(2_000_000_000))
        #expect(try ReplayOptions.Until(parsing: "idle:5s") == .idle(5_000_000_000))
        #expect(try ReplayOptions.Route(parsing: "/v2/hub=/hub") == ReplayOptions.Route(from: "/v2/hub", to: "/hub"))
        #expect(try IgnoreRule(parsing: "Send:/arguments/0/sentAt").pointer == "/arguments/0/sentAt")
        #expect(try ReplayOptions.OnReconnect(parsing: "lose:3") == .lose(3))
        #expect(try ReplayOptions.OnMiss(parsing: "204") == .status(204))
        #expect(try ReplayOptions.transports(parsing: "lp,ws,lp") == [.lp, .ws])
        #expect(try ReplayOptions.names(parsing: "alice, bob") == ["alice", "bob"])
        #expect(try IgnoreRule(parsing: "GET /api/list:?page").pointer == "?page")
        #expect(throws: OptionError("'relaxt' is not a value of --match; did you mean 'relaxed'?")) {
            try ReplayOptions.Match(parsing: "relaxt")
        }
        for text in ["0", "-1", "fast", "inf", "nan"] {
            #expect(throws: OptionError.self) { try ReplayOptions.Speed(parsing: text) }
        }
    }

    @Test func theReportReadsLikeATimeline() throws {
        let tape = TestTape.session(TestTape.handshake + #"10 < {"type":1,"target":"Tick","arguments":[]}"#)
        let play = try Playbook([tape], faults: ["respond(503) on connect[3]", "disconnect on Tick"]) {
            $0.onReconnect = .refuse
        }
        let c = try play.start()
        play.pass(ms: 10)
        play.expect(c, "FIN")
        play.pass(ms: 2_000)
        #expect(play.negotiate() == nil)
        let report = play.finish()
        #expect(
            report.text == """
                session 1 (signalr over ws), 1 client messages matched, finished
                  1  0.0 ms    first  connected  negotiate 200, upgrade 101  ended at 9.0 ms by fault:disconnect on Tick: fin
                  2  2.01 s  +2.00 s  status     negotiate 404               ended at 2.01 s by replay: 404
                  1 ╳
                  2 \(String(repeating: "·", count: 60))╳
                fault 'disconnect on Tick' fired after 9.0 ms, session 1, attempt 1 at Tick[1] (server message 2)
                wiretape: rule 'respond(503) on connect[3]' (--fault) never fired: its conditions were never met. Exit 5; 'optional: true' allows it.
                digest \(report.digest), seed 1

                """)
    }

    @Test func firingsWithoutEndAreCounted() throws {
        let ticks = (1...9).map { #"\#($0 * 10) < {"type":1,"target":"Tick","arguments":[\#($0)]}"# }
        let tape = TestTape.session(TestTape.handshake + ticks.joined(separator: "\n"))
        let play = try Playbook([tape], faults: ["delay(1ms) on Tick"])
        _ = try play.start()
        play.pass(ms: 1_000)
        let lines = play.finish().text.split(separator: "\n").filter { $0.hasPrefix("fault ") }
        #expect(lines.count == 6)
        #expect(lines.last?.hasPrefix("fault 'delay(1ms) on Tick' fired 4 more times, the last after ") == true)
    }
}
