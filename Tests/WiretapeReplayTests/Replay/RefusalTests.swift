import Testing
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeReport
import WiretapeWire

/// Attempts that the recorded server refused.
@Suite struct RefusalTests {
    private static let push = #"10 < {"type":1,"target":"Tick","arguments":[]}"#

    private func refused(_ kind: ExchangeKind, token: String = "token-1") -> RecordedSession {
        var session = TestTape.session("", number: 1, token: token)
        if kind == .negotiate {
            session.opening.request = RequestHead(method: "POST", target: "/chat/negotiate?negotiateVersion=1")
            session.negotiate = nil
        }
        session.refusal = .init(ResponseHead(status: 503), body: Array("busy".utf8))
        return session
    }

    @Test func aNegotiationIsRefusedOnce() throws {
        let play = try Playbook([refused(.negotiate), TestTape.session(TestTape.handshake + Self.push, number: 2)])
        #expect(play.negotiate() == nil)
        play.expect(play.refused, "503 busy")
        let c = try play.start()
        play.pass(ms: 20)
        play.expect(c, #"{"type":1,"target":"Tick","arguments":[]}"#)
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions.map(\.session) == [1, 2])
    }

    @Test func anUpgradeIsRefusedAndTheSameTokenGoesOn() throws {
        let next = TestTape.session(TestTape.handshake + Self.push, number: 2, token: "token-1")
        let play = try Playbook([refused(.upgrade), next])
        let token = play.negotiate()
        play.expect(play.upgrade(token), "503 busy")
        let c = play.upgrade(token)
        play.expect(c, "101")
        play.send(c, #"{"protocol":"json","version":1}"#)
        play.pass(ms: 20)
        play.expect(c, "{}", #"{"type":1,"target":"Tick","arguments":[]}"#)
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions.map(\.session) == [1, 2])
    }

    @Test func aClientOfAnotherTransportWasNotTheRefusedOne() throws {
        let play = try Playbook([refused(.upgrade), TestTape.session(TestTape.handshake + Self.push, number: 2)])
        let token: String = try #require(play.negotiate())
        let c = play.request("GET", "/chat?id=\(token)", [HeaderField("Accept", "text/event-stream")])
        #expect(play.answers[c]?.status == 200)
        #expect(play.finish().sessions.map(\.session) == [2])
    }
}
