import Testing
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// GraphQL over one event stream that the client reserves first (graphql-sse, "single connection mode").
@Suite struct SingleConnectionTests {
    private static let stream = #"["X-GraphQL-Event-Stream-Token","t1"]"#
    private static let json = #"["Content-Type","application/json"]"#

    private static let tock = "OnTock"

    private static func run(_ id: String, _ name: String = "OnTick") -> String {
        #"{"query":"subscription \#(name) { tick }","extensions":{"operationId":"\#(id)"}}"#
    }

    private static func next(_ id: String, _ n: Int) -> String {
        #"event: next\#ndata: {"id":"\#(id)","payload":{"data":{"tick":\#(n)}}}\#n\#n"#
    }

    private static func text(_ text: String) -> String {
        let escaped = text.replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        return "\"text\":\"\(escaped)\""
    }

    /// A reservation, its stream, one operation with two results, and `rest`.
    private static func tape(_ rest: String = "") throws -> CodedTape.Reading {
        let lines = """
            {"tape":1,"started":"2026-01-01T00:00:00.000000Z"}
            {"t":0,"c":1,"e":"open"}
            {"t":1000000,"c":1,"e":"request","x":1,"method":"PUT","target":"/stream","headers":[]}
            {"t":2000000,"c":1,"e":"response","x":1,"status":201,"headers":[["Content-Type","text/plain"]],"text":"t1"}
            {"t":3000000,"c":2,"e":"open"}
            {"t":3000000,"c":2,"e":"request","x":1,"method":"GET","target":"/stream","headers":[["Accept","text/event-stream"],\(stream)]}
            {"t":4000000,"c":2,"e":"response","x":1,"status":200,"headers":[["Content-Type","text/event-stream"]],"stream":true}
            {"t":10000000,"c":1,"e":"request","x":2,"method":"POST","target":"/stream","headers":[\(json),\(stream)],\(text(run("a")))}
            {"t":11000000,"c":1,"e":"response","x":2,"status":202,"headers":[]}
            {"t":20000000,"c":2,"e":"chunk","x":1,"d":"<",\(text(next("a", 1)))}
            {"t":30000000,"c":2,"e":"chunk","x":1,"d":"<",\(text(next("a", 2)))}

            """
        return try CodedTape.read(Array((lines + rest).utf8))
    }

    /// A second operation with one result.
    private static let second = """
        {"t":40000000,"c":1,"e":"request","x":3,"method":"POST","target":"/stream","headers":[\(json),\(stream)],\(text(run("b", tock)))}
        {"t":41000000,"c":1,"e":"response","x":3,"status":202,"headers":[]}
        {"t":50000000,"c":2,"e":"chunk","x":1,"d":"<",\(text(next("b", 7)))}

        """

    /// The client ends its stream and then its operation, which the server does not know any more.
    private static let farewell = """
        {"t":40000000,"c":2,"e":"gone","by":"client","how":"fin"}
        {"t":50000000,"c":1,"e":"request","x":3,"method":"DELETE","target":"/stream?operationId=a","headers":[\(stream)]}
        {"t":51000000,"c":1,"e":"response","x":3,"status":404,"headers":[]}

        """

