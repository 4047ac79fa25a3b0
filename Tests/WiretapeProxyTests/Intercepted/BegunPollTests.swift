import Testing
import WiretapeProxy
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

/// Polls whose servers begin their answers long before they say something, and whose clients wait for that beginning.
@Suite struct BegunPollTests {
    private static let rs = "\u{1e}"
    private static let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    private static let blanks = String(repeating: " ", count: 20) + "\n"

    private static func message(_ n: Int) -> String {
        #"{"type":1,"target":"ReceiveMessage","arguments":[\#(n)]}"# + rs
    }

    /// A server that answers each poll with a head, and leaves the rest to the test.
    private final class Hub {
        var begins = BegunPollTests.head
        var polls: [HTTPOrigin] = []

        func answer(_ origin: HTTPOrigin, _ head: RequestHead, _ body: String) -> String {
            if head.path.hasSuffix("/negotiate") {
                return HTTPOrigin.ok(#"{"negotiateVersion":1,"connectionToken":"t1","availableTransports":[]}"#)
            }
            guard head.method == "GET" else { return HTTPOrigin.ok("") }
            polls.append(origin)
            return begins
        }

        /// The poll that waits is answered.
        func end(_ text: String) {
            polls.last?.send((text.isEmpty ? "" : HTTPOrigin.chunk(text)) + "0\r\n\r\n")
        }
    }

    private func stage(_ rule: String) throws -> (InterceptStage, Hub) {
        let hub = Hub()
        return (try InterceptStage([rule]) { HTTPOrigin($0) { hub.answer($0, $1, $2) } }, hub)
    }

    private func ask(_ stage: InterceptStage, _ method: String, _ target: String, _ body: String = "") -> ScriptedPeer {
        let peer = ScriptedPeer()
        let length = method == "POST" ? "Content-Length: \(body.utf8.count)\r\n" : ""
        peer.onConnect = { $0.send("\(method) \(target) HTTP/1.1\r\nHost: p\r\n\(length)\r\n\(body)") }
        peer.stream = stage.connect(peer)
        stage.run(10)
        return peer
    }

