import Testing
import WiretapeReport
import WiretapeWire

/// Operations over another carrier than the recorded one.
@Suite struct CrossCarrierTests {
    private static let tick = OperationTape.tick
    private static let hello = #"{"query":"query Hello { hello }"}"#
    private static let data = (1...3).map { "{\"data\":{\"tick\":\($0)}}" }
    private static let parts = data.map { Playbook.part("{\"payload\":\($0)}") }
    private static let events = data.map(Playbook.next)

    @Test(arguments: [OperationTape.socket, OperationTape.multipart, OperationTape.sse])
    func everyTapeIsServedOverHTTP(_ tape: String) throws {
        let play = try Playbook(OperationTape.sessions(tape))
        let multipart = play.operate("multipart", Self.tick)
        play.pass(ms: 60)
        #expect(play.take(multipart) == ["200 …"] + Self.parts + ["--\r\n", "end"])
        #expect(play.finish().verdict == .pass)
        let other = try Playbook(OperationTape.sessions(tape))
        let sse = other.operate("sse", Self.tick)
        other.pass(ms: 60)
        #expect(other.take(sse) == ["200 …"] + Self.events + [Playbook.done, "end"])
        #expect(other.finish().verdict == .pass)
    }

    @Test func chainsOfASocketAreAskedForInAnyOrder() throws {
        let play = try Playbook(OperationTape.sessions(OperationTape.socket))
        let query = play.operate("json", Self.hello)
        play.pass(ms: 10)
        play.expect(query, #"200 {"data":{"hello":"ada"}}"#)
        let stream = play.operate("multipart", Self.tick)
        play.pass(ms: 60)
        #expect(play.take(stream).count == 6)
        let report = play.finish()
        #expect(report.sessions.map(\.session) == [1, 1] && report.sessions.map(\.operation) == [1, 2])
        #expect(report.sessions.allSatisfy { $0.finished } && report.unclaimed.isEmpty && report.verdict == .pass)
    }

    @Test func aSocketIsNotServedBesideItsChains() throws {
        let play = try Playbook(OperationTape.sessions(OperationTape.socket))
        let socket = play.socket()
        play.pass(ms: 5)
        play.expect(socket, "101", #"{"type":"connection_ack"}"#)
        #expect(play.take(play.operate("json", Self.hello)).first?.hasPrefix("409 ") == true)
    }

    @Test(arguments: [OperationTape.multipart, OperationTape.sse])
    func operationsAreServedOverASocket(_ tape: String) throws {
        let play = try Playbook(OperationTape.sessions(tape + "\n" + OperationTape.hello))
        let c = play.socket()
        play.pass(ms: 1)
        play.expect(c, "101", #"{"type":"connection_ack"}"#)
        play.say(c, "{\"id\":\"a\",\"type\":\"subscribe\",\"payload\":\(Self.tick)}")
        play.pass(ms: 60)
        play.expect(
            c, #"{"id":"a","type":"next","payload":{"data":{"tick":1}}}"#,
            #"{"id":"a","type":"next","payload":{"data":{"tick":2}}}"#,
            #"{"id":"a","type":"next","payload":{"data":{"tick":3}}}"#, #"{"id":"a","type":"complete"}"#)
        play.say(c, "{\"id\":\"b\",\"type\":\"subscribe\",\"payload\":\(Self.hello)}")
        play.pass(ms: 20)
        play.expect(
            c, #"{"id":"b","type":"next","payload":{"data":{"hello":"ada"}}}"#, #"{"id":"b","type":"complete"}"#)
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions.count == 1 && report.sessions[0].others == [2])
        #expect(report.sessions[0].finished && report.unclaimed.isEmpty)
    }

    @Test func aLegacyClientIsServedInItsDialect() throws {
        let play = try Playbook(OperationTape.sessions(OperationTape.sse))
        let c = play.socket("graphql-ws")
        play.say(c, "{\"id\":\"1\",\"type\":\"start\",\"payload\":\(Self.tick)}")
        play.pass(ms: 60)
        play.expect(
            c, "101", #"{"type":"connection_ack"}"#, #"{"id":"1","type":"data","payload":{"data":{"tick":1}}}"#,
            #"{"id":"1","type":"data","payload":{"data":{"tick":2}}}"#,
            #"{"id":"1","type":"data","payload":{"data":{"tick":3}}}"#, #"{"id":"1","type":"complete"}"#)
    }

    @Test func clientsOfBothKindsShareTheTape() throws {
        let play = try Playbook(OperationTape.sessions(OperationTape.sse + "\n" + OperationTape.hello))
        let c = play.socket()
        // What another request of the client takes is not awaited from its socket.
        let query = play.operate("json", Self.hello)
        play.pass(ms: 20)
        play.expect(query, #"200 {"data":{"hello":"ada"}}"#)
        play.say(c, "{\"id\":\"a\",\"type\":\"subscribe\",\"payload\":\(Self.tick)}")
        play.pass(ms: 60)
        #expect(play.take(c).count == 6)
        #expect(play.finish().verdict == .pass)
        let sessions = play.finish().sessions
        #expect(sessions.allSatisfy { $0.finished })
        // And the other way round.
        #expect(play.take(play.operate("sse", Self.tick)).first?.hasPrefix("409 ") == true)
    }

    @Test func aLazyClientOpensASocketForEachOperation() throws {
        let play = try Playbook(OperationTape.sessions(OperationTape.sse + "\n" + OperationTape.hello))
        for body in [Self.tick, Self.hello] {
            let c = play.socket()
            play.say(c, "{\"id\":\"1\",\"type\":\"subscribe\",\"payload\":\(body)}")
            play.pass(ms: 100)
            #expect(play.take(c).last == #"{"id":"1","type":"complete"}"#)
            play.close(c, .closeFrame(code: 1000, reason: ""))
        }
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions.count == 1 && report.sessions[0].finished)
    }

    @Test(arguments: [OperationTape.socket, OperationTape.sse + "\n" + OperationTape.hello])
    func aSingleConnectionIsServed(_ tape: String) throws {
        let play = try Playbook(OperationTape.sessions(tape))
        let put = play.request("PUT", "/graphql")
        let token = try #require(play.take(put).first).dropFirst(4)
        #expect(play.answers[put]?.status == 201 && !token.isEmpty)
        let named = [HeaderField("X-GraphQL-Event-Stream-Token", String(token))]
        let json = [HeaderField("Content-Type", "application/json")]
        let run = Self.tick.dropLast() + #","extensions":{"operationId":"op-1"}}"#
        // The client may run an operation before it opens the stream.
        play.expect(play.request("POST", "/graphql", named + json, body: Array(run.utf8)), "202 ")
        let stream = play.request("GET", "/graphql", named + [HeaderField("Accept", "text/event-stream")])
        play.expect(stream, "200 …")
        #expect(play.answers[stream]?.body == Array(":\n\n".utf8))
        let second = play.request("GET", "/graphql?token=\(token)", [HeaderField("Accept", "text/event-stream")])
        play.expect(second, "409 Stream already open")
        play.pass(ms: 100)
        play.expect(
            stream, #"event: next\#ndata: {"id":"op-1","payload":{"data":{"tick":1}}}\#n\#n"#,
            #"event: next\#ndata: {"id":"op-1","payload":{"data":{"tick":2}}}\#n\#n"#,
            #"event: next\#ndata: {"id":"op-1","payload":{"data":{"tick":3}}}\#n\#n"#,
            #"event: complete\#ndata: {"id":"op-1"}\#n\#n"#)
        let query = Self.hello.dropLast() + #","extensions":{"operationId":"op-2"}}"#
        play.expect(play.request("POST", "/graphql", named + json, body: Array(query.utf8)), "202 ")
        play.pass(ms: 20)
        play.expect(
            stream, #"event: next\#ndata: {"id":"op-2","payload":{"data":{"hello":"ada"}}}\#n\#n"#,
            #"event: complete\#ndata: {"id":"op-2"}\#n\#n"#)
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished && report.sessions[0].transports == [.sse])
    }

    @Test func whatNoCarrierCanBringIsRefused() throws {
        let play = try Playbook(OperationTape.sessions(OperationTape.socket))
        #expect(play.take(play.operate("json", Self.tick)).first?.hasPrefix("406 ") == true)
    }
}
