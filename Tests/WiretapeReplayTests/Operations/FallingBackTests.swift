import Testing
import WiretapeAttempts
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// Clients that get no WebSocket, and ask over HTTP instead.
@Suite struct FallingBackTests {
    private static let tick = OperationTape.tick
    private static let hello = #"{"query":"query Hello { hello }"}"#

    /// As gql does: its library for WebSockets calls itself otherwise than the one for requests.
    private static func upgrade(_ play: Playbook) -> ConnectionID {
        play.agent = "websockets"
        defer { play.agent = "aiohttp" }
        return play.request(
            "GET", "/graphql",
            [HeaderField("Upgrade", "websocket"), HeaderField("Sec-WebSocket-Protocol", "graphql-transport-ws")])
    }

    @Test(
        arguments: [OperationTape.multipart, OperationTape.sse],
        [("respond(404) on upgrade", "404 "), ("reset on upgrade", "RST")])
    func aFallbackIsAStepOfTheAttemptThatFailed(_ tape: String, _ fault: (rule: String, answer: String)) throws {
        let play = try Playbook(OperationTape.sessions(tape), faults: [fault.rule]) {
            $0.expectations = [try! Expectation.parse("transports(ws, multipart)")]
        }
        play.expect(Self.upgrade(play), fault.answer)
        play.pass(ms: 20)
        let c = play.operate("multipart", Self.tick)
        play.pass(ms: 60)
        #expect(play.take(c).count == 6)
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions.count == 1 && report.unclaimed.isEmpty)
        #expect(report.sessions[0].finished && report.sessions[0].transports == [.multipart])
        #expect(report.sessions[0].attempts.map { $0.steps.map(\.request) } == [["upgrade", "operation"]])
    }

    /// What belonged to the session is there for its client, one request after the other.
    @Test func aSocketIsLeftForItsOperations() throws {
        let play = try Playbook(OperationTape.sessions(OperationTape.socket), faults: ["respond(404) on upgrade"])
        play.expect(Self.upgrade(play), "404 ")
        let stream = play.operate("multipart", Self.tick)
        let query = play.operate("json", Self.hello)
        play.pass(ms: 60)
        #expect(play.take(stream).count == 6)
        play.expect(query, #"200 {"data":{"hello":"ada"}}"#)
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions.map(\.operation) == [1, 2])
        #expect(report.sessions.allSatisfy(\.finished) && report.unclaimed.isEmpty)
    }

    @Test func whatTheReplayDoesNotOfferIsFallenBackFrom() throws {
        let play = try Playbook(OperationTape.sessions(OperationTape.multipart)) { $0.transports = [.multipart] }
        #expect(play.take(Self.upgrade(play)).count == 1)
        let c = play.operate("multipart", Self.tick)
        play.pass(ms: 60)
        #expect(play.take(c).count == 6)
        #expect(play.finish().verdict == .pass)
    }

    /// A client that has its queries on HTTP in any case still wants its WebSocket.
    @Test func aQueryBesideARefusedSocketIsNoFallback() throws {
        let tape = OperationTape.sse + "\n" + OperationTape.hello
        let play = try Playbook(OperationTape.sessions(tape), faults: ["respond(503) on upgrade[1]"])
        play.expect(Self.upgrade(play), "503 ")
        let query = play.operate("json", Self.hello)
        play.pass(ms: 1_000)
        play.expect(query, #"200 {"data":{"hello":"ada"}}"#)
        play.agent = "websockets"
        let c = play.socket()
        play.say(c, "{\"id\":\"a\",\"type\":\"subscribe\",\"payload\":\(Self.tick)}")
        play.pass(ms: 60)
        #expect(play.take(c).count == 6)
        let report = play.finish()
        #expect(report.verdict == .pass)
        #expect(report.sessions.map { $0.attempts.count } == [2, 1])
    }

    /// Where the tape has nothing but queries, a query is a fallback.
    @Test func aClientThatOnlyAsksFallsBackWithAQuery() throws {
        let play = try Playbook(OperationTape.sessions(OperationTape.hello), faults: ["respond(404) on upgrade"])
        play.expect(Self.upgrade(play), "404 ")
        let query = play.operate("json", Self.hello)
        play.pass(ms: 20)
        play.expect(query, #"200 {"data":{"hello":"ada"}}"#)
        #expect(play.finish().verdict == .pass)
    }

    /// Another client's attempt is its own.
    @Test func aClientFromElsewhereTakesNoAttempt() throws {
        let play = try Playbook(OperationTape.sessions(OperationTape.multipart), faults: ["respond(404) on upgrade"])
        play.expect(Self.upgrade(play), "404 ")
        play.host = "10.0.0.2"
        let c = play.operate("multipart", Self.tick)
        play.pass(ms: 60)
        #expect(play.take(c).count == 6)
        let report = play.finish()
        #expect(report.sessions.count == 2 && report.verdict == .diverged)
    }
}
