import Testing
import WiretapeBytes
import WiretapeCodecs
import WiretapeFaults
import WiretapeProtocol
import WiretapeProxy
import WiretapeReplay
internal import WiretapeReplayServer
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

/// How a client's close frame is answered in replay: the bytes that the client gets.
struct ClosingTests {
    /// What servers are recorded to do with the close frame 1000 `bye`; nil: the client just went.
    private enum Recorded { case close(UInt16?, String), fin, rst, nothing }

    /// Plays a session of one message to a client that sends these bytes after its own, and gives what it gets behind the
    /// upgrade, and how its connection ended.
    private func play(
        _ recorded: Recorded, _ bytes: [UInt8], subprotocol: String? = nil, faults: [String] = []
    ) throws -> (frames: [UInt8], end: StreamEnd?, seconds: Double) {
        let loop = SimulatedLoop(seed: 1, conditions: .calm)
        var options = ReplayOptions()
        options.speed = .instant
        var plan = FaultPlan()
        for fault in faults { plan.append(try FaultRule(parsing: fault, from: RuleSource(file: "--fault"))) }
        let engine = ReplayEngine(
            sessions: sessions(recorded, subprotocol), tapeName: "test.tape", options: options, faults: plan, seed: 1)
        let server = ReplayService(loop, driver: engine)
        let address = try server.listen(on: Address(host: "127.0.0.1", port: 0))
        let client = ScriptedPeer()
        let offer = subprotocol.map { "Sec-WebSocket-Protocol: \($0)\r\n" } ?? ""
        client.onConnect = { peer in
            peer.send(Array("GET /chat HTTP/1.1\r\n\(offer)".utf8) + ReplayStage.opening.dropFirst(20))
            peer.send(ReplayStage.frame(first(subprotocol)))
        }
        client.stream = loop.connect(to: address, client)
        _ = loop.run(until: loop.now.advanced(by: 1_000_000_000))
        client.send(bytes)
        let begun = loop.now
        var ended = begun
        while client.end == nil, loop.now.since(begun) < 20_000_000_000 {
            _ = loop.run(until: loop.now.advanced(by: 10_000_000))
            ended = loop.now
        }
        var isDone = false
        server.stop { isDone = true }
        _ = loop.run(until: loop.now.advanced(by: 2_000_000_000))
        #expect(isDone)
        loop.shutdown()
        #expect(loop.violations == [])
        let received = client.received
        let blank: [UInt8] = [13, 10, 13, 10]
        let head = try #require(received.indices.first { received[$0...].starts(with: blank) }, "\(client.text)")
        return (Array(received.dropFirst(head + 4)), client.end, Double(ended.since(begun)) / 1e9)
    }

    private func first(_ subprotocol: String?) -> String {
        subprotocol == "signalr" ? "{\"protocol\":\"json\",\"version\":1}\u{1e}" : "hello"
    }

    private func sessions(_ recorded: Recorded, _ subprotocol: String?) -> [RecordedSession] {
        let asked = RequestHead(
            method: "GET", target: "/chat",
            headers: [HeaderField("Connection", "Upgrade"), HeaderField("Upgrade", "websocket")])
        let answered = ResponseHead(
            status: 101,
            headers: [HeaderField("Upgrade", "websocket")]
                + (subprotocol.map { [HeaderField("Sec-WebSocket-Protocol", $0)] } ?? []))
        var kinds: [TapeEvent.Kind] = [
            .open(.init()), .request(x: 1, asked, .none),
            .response(x: 1, answered, .none, interim: false, coding: nil, proxy: false),
            .message(.toServer, .text, Array(first(subprotocol).utf8), deflated: false, fragments: []),
            .close(.toServer, code: 1000, reason: "bye"),
        ]
        switch recorded {
        case .close(let code, let reason): kinds.append(.close(.toClient, code: code, reason: reason))
        case .fin: kinds.append(.gone(by: .server, how: .fin, why: nil))
        case .rst: kinds.append(.gone(by: .server, how: .rst, why: nil))
        case .nothing: kinds[4] = .gone(by: .client, how: .rst, why: nil)
        }
        var reader = SessionReader(codecs: Codecs.all)
        var messages: [DecodedMessage] = []
        for (i, kind) in kinds.enumerated() {
            reader.read(TapeEvent(time: UInt64(i), connection: 1, kind), number: UInt64(i + 1), into: &messages)
        }
        return reader.finish()
    }

    private func close(_ code: UInt16?, _ reason: String = "", mask: UInt32? = nil) -> [UInt8] {
        var out: [UInt8] = []
        FrameWriter.appendClose(code: code, reason: reason, mask: mask, into: &out)
        return out
    }

    private func asked(_ code: UInt16?, _ reason: String = "") -> [UInt8] { close(code, reason, mask: 0x0102_0304) }

    @Test func asRecorded() throws {
        for (code, reason) in [(1000, "Normal Closure"), (1000, ""), (4123, "so"), (nil, "")] as [(UInt16?, String)] {
            let got = try play(.close(code, reason), asked(1000, "bye"))
            #expect(got.frames == close(code, reason) && got.end == .closed, "\(code ?? 0) \(reason)")
        }
        let fin = try play(.fin, asked(1000, "bye"))
        #expect(fin.frames == [] && fin.end == .closed)
        let rst = try play(.rst, asked(1000, "bye"))
        #expect(rst.frames == [] && rst.end == .reset)
    }

    /// To another code or reason the tape has no answer: a server that repeats what it hears repeats that.
    @Test func anotherCodeOrReason() throws {
        let echoes = Recorded.close(1000, "bye")
        #expect(try play(echoes, asked(1001, "tab closed")).frames == close(1001, "tab closed"))
        #expect(try play(echoes, asked(1000, "other words")).frames == close(1000, "other words"))
        #expect(try play(echoes, asked(nil)).frames == close(nil))
        // A server that has words of its own for that code keeps to them.
        #expect(try play(.close(1000, "so long"), asked(1000, "other words")).frames == close(1000, "so long"))
        #expect(try play(.close(1000, "so long"), asked(1001, "tab closed")).frames == close(1001, "tab closed"))
    }

    @Test func whereTheClientVanished() throws {
        #expect(try play(.nothing, asked(1000, "bye")).frames == close(1000, "bye"))
        #expect(try play(.nothing, asked(4321, "x"), subprotocol: "signalr").frames.suffix(4) == close(1000)[...])
    }

    @Test func rulesAboutTheClientsClose() throws {
        let recorded = Recorded.close(1000, "Normal Closure")
        let other = try play(recorded, asked(1000, "bye"), faults: ["close(4000, \"no\") on close[by=client]"])
        #expect(other.frames == close(4000, "no") && other.end == .closed)
        let reset = try play(recorded, asked(1000, "bye"), faults: ["reset on close[by=client]"])
        #expect(reset.frames == [] && reset.end == .reset)
        let fin = try play(recorded, asked(1000, "bye"), faults: ["disconnect on close[by=client]"])
        #expect(fin.frames == [] && fin.end == .closed)
        let late = try play(recorded, asked(1000, "bye"), faults: ["delay(2s) on close[by=client]"])
        #expect(late.frames == close(1000, "Normal Closure") && late.seconds >= 2)
        // Nobody has heard it: no answer, and the end comes when the server's patience is over.
        let dropped = try play(recorded, asked(1000, "bye"), faults: ["drop on close[by=client]"])
        #expect(dropped.frames == [] && dropped.end == .closed && dropped.seconds >= 5)
    }
}
