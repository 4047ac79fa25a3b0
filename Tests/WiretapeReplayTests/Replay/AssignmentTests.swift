import Testing
import WiretapeCodecs
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// Which recorded session a client gets.
@Suite struct AssignmentTests {
    private static func join(_ name: String, _ number: Int, greeting: String = "") -> RecordedSession {
        TestTape.session(
            TestTape.handshake + greeting + """
                10 > {"type":1,"invocationId":"1","target":"Join","arguments":["\(name)"]}
                11 < {"type":3,"invocationId":"1","result":"hello \(name)"}
                """, number: number)
    }

    private static func call(_ name: String) -> String {
        #"{"type":1,"invocationId":"1","target":"Join","arguments":["\#(name)"]}"#
    }

    private static func answer(_ name: String) -> String {
        #"{"type":3,"invocationId":"1","result":"hello \#(name)"}"#
    }

    private let pair = [join("alice", 1), join("bob", 2)]

    @Test func theFirstMessageDecidesWhoIsWho() throws {
        let play = try Playbook(pair)
        let bob = try play.start()
        play.send(bob, Self.call("bob"))
        play.pass(ms: 5)
        play.expect(bob, Self.answer("bob"))
        let alice = try play.start()
        play.send(alice, Self.call("alice"))
        play.pass(ms: 5)
        play.expect(alice, Self.answer("alice"))
        let report = play.finish()
        #expect(report.verdict == .pass)
        #expect(report.sessions.map(\.session) == [1, 2])
        #expect(report.sessions.allSatisfy { $0.finished && $0.assigned == .message })
    }

    @Test func twoWhoHaveNotSpokenChangePlaces() throws {
        let play = try Playbook(pair)
        let first = try play.start()
        let second = try play.start()
        play.send(first, Self.call("bob"))
        play.pass(ms: 5)
        play.expect(first, Self.answer("bob"))
        play.send(second, Self.call("alice"))
        play.pass(ms: 5)
        play.expect(second, Self.answer("alice"))
        #expect(play.finish().verdict == .pass)
    }

