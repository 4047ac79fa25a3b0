import Testing
import WiretapeAttempts
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// What rules do to requests, connections and sessions of a replay.
@Suite struct ConnectionFaultTests {
    private let ticks = TestTape.session(
        TestTape.handshake
            + (1...6).map { #"\#($0 * 10) < {"type":1,"target":"Tick","arguments":[\#($0)]}"# }.joined(separator: "\n"))

    private func tick(_ n: Int) -> String { #"{"type":1,"target":"Tick","arguments":[\#(n)]}"# }

    @Test func answersAreLateCutAndMalformed() throws {
        for (rule, wanted) in [
            ("delay(2s) on negotiate", ["hold 2s", "200"]), ("truncate(20) on negotiate", ["limit 20", "200", "FIN"]),
            ("truncate(20) + reset on negotiate", ["limit 20", "200", "RST"]),
            ("malformed on negotiate", ["200"]), ("malformed(head) on negotiate", ["raw", "FIN"]),
            ("redirect-loop on negotiate", ["307"]), ("refuse on connect", ["RST"]),
            ("delay(1s) + respond(503) on connect", ["hold 1s", "503"]),
            ("throttle(1kB/s) on connect", ["pace", "200"]),
            ("stall on connect", ["stall", "200"]), ("stall(in, 1s) after negotiate", ["200", "stall", "stall"]),
        ] {
            let play = try Playbook([ticks], faults: [rule])
            let c = play.request("POST", "/chat/negotiate?negotiateVersion=1")
            play.pass(ms: 3_000)
            let got = play.take(c)
            #expect(got.count == wanted.count && zip(got, wanted).allSatisfy { $0.hasPrefix($1) }, "\(rule): \(got)")
            #expect(play.finish().unfired.isEmpty, "\(rule)")
        }
        let later = try Playbook([ticks], faults: ["delay(2s) + reset on connect"])
        let c = later.request("POST", "/chat/negotiate?negotiateVersion=1")
        later.pass(ms: 1_999)
        later.expect(c)
        later.pass(ms: 2)
        later.expect(c, "RST")
    }

    @Test func aRedirectLeadsBackAgainAndAgain() throws {
        let play = try Playbook([ticks], faults: ["redirect-loop on negotiate[1]"])
        var target = "/chat/negotiate?negotiateVersion=1"
        for _ in 1...5 {
            let c = play.request("POST", target)
            #expect(play.take(c) == ["307 "])
            target = play.answers[c]?.headers.first("Location") ?? ""
        }
        #expect(target == "/chat/negotiate?negotiateVersion=1&wiretape-redirect=5")
        // The next try of the client is well.
        #expect(play.negotiate() != nil)
        #expect(play.finish().sessions[0].attempts.count == 1)
    }

    @Test func upgradesWithTheWrongWords() throws {
        let accept = try Playbook([ticks], faults: ["wrong-accept on upgrade"])
        let c = accept.upgrade(accept.negotiate())
        #expect(accept.take(c) == ["101 wrong"])
        let mute = try Playbook([ticks], faults: ["mute(websocket, 1s) after upgrade"])
        let d = mute.upgrade(mute.negotiate())
        mute.pass(ms: 1_100)
        #expect(mute.take(d) == ["101", "mute", "unmute"])
    }

    @Test func aPollThatIsCutShortIsTheEndOfItsConnection() throws {
        let play = try Playbook([ticks], faults: ["truncate(2) + reset on Tick[1]"])
        let (_, c) = try play.startPolling()
        play.pass(ms: 500)
        let got = play.take(c)
        #expect(got.first == "limit 2" && got.last == "RST", "\(got)")
        // The client negotiates again, and gets its session.
        #expect(play.negotiate() != nil)
        let attempts = play.finish().sessions[0].attempts
        #expect(attempts.count == 2)
        #expect(attempts[0].ended?.how == .reset)
    }

    /// A poll that goes on with a connection which was taken away is an attempt, and rules about attempts see it.
    @Test(arguments: [404, 503]) func aPollBehindTheEndIsAnAttempt(_ status: Int) throws {
        let answer = status == 404 ? [] : ["respond(503) on connect[retry=1]"]
        let play = try Playbook([ticks], faults: ["reset on Tick[1]"] + answer) { $0.onReconnect = .restart }
        let (token, c) = try play.startPolling()
        play.pass(ms: 500)
        #expect(play.take(c).last == "RST")
        #expect(play.take(play.poll(token)).last?.hasPrefix("\(status)") == true)
        #expect(play.negotiate() != nil)
        let report = play.finish()
        #expect(report.sessions[0].attempts.map { $0.steps.last?.status } == [200, status, 200])
        #expect(report.unfired.isEmpty)
    }

    /// Were it cut with the rest, the client's attempt on it might be lost on the way.
    @Test func aKeptConnectionIsRefusedInAnOutageWhenItAsks() throws {
        let play = try Playbook([ticks], faults: ["outage(1s) after Tick[1]"])
        let c = try play.start()
        let idle = play.request("GET", "/elsewhere")
        play.pass(ms: 100)
        #expect(play.take(c).last == "RST")
        #expect(!play.take(idle).contains("RST"))
        play.ask(idle, "POST", "/chat/negotiate?negotiateVersion=1")
        play.expect(idle, "RST")
        play.pass(ms: 1_000)
        #expect(play.negotiate() != nil)
        let attempts = play.finish().sessions[0].attempts
        #expect(attempts.map(\.outcome) == [.connected, .refused, .abandoned])
    }

    @Test func aStallAfterAMessageWaitsForItAndEnds() throws {
        let play = try Playbook([ticks], faults: ["stall(both, 1s) + disconnect after Tick[2]"])
        let c = try play.start()
        play.pass(ms: 900)
        play.expect(c, tick(1), tick(2), "stall in out")
        play.pass(ms: 200)
        play.expect(c, "stall", "FIN")
        let d = try play.start()
        play.pass(ms: 100)
        #expect(play.take(d) == (3...6).map(tick))
        let report = play.finish()
        #expect(report.faults.map(\.action) == ["stall(both, 1s) + disconnect"])
        #expect(report.exitCode == 0)
    }

    @Test func theScriptGoesOnBehindAnEffect() throws {
        for (rule, effect) in [("throttle(1kB/s) after Tick[2]", "pace"), ("slice(1, 5ms) after Tick[2]", "pace")] {
            let play = try Playbook([ticks], faults: [rule])
            let c = try play.start()
            play.pass(ms: 200)
            let got = play.take(c)
            #expect(got.count == 7 && got[2].hasPrefix(effect) && got[6] == tick(6), "\(got)")
        }
    }

    @Test func mutedProtocolsSayNothing() throws {
        let play = try Playbook([ticks], faults: ["mute(protocol, 20s) after handshake"])
        let c = try play.start()
        play.pass(ms: 19_000)
        #expect(play.take(c) == (1...6).map(tick))
        play.pass(ms: 12_000)
        play.expect(c, #"{"type":6}"#)
    }

    @Test func anOutageIsForEverybodyAndOver() throws {
        let other = TestTape.session(
            TestTape.handshake + #"10 < {"type":1,"target":"Tick","arguments":[1]}"#, number: 2)
        let play = try Playbook([ticks, other], faults: ["outage(3s) since run=35ms"])
        let c = try play.start()
        play.host = "10.0.0.2"
        let d = try play.start()
        let free = play.request("GET", "/nothing")
        _ = play.take(free)
        play.pass(ms: 100)
        #expect(play.take(c).last == "RST" && play.take(d).last == "RST" && !play.take(free).contains("RST"))
        play.host = "10.0.0.1"
        let refused = play.request("POST", "/chat/negotiate?negotiateVersion=1")
        #expect(play.take(refused) == ["RST"])
        play.pass(ms: 3_000)
        #expect(play.negotiate() != nil)
        let report = play.finish()
        #expect(report.faults.map(\.action) == ["outage(3s)"])
        #expect(report.sessions[0].attempts.map(\.outcome) == [.connected, .refused, .abandoned])
    }

    @Test func anOutageThatAnswers() throws {
        let play = try Playbook([ticks], faults: ["outage(3s, cut=1001, answer=503) after Tick[2]"])
        let c = try play.start()
        play.pass(ms: 100)
        play.expect(c, tick(1), tick(2), "close 1001")
        for _ in 1...2 {
            play.pass(ms: 500)
            #expect(play.negotiate() == nil)
            #expect(play.take(play.refused) == ["503 unavailable\n"])
        }
        play.pass(ms: 3_000)
        let d = try play.start()
        play.pass(ms: 100)
        #expect(play.take(d) == (3...6).map(tick))
        #expect(play.finish().sessions[0].attempts.map(\.outcome) == [.connected, .status, .status, .connected])
    }

    /// What was on its way when the connection went is no way back: neither a send, nor a goodbye, nor an ordinary request is an attempt.
    @Test(
        arguments: ["outage(1s, answer=503)", "outage(1s)"],
        ["POST /chat?id=before", "DELETE /chat?id=before", "GET /elsewhere"])
    func aSendInAnOutageIsNoAttempt(_ outage: String, _ request: String) throws {
        let play = try Playbook([ticks], faults: ["\(outage) after Tick[1]"])
        let c = try play.start()
        let kept = play.request("GET", "/elsewhere")
        play.pass(ms: 100)
        #expect(play.take(c).last == "RST")
        _ = play.take(kept)
        let words = request.split(separator: " ").map(String.init)
        play.ask(kept, words[0], words[1])
        #expect(play.take(kept) == (outage.contains("503") ? ["503 unavailable\n"] : ["RST"]))
        play.pass(ms: 100)
        #expect(play.negotiate() == nil)
        play.pass(ms: 1_000)
        #expect(play.negotiate() != nil)
        let attempts = play.finish().sessions[0].attempts
        #expect(attempts.map(\.outcome) == [.connected, outage.contains("503") ? .status : .refused, .abandoned])
    }

    @Test func listenersRefuse() throws {
        let play = try Playbook([ticks], faults: ["refuse on accept[1]", "throttle(10kB/s) on accept[2]"])
        #expect(play.negotiate() == nil)
        #expect(play.take(play.refused) == ["RST"])
        #expect(play.negotiate() != nil)
        #expect(play.take(2).first?.hasPrefix("pace") == true)
    }

    @Test func aTransportIsTakenAway() throws {
        let play = try Playbook([ticks], faults: ["downgrade(ws) + reset after Tick[1]"])
        let c = try play.start()
        play.pass(ms: 100)
        play.expect(c, tick(1), "RST")
        let token = try #require(play.negotiate())
        let answer = String(decoding: play.answers[3]?.body ?? [], as: UTF8.self)
        #expect(!answer.contains("WebSockets") && answer.contains("LongPolling"), "\(answer)")
        let d = play.upgrade(token)
        #expect(play.take(d).first?.hasPrefix("404") == true)
        let first = play.poll(token)
        #expect(play.take(first) == ["200 "])
    }

    @Test func theServerForgets() throws {
        let play = try Playbook([ticks], faults: ["expire after Tick[1]"])
        let (token, poll) = try play.startPolling()
        play.pass(ms: 11)
        play.poll(token, on: poll)
        play.pass(ms: 100)
        let got = play.take(poll)
        #expect(got.first == Playbook.body(tick(1)) && got.last?.hasPrefix("404") == true, "\(got)")
        let again = try play.startPolling()
        play.pass(ms: 20)
        #expect(play.take(again.poll) == [Playbook.body(tick(2))])
    }

    @Test func staleTokensAreRefused() throws {
        let play = try Playbook([ticks], faults: ["reset after Tick[1]", "respond(401) on connect[token=stale]"])
        func negotiate(_ token: String) -> String {
            let c = play.request(
                "POST", "/chat/negotiate?negotiateVersion=1", [HeaderField("Authorization", "Bearer \(token)")])
            return String(play.take(c).first?.prefix(3) ?? "")
        }
        #expect(negotiate("a") == "200")
        let token = String(decoding: play.answers[1]?.body ?? [], as: UTF8.self)
        let id = try #require(try JSONValue(parsing: token)["connectionToken"]?.string)
        let c = play.request(
            "GET", "/chat?id=\(id)",
            [HeaderField("Upgrade", "websocket"), HeaderField("Authorization", "Bearer a")])
        play.send(c, #"{"protocol":"json","version":1}"#)
        play.pass(ms: 100)
        #expect(play.take(c).last == "RST")
        #expect([negotiate("a"), negotiate("b")] == ["401", "200"])
    }
}