    private func reserve(_ play: Playbook) throws -> HeaderField {
        let put = play.request("PUT", "/stream")
        #expect(play.answers[put]?.status == 201)
        return HeaderField("X-GraphQL-Event-Stream-Token", String(try #require(play.take(put).first).dropFirst(4)))
    }

    private func open(_ play: Playbook, _ token: HeaderField) -> ConnectionID {
        play.request("GET", "/stream", [HeaderField("Accept", "text/event-stream"), token])
    }

    private func run(_ play: Playbook, _ id: String, _ token: HeaderField, _ name: String = "OnTick") {
        let headers = [HeaderField("Content-Type", "application/json"), token]
        play.expect(play.request("POST", "/stream", headers, body: Array(Self.run(id, name).utf8)), "202 ")
    }

    @Test(arguments: [true, false]) func aMessageAfterTheStreamEndIsOptional(_ isSent: Bool) throws {
        let play = try Playbook(try Self.tape(Self.farewell).sessions, speed: .instant)
        let token = try reserve(play)
        let stream = open(play, token)
        run(play, "mine", token)
        play.pass(ms: 1)
        play.expect(stream, "200 …", Self.next("mine", 1), Self.next("mine", 2))
        play.close(stream, .fin)
        if isSent {
            let farewell = play.request("DELETE", "/stream?operationId=mine", [token])
            #expect(play.take(farewell).first?.hasPrefix("404") == true)
        }
        let report = play.finish()
        #expect(report.verdict == .pass, "\(report.reasons)")
        #expect(report.sessions.map(\.matched) == [isSent ? 2 : 1])
    }

    /// The client cancels its operation, the server confirms, and the client ends its stream.
    private static let cancellation = """
        {"t":40000000,"c":1,"e":"request","x":3,"method":"DELETE","target":"/stream?operationId=a","headers":[\(stream)]}
        {"t":41000000,"c":1,"e":"response","x":3,"status":200,"headers":[]}
        {"t":50000000,"c":2,"e":"gone","by":"client","how":"fin"}

        """

    /// The end of the stream ends the operation as well. A client that keeps its stream has to cancel.
    @Test(arguments: [ClientEnd.fin, .rst("reset"), nil]) func aClientCancelsUnlessItEndsItsStream(
        _ end: ClientEnd?
    ) throws {
        let play = try Playbook(try Self.tape(Self.cancellation).sessions, speed: .instant)
        let token = try reserve(play)
        let stream = open(play, token)
        run(play, "mine", token)
        play.pass(ms: 1)
        if let end { play.close(stream, end) } else { play.pass(ms: 60_000) }
        let report = play.finish()
        #expect(report.verdict == (end == nil ? .diverged : .pass), "\(report.reasons)")
        #expect(report.sessions.first?.missing.count == (end == nil ? 1 : 0))
    }

    /// A client that lost its stream and returned still has to cancel.
    @Test func aClientThatReturnsHasToCancel() throws {
        let play = try Playbook(
            try Self.tape(Self.cancellation).sessions, speed: .instant, faults: ["reset after next[1, per=run]"])
        let first = try reserve(play)
        _ = open(play, first)
        run(play, "a", first)
        play.pass(ms: 100)
        let second = try reserve(play)
        _ = open(play, second)
        run(play, "b", second)
        play.pass(ms: 60_000)
        let report = play.finish()
        #expect(report.sessions.first?.missing.count == 1)
        #expect(report.verdict == .diverged, "\(report.reasons)")
    }

    /// The server grants every reservation. The one that the client opens carries the session.
    @Test func everyReservationIsGranted() throws {
        let play = try Playbook(try Self.tape().sessions, faults: ["reset after next[1, per=run]"])
        let first = try reserve(play)
        let stream = open(play, first)
        run(play, "a", first)
        play.pass(ms: 100)
        #expect(play.take(stream) == ["200 …", Self.next("a", 1), "RST"])
        let second = try reserve(play)
        let again = open(play, second)
        let third = try reserve(play)
        run(play, "b", second)
        play.pass(ms: 100)
        #expect(play.take(again).last == Self.next("b", 2))
        play.close(again, .rst("reset"))
        let last = open(play, third)
        #expect(play.take(last) == ["200 …"])
        let report = play.finish()
        #expect(report.verdict == .pass, "\(report.reasons)")
    }

    /// A client with two streams receives each result on the stream on which it sent the operation.
    @Test func twoStreamsShareTheSession() throws {
        let play = try Playbook(try Self.tape(Self.second).sessions)
        let tokens = [try reserve(play), try reserve(play)]
        let streams = tokens.map { open(play, $0) }
        run(play, "b1", tokens[1], Self.tock)
        run(play, "a1", tokens[0])
        play.pass(ms: 200)
        play.expect(streams[0], "200 …", Self.next("a1", 1), Self.next("a1", 2))
        play.expect(streams[1], "200 …", Self.next("b1", 7))
        let report = play.finish()
        #expect(report.verdict == .pass, "\(report.reasons)")
        #expect(report.sessions.map(\.matched) == [1, 1])
    }

    /// A third stream knows the other two, and they know it.
    @Test func threeStreamsShareTheSession() throws {
        let play = try Playbook(try Self.tape(Self.second).sessions) { $0.keepalive = .off }
        let tokens = try (1...3).map { _ in try reserve(play) }
        let streams = tokens.map { open(play, $0) }
        run(play, "a1", tokens[0])
        run(play, "b1", tokens[1], Self.tock)
        play.pass(ms: 30_000)
        play.expect(streams[1], "200 …", Self.next("b1", 7))
        play.expect(streams[2], "200 …")
        let report = play.finish()
        #expect(report.verdict == .pass, "\(report.reasons)")
    }

    @Test func aClientThatReturnsMayOpenTwoStreams() throws {
        let play = try Playbook(try Self.tape(Self.second).sessions, faults: ["reset after next[1, per=run]"])
        let first = try reserve(play)
        let stream = open(play, first)
        run(play, "a1", first)
        run(play, "b1", first, Self.tock)
        play.pass(ms: 100)
        #expect(play.take(stream).last == "RST")
        let tokens = [try reserve(play), try reserve(play)]
        let streams = tokens.map { open(play, $0) }
        run(play, "b2", tokens[0], Self.tock)
        run(play, "a2", tokens[1])
        play.pass(ms: 200)
        play.expect(streams[0], "200 …", Self.next("b2", 7))
        play.expect(streams[1], "200 …", Self.next("a2", 2))
        let report = play.finish()
        #expect(report.verdict == .pass, "\(report.reasons)")
    }
}
