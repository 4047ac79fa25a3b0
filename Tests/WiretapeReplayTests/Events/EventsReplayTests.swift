import Testing
import WiretapeAttempts
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// Streams of no known protocol, served as they came.
@Suite struct EventsReplayTests {
    private static func event(_ n: Int) -> String { EventsTape.event(n) }

    @Test func everyByteComesAtItsTime() throws {
        let play = try Playbook(EventsTape.sessions(EventsTape.prices))
        let c = play.events("/prices")
        play.expect(c, "200 …")
        let head = try #require(play.answers[c])
        #expect(head.headers.first("Content-Type") == "text/event-stream; charset=utf-8")
        #expect(head.headers.first("X-Own") == "1")
        play.pass(ms: 9)
        play.expect(c, "retry: 2000\n\n")
        play.pass(ms: 1)
        play.expect(c, Self.event(1))
        play.pass(ms: 14)
        play.expect(c, Self.event(2))
        play.pass(ms: 1)
        play.expect(c, ": ping\n\n")
        play.pass(ms: 34)
        play.expect(c, Self.event(3), Self.event(4), Self.event(5))
        play.pass(ms: 1)
        play.expect(c, "end")
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions.count == 1)
        #expect(report.sessions[0].finished && report.sessions[0].transports == [.sse])
    }

    @Test func instantKeepsTheOrder() throws {
        let play = try Playbook(EventsTape.sessions(EventsTape.prices), speed: .instant)
        let c = play.events("/prices")
        play.pass(ms: 1)
        play.expect(
            c, "200 …", "retry: 2000\n\n", Self.event(1), Self.event(2), ": ping\n\n", Self.event(3), Self.event(4),
            Self.event(5), "end")
    }

    /// Lines in any split, empty ones and a last one without its end are what they were.
    @Test func linesAreAsTheyWere() throws {
        let play = try Playbook(EventsTape.sessions(EventsTape.lines))
        let c = play.events("/log")
        play.pass(ms: 29)
        play.expect(c, "200 …", "{\"a\":1}\n", "{\"a\":2}\n")
        play.pass(ms: 10)
        play.expect(c, "{\"a\":3}\n", "\n")
        play.pass(ms: 11)
        play.expect(c, "{\"a\":4}", "end")
        #expect(play.answers[c]?.headers.first("Content-Type") == "application/x-ndjson")
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].transports == [.stream])
    }

    /// Pieces come as they arrived: not cut at lines, and one character in two of them.
    @Test func piecesComeAsTheyArrived() throws {
        let play = try Playbook(EventsTape.sessions(EventsTape.pieces))
        let c = play.events("/say")
        play.pass(ms: 9)
        play.expect(c, "200 …")
        let wanted = ["Once\n", "upon", " \u{fffd}", "\u{fffd}", "a\n{\"time\":1}"]
        play.pass(ms: 1)
        for piece in wanted {
            play.expect(c, piece)
            play.pass(ms: 10)
        }
        play.expect(c, "end")
        #expect(play.answers[c]?.headers.first("Content-Type") == "text/plain; charset=utf-8")
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].transports == [.stream])
        let quick = try Playbook(EventsTape.sessions(EventsTape.pieces), speed: .instant)
        let other = quick.events("/say")
        quick.pass(ms: 1)
        #expect(quick.take(other) == ["200 …"] + wanted + ["end"])
    }

    /// A type that no server told is not told at replay.
    @Test func whatHasNoTypeGetsNone() throws {
        let events = EventsTape.events(EventsTape.pieces).map { event -> TapeEvent in
            guard case .response(let x, var head, let body, let interim, let coding, let proxy) = event.kind else {
                return event
            }
            head.headers.removeAll { $0.name == "Content-Type" }
            var event = event
            event.kind = .response(x: x, head, body, interim: interim, coding: coding, proxy: proxy)
            return event
        }
        let play = try Playbook(CodedTape.read(CodedTape.lines(events)).sessions, speed: .instant)
        let c = play.events("/say")
        play.pass(ms: 1)
        #expect(play.take(c).count == 7)
        #expect(try #require(play.answers[c]).headers.first("Content-Type") == nil)
    }

    /// What other protocols would take for the name of a session is an item of the query.
    @Test(arguments: ["/say?id=5", "/say?token=a"]) func piecesMayLookLikeAPoll(_ target: String) throws {
        let script = EventsTape.pieces.replacing("/say", with: target)
        let play = try Playbook(EventsTape.sessions(script), speed: .instant)
        let c = play.events(target)
        play.pass(ms: 1)
        #expect(play.take(c).count == 7)
    }

    @Test(arguments: [("cut", "FIN"), ("reset", "RST")]) func piecesEndAsRecorded(_ end: String, _ wanted: String)
        throws
    {
        let play = try Playbook(
            EventsTape.sessions(EventsTape.pieces.replacing("60 1 end", with: "60 1 \(end)")), speed: .instant)
        let c = play.events("/say")
        play.pass(ms: 100)
        let got = play.take(c)
        #expect(got.count == 7 && got.last == wanted)
    }

    @Test(arguments: [("end", ["end"]), ("cut", ["FIN"]), ("reset", ["RST"]), ("left", [])])
    func endingsAreKept(_ ending: String, _ wanted: [String]) throws {
        let script = EventsTape.prices.replacing("60 1 end", with: "60 1 \(ending)")
        let play = try Playbook(EventsTape.sessions(script))
        let c = play.events("/prices")
        play.pass(ms: 59)
        #expect(play.take(c).last == Self.event(5))
        play.pass(ms: 60_000)
        #expect(play.take(c) == wanted)
    }

    // MARK: What a client has

    @Test func whoComesBackWithAnIDGetsWhatFollowsIt() throws {
        let play = try Playbook(EventsTape.sessions(EventsTape.prices), faults: ["reset after price[3]"])
        let c = play.events("/prices")
        play.pass(ms: 60)
        #expect(play.take(c).suffix(2) == [Self.event(3), "RST"])
        // It has lost the third one with its connection.
        let back = play.events("/prices", behind: "2")
        play.pass(ms: 200)
        play.expect(
            back, "200 …", ": ping\n\n", Self.event(3), Self.event(4), Self.event(5), "end")
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions.count == 1, "\(report.reasons)")
        #expect(report.sessions[0].attempts.count == 2)
    }

    @Test func withoutAnIDThePolicyDecides() throws {
        for (policy, wanted) in [
            (ReplayOptions.OnReconnect.resume, [4, 5]), (.restart, [1, 2, 3, 4, 5]), (.rewind(1), [3, 4, 5]),
            (.lose(1), [5]),
        ] {
            let play = try Playbook(EventsTape.sessions(EventsTape.prices), faults: ["reset after price[3] max=1"]) {
                $0.onReconnect = policy
            }
            _ = play.events("/prices")
            play.pass(ms: 60)
            let back = play.events("/prices")
            play.pass(ms: 300)
            #expect(play.take(back).filter { $0.hasPrefix("id") } == wanted.map(Self.event), "\(policy)")
        }
    }

    /// An id that the client has goes before what a policy takes away or gives again.
    @Test func anIDGoesBeforeThePolicy() throws {
        for policy in [ReplayOptions.OnReconnect.resume, .restart, .rewind(2), .lose(1), .live] {
            let play = try Playbook(EventsTape.sessions(EventsTape.prices), faults: ["reset after price[3] max=1"]) {
                $0.onReconnect = policy
            }
            _ = play.events("/prices")
            play.pass(ms: 60)
            let back = play.events("/prices", behind: "3")
            play.pass(ms: 300)
            #expect(play.take(back).filter { $0.hasPrefix("id") } == [4, 5].map(Self.event), "\(policy)")
        }
    }

    @Test(arguments: ["/prices?lastEventId=2", "/prices?token=abc&last_event_id=2"])
    func aFreshClientMayBeginBehindAnID(_ target: String) throws {
        let play = try Playbook(EventsTape.sessions(EventsTape.prices))
        let c = play.events(target)
        play.pass(ms: 9)
        play.expect(c, "200 …", ": ping\n\n")
        play.pass(ms: 1)
        play.expect(c, Self.event(3))
        play.pass(ms: 40)
        play.expect(c, Self.event(4), Self.event(5), "end")
        #expect(play.finish().verdict == .pass)
    }

    @Test func anIDThatTheTapeDoesNotHaveChangesNothing() throws {
        let play = try Playbook(EventsTape.sessions(EventsTape.prices), speed: .instant)
        let c = play.events("/prices", behind: "77")
        play.pass(ms: 1)
        #expect(play.take(c).count == 9)
    }

    /// A GET with `Last-Event-ID` continues the stream that contains the event, even if a POST opened that stream.
    @Test(arguments: [ReplayOptions.OnReconnect.resume, .lose(1), .restart])
    func aGetContinuesThePostsStream(_ policy: ReplayOptions.OnReconnect) throws {
        let policies = [try Expectation.parse("resubscribes")]
        let play = try Playbook(EventsTape.sessions(EventsTape.called), faults: ["reset after price[2] max=1"]) {
            $0.onReconnect = policy
            $0.expectations = policies
        }
        let standing = play.events("/rpc")
        let call = play.post("/rpc", #"{"id":1,"method":"count"}"#)
        play.pass(ms: 60)
        #expect(play.take(call) == ["200 …", Self.event(1), Self.event(2), "RST"])
        let rest = play.events("/rpc", behind: "2")
        play.pass(ms: 12)
        play.expect(rest, "200 …", Self.event(3), "end")
        play.pass(ms: 100)
        play.expect(standing, "200 …", Self.event(4))
        let report = play.finish()
        #expect(report.verdict == .pass, "\(report.reasons)")
        #expect(report.sessions.map(\.attempts.count) == [1, 2] && report.sessions.allSatisfy { $0.finished })
    }

    /// A client that did not send the POST may also request the rest of its stream. The POST can still be sent afterwards.
    @Test func aNewClientMayContinueThePostsStream() throws {
        let play = try Playbook(EventsTape.sessions(EventsTape.called), speed: .instant)
        let rest = play.events("/rpc", behind: "1")
        // On the tape, the first stream is still open when this one begins. No client opens it here, so replay waits for it once.
        play.pass(ms: 2_000)
        play.expect(rest, "200 …", Self.event(2), Self.event(3), "end")
        let call = play.post("/rpc", #"{"id":1,"method":"count"}"#)
        play.pass(ms: 2_000)
        play.expect(call, "200 …", Self.event(1), Self.event(2), Self.event(3), "end")
    }

    @Test func aPostDoesNotContinueAStream() throws {
        let play = try Playbook(EventsTape.sessions(EventsTape.called), speed: .instant)
        let headers = [HeaderField("Content-Type", "application/json"), HeaderField("Last-Event-ID", "1")]
        let other = play.request("POST", "/rpc", headers, body: Array(#"{"id":2,"method":"add"}"#.utf8))
        play.pass(ms: 1)
        #expect(play.take(other).first?.hasPrefix("409 ") == true)
    }

    /// The tape's own reconnect: each part has its own session.
    @Test func recordedReconnectsAreSessions() throws {
        let play = try Playbook(EventsTape.sessions(EventsTape.reconnected))
        let c = play.events("/prices")
        play.pass(ms: 100)
        play.expect(c, "200 …", Self.event(1), Self.event(2), "RST")
        let back = play.events("/prices", behind: "2")
        play.pass(ms: 40)
        play.expect(back, "200 …", Self.event(3), Self.event(4))
        play.close(back)
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions.map(\.session) == [1, 2])
        #expect(report.sessions.map(\.finished) == [true, true])
    }

    /// The client's id says which of equal sessions it means, although another one comes first.
    @Test func anIDFindsItsSession() throws {
        let play = try Playbook(EventsTape.sessions(EventsTape.reconnected))
        let c = play.events("/prices", behind: "2")
        play.pass(ms: 40)
        play.expect(c, "200 …", Self.event(3), Self.event(4))
    }
}
