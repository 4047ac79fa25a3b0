import Testing
import WiretapeAttempts
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// SignalR clients that renew their credential while their connection lives (signalr.md, section 11).
@Suite struct RefreshTests {
    private static let script = TestTape.handshake + #"40 < {"type":1,"target":"Refreshed","arguments":[]}"#
    private static let refreshed = #"{"type":1,"target":"Refreshed","arguments":[]}"#

    /// A recorded renewal.
    private static func renewal(_ status: Int, _ body: String, at time: UInt64, line: Int) -> RecordedExchange {
        RecordedExchange(
            event: UInt64(line - 1), line: line, time: time * 1_000_000, answered: time * 1_000_000, connection: 2,
            request: RequestHead(method: "POST", target: "/chat/refresh"),
            response: ResponseHead(status: status, headers: [HeaderField("Content-Type", "application/json")]),
            responseBody: Array(body.utf8))
    }

    private static func lifetime(_ seconds: Int) -> String { #"200 {"tokenLifetimeSeconds":\#(seconds)}"# }

    private func open(_ play: Playbook) throws -> (token: String, ConnectionID) {
        let token: String = try #require(play.negotiate())
        let c = play.upgrade(token)
        play.send(c, #"{"protocol":"json","version":1}"#)
        play.pass(ms: 5)
        play.expect(c, "101", "{}")
        return (token, c)
    }

    /// A tape without renewals, whose negotiation gives a lifetime.
    @Test func anyNumberIsAnswered() throws {
        let play = try Playbook([TestTape.renewable(Self.script)])
        let token: String = try #require(play.negotiate())
        // From the negotiation on, before there is a connection.
        play.expect(play.refresh("/chat/refresh", token), Self.lifetime(60))
        let c = play.upgrade(token)
        play.send(c, #"{"protocol":"json","version":1}"#)
        for _ in 1...3 { play.expect(play.refresh("/chat/refresh", token), Self.lifetime(60)) }
        play.pass(ms: 100)
        play.expect(c, "101", "{}", Self.refreshed)
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].attempts.count == 1, "\(report.reasons)")
    }

    @Test(arguments: [0, 1, 3]) func recordedRenewalsComeFirst(_ count: Int) throws {
        let recorded = Self.renewal(200, #"{"tokenLifetimeSeconds":7}"#, at: 30, line: 20)
        let play = try Playbook([TestTape.renewable(Self.script)], exchanges: [recorded])
        let (token, _) = try open(play)
        for _ in 0..<count {
            let c = play.refresh("/chat/refresh", token)
            play.pass(ms: 1)
            play.expect(c, Self.lifetime(7))
        }
        play.pass(ms: 1_000)
        #expect(play.finish().verdict == .pass)
    }

    @Test func aRecordedRefusalIsPlayedOnce() throws {
        let recorded = Self.renewal(401, "", at: 30, line: 20)
        let play = try Playbook([TestTape.renewable(Self.script)], exchanges: [recorded])
        let (token, _) = try open(play)
        let first = play.refresh("/chat/refresh", token)
        play.pass(ms: 1)
        play.expect(first, "401 ")
        play.expect(play.refresh("/chat/refresh", token), Self.lifetime(60))
    }

    @Test func refusalsAreTheServersOwn() throws {
        let play = try Playbook([TestTape.renewable(Self.script)])
        let (token, c) = try open(play)
        play.expect(play.refresh("/chat/refresh", nil), #"400 {"error":"missing_connection_token"}"#)
        play.expect(play.refresh("/chat/refresh", "public-1"), #"404 {"error":"connection_not_found"}"#)
        let get = play.request("GET", "/chat/refresh", [HeaderField("X-SignalR-Connection-Token", token)])
        #expect(play.take(get).first?.hasPrefix("405") == true)
        play.close(c)
        play.expect(play.refresh("/chat/refresh", token), #"404 {"error":"connection_not_found"}"#)
        #expect(play.finish().divergences.isEmpty)
    }

    @Test func versionZeroHasNoRenewals() throws {
        let play = try Playbook([TestTape.renewable(Self.script)])
        let c = play.request("POST", "/chat/negotiate")
        #expect(play.take(c).first?.contains(#""connectionId":"token-1""#) == true)
        play.expect(play.refresh("/chat/refresh", "token-1"), #"400 {"error":"unsupported_negotiate_version"}"#)
    }

    /// A server that sends no lifetime has no refresh endpoint.
    @Test func withoutALifetimeTheRequestIsNotOnTheTape() throws {
        let play = try Playbook([TestTape.session(Self.script)])
        let (token, _) = try open(play)
        #expect(play.take(play.refresh("/chat/refresh", token)).first?.hasPrefix("404") == true)
        #expect(play.finish().verdict != .pass)
    }

    @Test func rulesReachRenewals() throws {
        let play = try Playbook(
            [TestTape.renewable(Self.script)], faults: ["respond(503) on refresh[1]", "lifetime(4s) on refresh[2]"])
        let (token, _) = try open(play)
        #expect(play.take(play.refresh("/chat/refresh", token)).first?.hasPrefix("503") == true)
        play.expect(play.refresh("/chat/refresh", token), Self.lifetime(4))
        play.expect(play.refresh("/chat/refresh", token), Self.lifetime(4))
        #expect(play.finish().faults.count == 2)
    }

    @Test func aRuleShortensTheLifetimeInTheNegotiation() throws {
        let recorded = Self.renewal(200, #"{"tokenLifetimeSeconds":50}"#, at: 30, line: 20)
        let play = try Playbook(
            [TestTape.renewable(Self.script)], exchanges: [recorded], faults: ["lifetime(4s) on negotiate"])
        let c = play.request("POST", "/chat/negotiate?negotiateVersion=1")
        #expect(play.take(c).first?.contains(#""tokenLifetimeSeconds":4"#) == true)
        let renewal = play.refresh("/chat/refresh", "token-1")
        play.pass(ms: 1)
        play.expect(renewal, Self.lifetime(4))
    }

    // MARK: The policy

    /// The judgement of `refreshes` for a client with a four-second credential. `times` are the renewals and `length` is the run's duration, in
    /// milliseconds.
    private func judged(renewing times: [UInt64], for length: UInt64, _ rule: String? = nil) throws -> Judgement {
        let policy = try Expectation.parse("refreshes(before-expiry)")
        let rules = ["lifetime(4s) on negotiate"] + [rule].compactMap(\.self)
        let play = try Playbook([TestTape.renewable(Self.script)], faults: rules) {
            $0.expectations = [policy]
        }
        let (token, _) = try open(play)
        var now: UInt64 = 5
        for time in times {
            play.pass(ms: time - now)
            now = time
            let answer = play.take(play.refresh("/chat/refresh", token)).first
            #expect(answer == Self.lifetime(4) || rule != nil)
        }
        play.pass(ms: length - now)
        return try #require(play.finish().expectations.first)
    }

    @Test func renewalsAreJudged() throws {
        let good = try judged(renewing: [2_000, 4_000], for: 7_000)
        #expect(good.met && good.actual == "2 renewals")
        let late = try judged(renewing: [4_500], for: 5_000)
        #expect(!late.met && late.isJudged && late.reason.contains("and the client renewed it 500 ms later"))
        let never = try judged(renewing: [2_000], for: 7_000)
        #expect(!never.met && never.reason.contains("expired at 6000 ms, and the client did not renew it"))
        #expect(try !judged(renewing: [], for: 3_000).isJudged)
        // A renewal that the server refused does not count.
        let refused = try judged(renewing: [2_000], for: 5_000, "respond(503) on refresh")
        #expect(!refused.met && refused.reason.contains("expired at 4000 ms, and the client did not renew it"))
    }
}
