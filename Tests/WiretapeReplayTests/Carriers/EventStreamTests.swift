import Testing
import WiretapeAttempts
import WiretapeReplay
import WiretapeReport
import WiretapeWire

@Suite struct EventStreamTests {
    private static let chat = TestTape.session(
        TestTape.handshake + """
            10 > {"type":1,"target":"Send","arguments":["hi"],"invocationId":"1"}
            20 < {"type":1,"target":"Got","arguments":["hi"]} | {"type":3,"invocationId":"1","result":null}
            30 < close 1000

            """)
    private static let call = #"{"type":1,"target":"Send","arguments":["hi"],"invocationId":"7"}"#

    @Test func aSessionOfAWebSocketIsStreamed() throws {
        let play = try Playbook([Self.chat])
        let (token, stream) = try play.startStream()
        #expect(play.answers[stream]?.headers.first("Content-Type") == "text/event-stream")
        #expect(play.post(token, Self.call) == ["200 "])
        play.pass(ms: 50)
        play.expect(
            stream,
            Playbook.event(
                #"{"type":1,"target":"Got","arguments":["hi"]} | {"type":3,"invocationId":"7","result":null}"#),
            "end")
        // The connection serves further requests, the token none.
        play.ask(stream, "POST", "/chat?id=\(token)", body: TestTape.bytes(#"{"type":7}"#))
        play.expect(stream, "404 No Connection with that ID")
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].transports == [.sse])
        #expect(report.sessions[0].attempts[0].ended?.how == .close(1000))
    }

    @Test func aClientThatClosesItsStreamHasLeft() throws {
        let play = try Playbook([Self.chat])
        let (token, stream) = try play.startStream()
        play.close(stream)
        play.expect(stream, "FIN")
        #expect(play.post(token, Self.call) == ["404 No Connection with that ID"])
        let (again, second) = try play.startStream()
        #expect(again != token)
        #expect(play.post(again, Self.call) == ["200 "])
        play.pass(ms: 50)
        #expect(play.take(second).last == "end")
        #expect(play.finish().verdict == .pass)
    }

    @Test func oneStreamAtATime() throws {
        let play = try Playbook([Self.chat])
        let (token, _) = try play.startStream()
        play.expect(play.stream(token), "409 ")
        play.expect(play.poll(token), "400 Cannot change transports mid-connection")
        let delete = play.request("DELETE", "/chat?id=\(token)")
        play.expect(delete, "400 Cannot terminate this connection using the DELETE endpoint.")
    }

    @Test func keepalivesAreEvents() throws {
        let play = try Playbook([Self.chat])
        let (_, stream) = try play.startStream()
        play.pass(ms: 15_001)
        play.expect(stream, Playbook.event(#"{"type":6}"#))
    }

    @Test func transportsThatAreLeftOutAreNeitherOfferedNorServed() throws {
        let play = try Playbook([Self.chat]) { $0.transports = [.lp] }
        let token = try #require(play.negotiate())
        let c = play.request("POST", "/chat/negotiate?negotiateVersion=1")
        let body = try JSONValue(parsing: play.answers[c]?.body ?? [])
        #expect(body["availableTransports"]?.array?.map { $0["transport"]?.string } == ["LongPolling"])
        #expect(play.take(play.stream(token)).first?.hasPrefix("404 ") == true)
        #expect(play.take(play.upgrade(token)).first?.hasPrefix("404 ") == true)
        play.expect(play.poll(token), "200 ")
    }

    @Test(arguments: [
        ("reset on Got", ["RST"]), ("disconnect on Got", ["FIN"]), ("close(1011) on Got", ["end"]),
        ("reset after Got", ["event", "RST"]), ("disconnect before Got", ["FIN"]),
    ])
    func faultsCutTheStream(_ rule: String, _ wanted: [String]) throws {
        let play = try Playbook([Self.chat], faults: [rule])
        let (token, stream) = try play.startStream()
        #expect(play.post(token, Self.call) == ["200 "])
        play.pass(ms: 100)
        #expect(play.take(stream).map { $0.hasPrefix("data: ") ? "event" : $0 } == wanted)
        #expect(play.finish().faults.map(\.cut) == [false])
    }

    @Test func aSlowReaderHoldsTheTapeBack() throws {
        var script = TestTape.handshake
        let text = String(repeating: "x", count: 1_000)
        for i in 0..<2_000 { script += "2 < {\"type\":1,\"target\":\"P\",\"arguments\":[\(i),\"\(text)\"]}\n" }
        let play = try Playbook([TestTape.session(script)], speed: .instant)
        let fast = play.stream(try #require(play.negotiate()))
        #expect(play.post(play.lastToken, #"{"protocol":"json","version":1}"#) == ["200 "])
        play.pass(ms: 1)
        #expect(play.take(fast).count == 2_002)
        let slow = try Playbook([TestTape.session(script)], speed: .instant)
        let token = try #require(slow.negotiate())
        let c = slow.stream(token)
        slow.kernelTakes = false
        #expect(slow.post(token, #"{"protocol":"json","version":1}"#) == ["200 "])
        slow.pass(ms: 1_000)
        let first = slow.take(c).count
        #expect(first > 200 && first < 300)
        slow.takeAll()
        let second = slow.take(c).count
        #expect(second > 200 && second < 300)
        slow.kernelTakes = true
        slow.takeAll()
        slow.pass(ms: 1)
        #expect(first + second + slow.take(c).count == 2_002)
    }
}
