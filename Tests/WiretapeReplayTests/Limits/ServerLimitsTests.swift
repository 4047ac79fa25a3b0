import Testing
import WiretapeAttempts
import WiretapeBytes
import WiretapeCodecs
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// The patience of the server that replay plays: just before a limit the client is kept, at the limit it is not.
@Suite struct ServerLimitsTests {
    private static let ping = #"{"type":6}"#
    private static let closed = #"{"type":7,"error":"Connection closed with an error.","allowReconnect":true}"#
    /// A push, and one a long time later.
    private static let quiet = TestTape.session(
        TestTape.handshake + """
            10 < {"type":1,"target":"Tick","arguments":[1]}
            200000 < {"type":1,"target":"Tick","arguments":[2]}
            """)

    private func tick(_ n: Int) -> String { #"{"type":1,"target":"Tick","arguments":[\#(n)]}"# }

    /// What the client got but for keepalives.
    private func got(_ play: Playbook, _ c: ConnectionID) -> [String] { play.take(c).filter { $0 != Self.ping } }

    // MARK: SignalR

    @Test func aClientThatStopsPingingIsLeft() throws {
        let play = try Playbook([Self.quiet])
        let c = try play.start()
        play.pass(ms: 999)
        play.send(c, Self.ping)
        play.pass(ms: 29_999)
        #expect(got(play, c) == [tick(1)])
        play.pass(ms: 1)
        #expect(got(play, c) == [Self.closed, "close 1000"])
        #expect(play.logs.contains { $0.contains("client timeout 30s") })
        // It may come back to its session, as after any lost connection.
        let d = try play.start()
        play.pass(ms: 200_000)
        #expect(got(play, d) == [tick(2)])
        let report = play.finish()
        #expect(report.exitCode == 0, "\(report.reasons)")
        let ended = try #require(report.sessions.first?.attempts.first?.ended)
        #expect(ended.by == .server && ended.how == .close(1000) && ended.reason == "client timeout 30s")
        #expect(ended.time == 31_000_000_000)
        #expect(report.text.contains("by server: close 1000 (client timeout 30s)"))
        #expect(report.json.text.contains(#""reason":"client timeout 30s""#))
    }

    /// Pings, other messages and WebSocket pings keep it; a client that never pings is not known to do so at all.
    @Test func signsOfLife() throws {
        for sign in ["ping", "message", "frame", "never"] {
            let play = try Playbook([Self.quiet]) { $0.onDivergence = .ignore }
            let c = try play.start()
            if sign != "never" { play.send(c, Self.ping) }
            for _ in 1...6 {
                play.pass(ms: 29_000)
                switch sign {
                case "ping": play.send(c, Self.ping)
                case "message": play.send(c, #"{"type":1,"target":"Note","arguments":[]}"#)
                case "frame": play.act { engine, now, _ in engine.controlFrame(c, isPing: true, at: now) }
                default: break
                }
            }
            #expect(got(play, c) == [tick(1)], "\(sign)")
        }
    }

    /// The server reads nothing while it answers a call; a stream does not keep it from that.
    @Test func aCallThatIsBeingAnswered() throws {
        let call = TestTape.session(
            TestTape.handshake + """
                10 > {"type":1,"invocationId":"1","target":"Slow","arguments":[]}
                100010 < {"type":3,"invocationId":"1","result":1}
                """)
        let play = try Playbook([call])
        let c = try play.start()
        play.send(c, Self.ping)
        play.send(c, #"{"type":1,"invocationId":"7","target":"Slow","arguments":[]}"#)
        play.pass(ms: 100_000)
        #expect(got(play, c) == [#"{"type":3,"invocationId":"7","result":1}"#])
        play.pass(ms: 29_999)
        #expect(got(play, c).isEmpty)
        play.pass(ms: 1)
        #expect(got(play, c) == [Self.closed, "close 1000"])

        let stream = TestTape.session(
            TestTape.handshake + """
                10 > {"type":4,"invocationId":"1","target":"Count","arguments":[]}
                11 < {"type":2,"invocationId":"1","item":1}
                100010 < {"type":3,"invocationId":"1"}
                """)
        let other = try Playbook([stream])
        let d = try other.start()
        other.send(d, Self.ping)
        other.send(d, #"{"type":4,"invocationId":"7","target":"Count","arguments":[]}"#)
        other.pass(ms: 30_000)
        #expect(got(other, d).last == "close 1000")
    }

    @Test func aHandshakeThatDoesNotCome() throws {
        let play = try Playbook([Self.quiet])
        let token = try #require(play.negotiate())
        let c = play.upgrade(token)
        play.pass(ms: 14_999)
        play.expect(c, "101")
        play.pass(ms: 1)
        play.expect(c, #"{"error":"Handshake was canceled."}"#, "close 1000")
        let ended = play.finish().sessions.first?.attempts.first?.ended
        #expect(ended?.by == .server && ended?.reason == "handshake timeout 15s")
    }

    @Test func messagesThatAreTooLong() throws {
        for (length, isKept) in [(32_767, true), (32_768, false)] {
            let empty = #"{"type":1,"target":"Say","arguments":[""]}"#
            let said = empty.replacing(#""""#, with: "\"\(String(repeating: "x", count: length - empty.utf8.count))\"")
            // With its record separator the message has one byte more.
            let tape = TestTape.session(
                TestTape.handshake + #"5 > {"type":1,"target":"Other","arguments":[]}"# + "\n"
                    + #"10 < {"type":1,"target":"Tick","arguments":[1]}"#)
            let play = try Playbook([tape]) { $0.onDivergence = .ignore }
            let c = try play.start()
            play.send(c, said)
            #expect(got(play, c) == (isKept ? [] : [Self.closed, "close 1000"]), "\(length)")
        }
        // One that is too long to be a handshake.
        let play = try Playbook([Self.quiet])
        let c = play.upgrade(play.negotiate())
        play.send(c, #"{"protocol":"json","version":1,"x":"\#(String(repeating: "y", count: 40_000))"}"#)
        play.expect(c, "101", #"{"error":"Handshake was canceled."}"#, "close 1000")
    }

    @Test func overEventStreamsAndPolls() throws {
        let play = try Playbook([Self.quiet, Self.quiet])
        let (token, stream) = try play.startStream()
        #expect(play.post(token, Self.ping) == ["200 "])
        play.pass(ms: 30_000)
        #expect(play.take(stream).suffix(2) == [Playbook.event(Self.closed), "end"])

        let polls = try Playbook([Self.quiet])
        let (id, poll) = try polls.startPolling()
        #expect(polls.post(id, Self.ping) == ["200 "])
        polls.pass(ms: 100)
        #expect(polls.take(poll) == [Playbook.body(tick(1))])
        polls.poll(id, on: poll)
        polls.pass(ms: 30_000)
        #expect(polls.take(poll) == [Playbook.body(Self.closed)])
        polls.poll(id, on: poll)
        #expect(polls.take(poll) == ["204 "])
    }

    // MARK: Not stricter than the recorded server

    @Test func theTapeRaisesLimits() throws {
        var tape = Self.quiet
        // The client of the tape shook hands after 20 s, said 50,000 bytes at once, pinged, and was quiet for 40 s.
        let long = #"{"type":1,"target":"A","arguments":["\#(String(repeating: "x", count: 50_000))"]}"#
        tape.habits.conduct = conduct(
            "/chat",
            [
                (20, .toServer, TestTape.bytes(#"{"protocol":"json","version":1}"#)),
                (20, .toServer, TestTape.bytes(long)),
                (20, .toServer, TestTape.bytes(Self.ping)), (60, .toClient, TestTape.bytes(Self.ping)),
            ])
        let play = try Playbook([tape]) { $0.onDivergence = .ignore }
        let late = play.upgrade(play.negotiate())
        play.pass(ms: 24_999)
        play.expect(late, "101")
        play.send(late, #"{"protocol":"json","version":1}"#)
        play.send(late, #"{"type":1,"target":"Say","arguments":["\#(String(repeating: "x", count: 49_900))"]}"#)
        play.send(late, Self.ping)
        play.pass(ms: 49_999)
        #expect(got(play, late) == ["{}", tick(1)])
        play.pass(ms: 1)
        #expect(got(play, late) == [Self.closed, "close 1000"])
    }

    // MARK: Options

    @Test func offAndNumbers() throws {
        let off = try Playbook([Self.quiet]) { $0.serverLimits = .off }
        let token = try #require(off.negotiate())
        let c = off.upgrade(token)
        off.pass(ms: 60_000)
        off.send(c, #"{"protocol":"json","version":1}"#)
        off.send(c, Self.ping)
        off.pass(ms: 100_000)
        #expect(!got(off, c).contains("close 1000"))

        let numbers = try ServerLimitsOption(parsing: "silence=5s, handshake=2s, message=1KiB")
        let play = try Playbook([Self.quiet]) { $0.serverLimits = numbers }
        let slow = play.upgrade(play.negotiate())
        play.pass(ms: 1_999)
        play.expect(slow, "101")
        play.pass(ms: 1)
        #expect(play.take(slow).last == "close 1000")
        let d = try play.start()
        play.send(d, Self.ping)
        play.pass(ms: 4_999)
        #expect(got(play, d) == [tick(1)])
        play.pass(ms: 1)
        #expect(got(play, d).last == "close 1000")
        #expect(play.finish().sessions.first?.attempts.last?.ended?.reason == "client timeout 5s")
    }

    @Test(arguments: [
        ("silnce=5s", "did you mean 'silence'"), ("silence", "is no limit"), ("silence=0s", "duration above 0"),
        ("message=-1", "size above 0"), ("message=99999999999999MiB", "size above 0"), ("of", "did you mean 'off'"),
        ("silence=1s,silence=2s", "twice"), ("", "use protocol, off"),
    ])
    func whatIsNoLimit(_ text: String, _ wanted: String) {
        do throws(OptionError) {
            _ = try ServerLimitsOption(parsing: text)
            Issue.record("'\(text)' was taken")
        } catch {
            #expect(error.message.contains(wanted), "\(error.message)")
        }
    }

    // MARK: Whose silence it is

    /// While a rule keeps the client from being heard nothing is charged to it, and afterwards its time begins anew.
    @Test func aStallIsNotTheClients() throws {
        let play = try Playbook([Self.quiet], faults: ["stall(both, 60s) after Tick[1]"])
        let c = try play.start()
        play.send(c, Self.ping)
        play.pass(ms: 60_100)
        #expect(got(play, c).filter { !$0.hasPrefix("stall") } == [tick(1)])
        play.pass(ms: 29_800)
        #expect(got(play, c).isEmpty)
        play.pass(ms: 200)
        #expect(got(play, c) == [Self.closed, "close 1000"])
    }

    @Test func nobodyIsHurriedWhileSomebodySteps() throws {
        let play = try Playbook([Self.quiet], speed: .step)
        let c = play.upgrade(play.negotiate())
        play.pass(ms: 60_000)
        play.send(c, #"{"protocol":"json","version":1}"#)
        play.send(c, Self.ping)
        play.pass(ms: 60_000)
        #expect(got(play, c) == ["101", "{}"])
    }

    @Test func aClosedClientIsJudgedByPolicies() throws {
        let policy = try Expectation.parse("delays(0s)")
        for (wait, isMet) in [(UInt64(0), true), (5_000, false)] {
            let play = try Playbook([Self.quiet]) { $0.expectations = [policy] }
            let c = try play.start()
            play.send(c, Self.ping)
            play.pass(ms: 30_000 + wait)
            #expect(got(play, c).last == "close 1000")
            let d = try play.start()
            play.close(d, .closeFrame(code: 1000, reason: ""))
            #expect(play.finish().expectations.map(\.met) == [isMet])
        }
    }
}