    @Test func whatWasSaidMustBeTheSameInTheOtherSession() throws {
        let hello = #"5 < {"type":1,"target":"Hello","arguments":[]}"# + "\n"
        let other = #"5 < {"type":1,"target":"Hi","arguments":[]}"# + "\n"
        let same = try Playbook([Self.join("alice", 1, greeting: hello), Self.join("bob", 2, greeting: hello)])
        let c = try same.start()
        same.pass(ms: 10)
        same.expect(c, #"{"type":1,"target":"Hello","arguments":[]}"#)
        same.send(c, Self.call("bob"))
        same.pass(ms: 10)
        same.expect(c, Self.answer("bob"))
        #expect(same.finish().sessions.map(\.session) == [2])

        let different = try Playbook([Self.join("alice", 1, greeting: hello), Self.join("bob", 2, greeting: other)])
        let d = try different.start()
        different.pass(ms: 10)
        different.expect(d, #"{"type":1,"target":"Hello","arguments":[]}"#)
        different.send(d, Self.call("bob"))
        #expect(different.finish().verdict == .diverged)
    }

    @Test func namesChooseTheirSession() throws {
        var named = pair
        named[0].name = "alice"
        named[1].name = "bob"
        let play = try Playbook(named)
        let c = play.request("POST", "/chat/negotiate?wt=bob&negotiateVersion=1")
        #expect(play.answers[c]?.status == 200)
        let body = String(decoding: play.answers[c]?.body ?? [], as: UTF8.self)
        #expect(body.contains("token-2"))
        let unknown = play.request("POST", "/chat/negotiate?wt=bop&negotiateVersion=1")
        #expect(play.answers[unknown]?.status == 404)
        let golden = try Golden.text("no-name")
        #expect(play.logs == [golden])
        let report = play.finish()
        #expect(report.sessions.map(\.client) == ["bob"])
        #expect(report.sessions.map(\.assigned) == [.identity])
        #expect(report.unclaimed == [1])
    }

    @Test func aListenersNameIsThatOfItsClients() throws {
        var named = pair
        named[0].name = "alice"
        named[1].name = "bob"
        let play = try Playbook(named)
        play.listener = "bob"
        #expect(play.negotiate() == "token-2")
        play.listener = "alice"
        #expect(play.negotiate() == "token-1")
        play.listener = "bob"
        #expect(play.negotiate() == "token-2".varied, "its negotiation was not followed up")
    }

    @Test func everyClientHasARunOfItsOwn() throws {
        let play = try Playbook([Self.join("alice", 1)]) { $0.clients = 3 }
        // All from one address, with one agent, and before any of them goes on.
        let tokens = (0..<3).compactMap { _ in play.negotiate() }
        #expect(Set(tokens).count == 3)
        for token in tokens {
            let c = play.upgrade(token)
            play.send(c, #"{"protocol":"json","version":1}"#)
            play.send(c, Self.call("alice"))
            play.pass(ms: 20)
            play.expect(c, "101", "{}", Self.answer("alice"))
        }
        #expect(play.negotiate() == nil)
        #expect(play.answers[play.refused]?.status == 404)
        let report = play.finish()
        #expect(report.verdict == .diverged && report.divergences == report.ownRefusals)
        #expect(report.sessions.map(\.run) == [1, 2, 3])
        #expect(report.sessions.allSatisfy { $0.session == 1 && $0.finished })
    }

    @Test func aClientKeepsToItsOwnRun() throws {
        let play = try Playbook(pair) { $0.clients = 2 }
        var got: [[Int]] = []
        for host in ["10.0.0.1", "10.0.0.2", "10.0.0.1", "10.0.0.2"] {
            play.host = host
            let c = try play.start()
            let before = Set(play.finish().sessions.map { [$0.session, $0.run] })
            got.append([host.last == "1" ? 1 : 2, before.count])
            _ = c
        }
        #expect(
            Set(play.finish().sessions.map { "\($0.client.prefix(8)) \($0.session) \($0.run)" }) == [
                "10.0.0.1 1 1", "10.0.0.1 2 1", "10.0.0.2 1 2", "10.0.0.2 2 2",
            ])
        play.host = "10.0.0.3"
        #expect(play.negotiate() == nil)
    }

    @Test(arguments: [(ReplayOptions.WhenExhausted.repeat, [1, 2, 1, 2]), (.last, [1, 2, 2, 2])])
    func sessionsAreRepeated(_ how: ReplayOptions.WhenExhausted, _ wanted: [Int]) throws {
        let play = try Playbook(pair) { $0.whenExhausted = how }
        var got: [Int] = []
        for _ in 0..<4 {
            let c = try play.start()
            let known = play.finish().sessions.map(\.session)
            got.append(known.reduce(0, +) - got.reduce(0, +))
            play.send(c, Self.call(got.last == 1 ? "alice" : "bob"))
            play.pass(ms: 20)
            play.expect(c, Self.answer(got.last == 1 ? "alice" : "bob"))
        }
        #expect(got == wanted)
        let report = play.finish()
        #expect(report.verdict == .pass)
        #expect(Set(report.sessions.map { "\($0.session) \($0.run)" }).count == 4)
    }

    @Test func anAttemptThatFailedIsFollowedByTheSameSession() throws {
        let play = try Playbook(pair, faults: ["respond(503) on upgrade[1]"])
        let token = play.negotiate()
        _ = play.upgrade(token)
        // The client falls back: it negotiates anew.
        #expect(play.negotiate() == "token-1".varied)
        #expect(play.finish().sessions.map(\.session) == [1])
    }

    @Test func aClientThatNegotiatesAgainOverItsConnectionHasNotGoneElsewhere() throws {
        let play = try Playbook(pair)
        let c = play.request("POST", "/chat/negotiate?negotiateVersion=1")
        play.ask(c, "POST", "/chat/negotiate?negotiateVersion=1")
        #expect(play.finish().sessions.map(\.session) == [1])
    }

    @Test func credentialsTellClientsApart() throws {
        let play = try Playbook(pair) { $0.clients = 2 }
        for token in ["a", "b", "a"] {
            _ = play.request(
                "POST", "/chat/negotiate?negotiateVersion=1", [HeaderField("Authorization", "Bearer \(token)")])
        }
        // The token stands in the query where a browser cannot set headers.
        _ = play.request("GET", "/chat?access_token=b", [HeaderField("Upgrade", "websocket")])
        let report = play.finish()
        #expect(
            report.sessions.map { "\($0.session) \($0.run) \($0.client)" } == [
                "1 1 credential 1", "1 2 credential 2", "2 1 credential 1", "2 2 credential 2",
            ])
    }

    @Test func freshIDsDifferFromTheRecordedOnes() throws {
        let play = try Playbook([Self.join("alice", 1)]) {
            $0.ids.areFresh = true
            $0.clients = 2
        }
        let tokens = (0..<2).compactMap { _ in play.negotiate() }
        #expect(tokens.count == 2 && Set(tokens + ["token-1"]).count == 3)
        #expect(tokens.allSatisfy { $0.count == "token-1".count })
    }
}

extension String {
    /// What the codec makes of the id the second time.
    fileprivate var varied: String { SignalRCodec.vary(self, 1) }
}