    /// A SignalR session up to its first messages, and the poll that waits for those.
    private func poll(_ rule: String) throws -> (InterceptStage, Hub, ScriptedPeer) {
        let (stage, hub) = try stage(rule)
        ask(stage, "POST", "/chat/negotiate?negotiateVersion=1").shut()
        let first = ask(stage, "GET", "/chat?id=t1")
        hub.end("")
        ask(stage, "POST", "/chat?id=t1", #"{"protocol":"json","version":1}"# + Self.rs).shut()
        let second = ask(stage, "GET", "/chat?id=t1")
        hub.end("{}" + Self.rs)
        stage.run(50)
        for peer in [first, second] { peer.shut() }
        return (stage, hub, ask(stage, "GET", "/chat?id=t1"))
    }

    private static let both = message(1) + message(2)

    @Test(arguments: [
        ("drop on Other", HTTPOrigin.chunk(both) + "0\r\n\r\n", StreamEnd?.none),
        ("drop on ReceiveMessage[1]", HTTPOrigin.chunk(message(2)) + "0\r\n\r\n", nil),
        ("drop on ReceiveMessage", "0\r\n\r\n", nil),
        ("duplicate(1) on ReceiveMessage[2]", HTTPOrigin.chunk(both + message(2)) + "0\r\n\r\n", nil),
        ("reset on ReceiveMessage[1]", "", .reset),
        ("truncate(60) + reset on ReceiveMessage[1]", "35\r\n{\"type\":1", .reset),
        ("truncate(20) + reset on ReceiveMessage[1]", "", .reset),
        ("delay(1s) on ReceiveMessage[1]", HTTPOrigin.chunk(both) + "0\r\n\r\n", nil),
    ]) func theHeadGoesAheadOfWhatRulesTouch(_ rule: String, _ rest: String, _ end: StreamEnd?) throws {
        let (stage, hub, peer) = try poll(rule)
        #expect(peer.text.isEmpty)
        stage.run(30)
        #expect(peer.text == Self.head)
        hub.end(Self.both)
        stage.run(2_000)
        #expect(String(peer.text.dropFirst(Self.head.count)) == rest)
        #expect(peer.end == end)
        peer.shut()
        _ = stage.finish()
    }

    /// What a server says at once is one answer, with a length of its own where a rule has touched it.
    @Test func whatComesAtOnceIsOneAnswer() throws {
        let (stage, hub, peer) = try poll("drop on ReceiveMessage[1]")
        hub.end(Self.both)
        stage.run(30)
        #expect(peer.text == HTTPOrigin.ok(Self.message(2)), "\(peer.text)")
        peer.shut()
        _ = stage.finish()
    }

    /// The server ends in an answer that has begun: its client sees a body that is cut, and no second head.
    @Test func aBegunAnswerIsCutByItsServer() throws {
        let (stage, hub, peer) = try poll("drop on ReceiveMessage[9]")
        stage.run(30)
        hub.polls.last?.send("20\r\nhalf")
        hub.polls.last?.stream?.halfClose()
        stage.run(100)
        #expect(peer.text == Self.head + HTTPOrigin.chunk("half"))
        #expect(peer.end == .closed)
        _ = stage.finish()
    }

    /// A body that is too long to be put together goes on behind the head that the client has already.
    @Test func aBegunAnswerIsTooLongForRules() throws {
        let (stage, hub, peer) = try poll("drop on ReceiveMessage[1]")
        stage.run(30)
        let long = String(repeating: "x", count: 3 << 20)
        hub.end(long)
        stage.run(1_000)
        #expect(peer.text.hasPrefix(Self.head) && peer.text.hasSuffix("0\r\n\r\n"))
        #expect(peer.text.utf8.count { $0 == UInt8(ascii: "x") } == long.count)
        #expect(peer.text.split(separator: "HTTP/1.1").count == 1)
        peer.shut()
        _ = stage.finish()
    }

    // MARK: Atmosphere, whose servers send blanks behind the head

    private func atmosphere(_ rule: String) throws -> (InterceptStage, Hub, ScriptedPeer) {
        let (stage, hub) = try stage(rule)
        hub.begins = Self.head + HTTPOrigin.chunk(Self.blanks)
        func target(_ id: String) -> String {
            "/chat?X-Atmosphere-tracking-id=\(id)&X-Atmosphere-Framework=4.0.2-javascript&X-Atmosphere-Transport=long-polling"
                + "&X-Atmosphere-TrackMessageSize=true&X-atmo-protocol=true"
        }
        let first = ask(stage, "GET", target("0"))
        let id = "a6d170ca-ba62-4b81-a6ae-d0cd82326821"
        hub.end("41|\(id)|0|X|")
        stage.run(30)
        #expect(first.text.contains(id))
        first.shut()
        return (stage, hub, ask(stage, "GET", target(id)))
    }

    @Test(arguments: [
        ("drop on Message[9]", blanks, "2|hi"), ("drop on Message[1]", blanks, ""),
        (#"replace("3|you") on Message[1]"#, blanks, "3|you"), ("drop on Padding", "", "2|hi"),
    ]) func blanksGoAhead(_ rule: String, _ ahead: String, _ rest: String) throws {
        let (stage, hub, peer) = try atmosphere(rule)
        stage.run(30)
        let begun = Self.head + (ahead.isEmpty ? "" : HTTPOrigin.chunk(ahead))
        #expect(peer.text == begun, "\(peer.text)")
        hub.end("2|hi")
        stage.run(100)
        #expect(peer.text == begun + (rest.isEmpty ? "" : HTTPOrigin.chunk(rest)) + "0\r\n\r\n", "\(peer.text)")
        peer.shut()
        _ = stage.finish()
    }
}
