import Testing
import WiretapeProxy
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

/// What peers have said before they end, under rules that never fire: all of it arrives before the end, and nothing behind it.
@Suite struct InterceptedSentAheadTests {
    private static let idle = ["close(1011) after message[60000, direction=toClient]", "respond(503) on request[9999]"]

    private static func request(_ target: String, _ fields: [String] = []) -> String {
        (["GET \(target) HTTP/1.1", "Host: p"] + fields + ["", ""]).joined(separator: "\r\n")
    }

    @Test func requestsBeforeTheClientsEnd() throws {
        var asked: [String] = []
        let stage = try InterceptStage(Self.idle) { stream in
            HTTPOrigin(stream) { _, head, _ in
                asked.append(head.path)
                return HTTPOrigin.ok(head.path)
            }
        }
        let client = ScriptedPeer()
        client.onConnect = { peer in
            peer.send(["/1", "/2", "/3"].map { Self.request($0) }.joined())
            peer.shut()
        }
        client.stream = stage.connect(client)
        stage.run(1_000)
        #expect(asked == ["/1", "/2", "/3"])
        #expect(client.text == ["/1", "/2", "/3"].map { HTTPOrigin.ok($0) }.joined())
        #expect(client.sawEnd && client.end == .closed)
        _ = stage.finish()
    }

    /// The server does not answer the second: its end is the client's.
    @Test func aServerThatEndsBetweenTheRequests() throws {
        let server = ScriptedPeer()
        server.answersOnce("HTTP/1.1 200 OK\r\n\r\nuntil the end") { $0.shut() }
        let stage = try InterceptStage(Self.idle) { server.serve($0) }
        let client = ScriptedPeer()
        client.onConnect = { peer in
            peer.send(Self.request("/1") + Self.request("/2"))
            peer.shut()
        }
        client.stream = stage.connect(client)
        stage.run(1_000)
        #expect(client.text.hasSuffix("until the end") && client.end == .closed)
        #expect(server.end == .closed)
        _ = stage.finish()
    }

    @Test func messagesThatWaitForOthersToPass() throws {
        let stage = try InterceptStage(["reorder(5, 10s) on message[direction=toServer]"])
        let client = stage.client()
        client.onMessage = { client, text in
            guard text == "open" else { return }
            client.say("1")
            client.stream?.halfClose()
        }
        stage.run(20_000)
        #expect(stage.servers.map(\.texts) == [["1"]])
        _ = stage.finish()
    }

    @Test(arguments: ["negotiate", "stream"]) func anAnswerWhoseChunksBreak(_ kind: String) throws {
        let events = kind == "stream"
        let first = events ? "data: 1\n\ndata: 2\n\n" : #"{"connectionId":"#
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: \(events ? "text/event-stream" : "application/json")\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n"
        let server = ScriptedPeer()
        server.answersOnce(head + HTTPOrigin.chunk(first) + "no chunk\r\n")
        let stage = try InterceptStage(Self.idle) { server.serve($0) }
        let client = ScriptedPeer()
        client.onConnect = { peer in
            peer.send(
                events
                    ? Self.request("/events", ["Accept: text/event-stream"])
                    : "POST /chat/negotiate?negotiateVersion=1 HTTP/1.1\r\nHost: p\r\nContent-Length: 0\r\n\r\n")
        }
        client.stream = stage.connect(client)
        stage.run(1_000)
        #expect(client.text.hasPrefix(head))
        let body = client.text.dropFirst(head.count)
        var told = ""
        for line in body.split(separator: "\r\n", omittingEmptySubsequences: false) where Int(line, radix: 16) == nil {
            told += line
        }
        #expect(told == first)
        #expect(!body.contains("0\r\n\r\n"))
        #expect(client.sawEnd)
        let lines = stage.finish()
        #expect(lines.contains { $0.contains(#""e":"malformed","d":"<""#) })
    }

    @Test func whatStandsBehindATunnelsAnswerIsOnTheTape() throws {
        let server = ScriptedPeer()
        server.answersOnce("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nwelcome")
        let stage = try InterceptStage(Self.idle) { server.serve($0) }
        let client = ScriptedPeer()
        client.onConnect = { $0.send(Self.request("/x", ["Connection: Upgrade", "Upgrade: x"])) }
        client.stream = stage.connect(client)
        stage.run(1_000)
        #expect(client.text.hasSuffix("\r\n\r\nwelcome"))
        client.shut()
        server.shut()
        let lines = stage.finish()
        #expect(lines.contains { $0.contains("welcome") })
    }
}
