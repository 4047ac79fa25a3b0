import Testing
import WiretapeAttempts
import WiretapeProxy
import WiretapeReport
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

/// What rules do to requests and to sessions over HTTP, seen by raw clients.
@Suite struct InterceptedRequestTests {
    private static let rs = "\u{1e}"
    private static let negotiation =
        #"{"negotiateVersion":1,"connectionId":"c1","connectionToken":"t1","availableTransports":[]}"#

    private static func message(_ n: Int) -> String {
        #"{"type":1,"target":"ReceiveMessage","arguments":[\#(n)]}"# + rs
    }

    /// A SignalR server as far as these tests need one. It notes what it was asked.
    private final class Hub {
        var asked: [String] = []
        var stream: HTTPOrigin?
        var polls: [String] = []
        var negotiation = InterceptedRequestTests.negotiation

        func answer(_ origin: HTTPOrigin, _ head: RequestHead, _ body: String) -> String {
            asked.append("\(head.method) \(head.path)\(body.isEmpty ? "" : " \(body)")")
            if head.path.hasSuffix("/negotiate") { return HTTPOrigin.ok(self.negotiation) }
            if head.headers.first("Upgrade") != nil {
                return "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                    + "Sec-WebSocket-Accept: right\r\nSec-WebSocket-Protocol: a\r\n\r\n"
            }
            if head.method == "POST" {
                if body.contains("protocol") { stream?.send(HTTPOrigin.chunk("data: {}\(rs)\r\n\r\n")) }
                return HTTPOrigin.ok("")
            }
            if head.headers.first("Accept") == "text/event-stream" {
                stream = origin
                return HTTPOrigin.events + HTTPOrigin.chunk(":\r\n")
            }
            return HTTPOrigin.ok(polls.isEmpty ? "" : polls.removeFirst())
        }
    }

    private func stage(_ rules: [String]) throws -> (InterceptStage, Hub) {
        let hub = Hub()
        let stage = try InterceptStage(rules) { HTTPOrigin($0) { hub.answer($0, $1, $2) } }
        return (stage, hub)
    }

    /// One request over a connection of its own.
    private func ask(
        _ stage: InterceptStage, _ method: String, _ target: String, _ fields: [String] = [], _ body: String = "",
        for milliseconds: UInt64 = 100
    ) -> ScriptedPeer {
        let peer = ScriptedPeer()
        var lines = ["\(method) \(target) HTTP/1.1", "Host: p"] + fields
        if method == "POST" { lines.append("Content-Length: \(body.utf8.count)") }
        let text = (lines + ["", body]).joined(separator: "\r\n")
        peer.onConnect = { $0.send(text) }
        peer.stream = stage.connect(peer)
        stage.run(milliseconds)
        return peer
    }

    private let upgrade = ["Connection: Upgrade", "Upgrade: websocket"]
    private let events = ["Accept: text/event-stream"]

    /// A body that rules read is asked for by the relay itself: of the server's interim answers the client lacks the 100 alone.
    @Test func whoWaitsToGoOnIsToldOnce() throws {
        let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n"
        let stage = try InterceptStage(["close(1011) after message[60000, direction=toClient]"]) {
            HTTPOrigin($0) { _, _, body in
                "HTTP/1.1 100 Continue\r\n\r\n" + hints + HTTPOrigin.ok(body.hasPrefix("{") ? "well" : "nothing")
            }
        }
        let peer = ScriptedPeer()
        let body = Self.message(1)
        let head = [
            "POST /chat?id=1 HTTP/1.1", "Host: p", "Expect: 100-continue", "Content-Type: text/plain",
            "Content-Length: \(body.utf8.count)", "", "",
        ].joined(separator: "\r\n")
        peer.onConnect = { $0.send(head) }
        let stream = stage.connect(peer)
        peer.stream = stream
        stage.run(100)
        #expect(peer.text == "HTTP/1.1 100 Continue\r\n\r\n")
        stream.write(Array(body.utf8).span)
        stage.run(100)
        #expect(peer.text == "HTTP/1.1 100 Continue\r\n\r\n" + hints + HTTPOrigin.ok("well"))
        peer.shut()
        _ = stage.finish()
    }

    @Test func answersOfOurs() throws {
        let (stage, hub) = try stage([#"respond(503, Retry-After=1, "later") on negotiate[1]"#])
        let first = ask(stage, "POST", "/chat/negotiate?negotiateVersion=1")
        #expect(first.text.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
        #expect(first.text.contains("Retry-After: 1\r\n"))
        #expect(first.text.hasSuffix("later"))
        #expect(hub.asked.isEmpty)
        let second = ask(stage, "POST", "/chat/negotiate?negotiateVersion=1")
        #expect(second.text.contains("c1"))
        let attempts = stage.report.sessions.flatMap(\.attempts)
        #expect(attempts.map { $0.outcome } == [.status, nil])
        #expect(attempts[0].steps.map(\.status) == [503])
        #expect(attempts[0].steps[0].retryAfter == 1_000_000_000)
        #expect(attempts[0].ended?.by.isRule == true)
        first.shut()
        second.shut()
        let lines = stage.finish()
        #expect(lines.contains { $0.contains(#""e":"fault""#) && $0.contains("respond(503") })
        #expect(lines.contains { $0.contains(#""status":503"#) && $0.contains(#""by":"proxy""#) })
    }

    @Test(arguments: [
        ("reset on negotiate", StreamEnd.reset, ""), ("refuse on accept", .reset, ""),
        ("disconnect on negotiate", .closed, ""), ("malformed(head) on negotiate", .closed, "HTT"),
    ]) func requestsThatFail(_ rule: String, _ end: StreamEnd, _ prefix: String) throws {
        let (stage, hub) = try stage([rule])
        let peer = ask(stage, "POST", "/chat/negotiate?negotiateVersion=1")
        #expect(peer.text.hasPrefix(prefix) && (!prefix.isEmpty || peer.text.isEmpty))
        #expect(peer.end == end)
        #expect(hub.asked.isEmpty)
        #expect(stage.report.unfired.isEmpty)
        _ = stage.finish()
    }

    @Test func aBodyThatCannotBeRead() throws {
        let (stage, hub) = try stage(["malformed(body) on negotiate"])
        let peer = ask(stage, "POST", "/chat/negotiate?negotiateVersion=1", ["Origin: http://page"])
        #expect(peer.text.hasPrefix("HTTP/1.1 200 OK"))
        #expect(peer.text.hasSuffix(#"[{"tran"#))
        #expect(peer.text.contains("Access-Control-Allow-Origin: http://page\r\n"))
        #expect(hub.asked.isEmpty)
        peer.shut()
        _ = stage.finish()
    }

    @Test func redirectsThatGoRound() throws {
        let (stage, hub) = try stage(["redirect-loop on negotiate[1]"])
        let peer = ask(stage, "POST", "/chat/negotiate?negotiateVersion=1")
        #expect(peer.text.hasPrefix("HTTP/1.1 307"))
        #expect(peer.text.contains("Location: /chat/negotiate?negotiateVersion=1&wiretape-redirect=1\r\n"))
        let again = ask(stage, "POST", "/chat/negotiate?negotiateVersion=1&wiretape-redirect=1")
        #expect(again.text.contains("Location: /chat/negotiate?negotiateVersion=1&wiretape-redirect=2\r\n"))
        #expect(hub.asked.isEmpty && stage.report.faults.count == 1)
        peer.shut()
        again.shut()
        _ = stage.finish()
    }

    @Test func answersToUpgradesThatAreWrong() throws {
        let (stage, _) = try stage(["wrong-accept on upgrade[path=/a]", #"wrong-subprotocol("x") on upgrade[path=/b]"#])
        let first = ask(stage, "GET", "/a", upgrade)
        #expect(first.text.hasPrefix("HTTP/1.1 101"))
        #expect(!first.text.contains("Sec-WebSocket-Accept: right"))
        let second = ask(stage, "GET", "/b", upgrade)
        #expect(second.text.contains("Sec-WebSocket-Accept: right"))
        #expect(second.text.contains("Sec-WebSocket-Protocol: x\r\n"))
        first.shut()
        second.shut()
        _ = stage.finish()
    }

    @Test func aSlowAnswer() throws {
        let (stage, _) = try stage(["delay(300ms) on negotiate"])
        let peer = ask(stage, "POST", "/chat/negotiate?negotiateVersion=1", for: 290)
        #expect(peer.text.isEmpty)
        stage.run(50)
        #expect(peer.text.contains("c1"))
        peer.shut()
        _ = stage.finish()
    }

    @Test func aTransportThatStopsWorking() throws {
        let (stage, hub) = try stage(["downgrade(ws) after negotiate"])
        let first = ask(stage, "POST", "/chat/negotiate?negotiateVersion=1")
        let socket = ask(stage, "GET", "/chat?id=t1", upgrade)
        #expect(socket.text.hasPrefix("HTTP/1.1 404"))
        let stream = ask(stage, "GET", "/chat?id=t1", events)
        #expect(stream.text.contains("text/event-stream"))
        #expect(hub.asked == ["POST /chat/negotiate", "GET /chat"])
        for peer in [first, socket, stream] { peer.shut() }
        _ = stage.finish()
    }

    @Test(arguments: ["downgrade(ws, lp) on negotiate", "downgrade(ws, lp) on connect"])
    func aTransportThatStopsWorkingIsNotOffered(_ rule: String) throws {
        let (stage, hub) = try stage([rule])
        hub.negotiation =
            #"{"negotiateVersion":1,"useStatefulReconnect":true,"connectionToken":"t1","availableTransports":["#
            + #"{"transport":"WebSockets","transferFormats":["Text"]},{"transport":"ServerSentEvents","transferFormats":["Text"]},"#
            + #"{"transport":"LongPolling","transferFormats":["Text"]}],"connectionId":"c1"}"#
        let peer = ask(stage, "POST", "/chat/negotiate?negotiateVersion=1")
        let parts = peer.text.split(separator: "\r\n\r\n").map(String.init)
        #expect(
            parts.last
                == #"{"negotiateVersion":1,"useStatefulReconnect":false,"connectionToken":"t1","availableTransports":["#
                + #"{"transport":"ServerSentEvents","transferFormats":["Text"]}],"connectionId":"c1"}"#)
        #expect(parts.first?.contains("Content-Length: \(parts.last?.utf8.count ?? 0)") == true, "\(parts)")
        let poll = ask(stage, "GET", "/chat?id=t1")
        #expect(poll.text.hasPrefix("HTTP/1.1 404"))
        let stream = ask(stage, "GET", "/chat?id=t1", events)
        #expect(stream.text.contains("text/event-stream"))
        for one in [peer, poll, stream] { one.shut() }
        _ = stage.finish()
    }

    /// Polling that is under way goes on: it ends by another rule, or by itself.
    @Test func anOpenConnectionOutlivesItsTransport() throws {
        let (stage, hub) = try stage(["downgrade(lp) after ReceiveMessage[1]"])
        hub.polls = [Self.message(1), Self.message(2)]
        let first = ask(stage, "POST", "/chat/negotiate?negotiateVersion=1")
        let polls = (1...2).map { _ in ask(stage, "GET", "/chat?id=t1") }
        #expect(polls[1].text.contains("[2]"), "\(polls[1].text)")
        for one in [first] + polls { one.shut() }
        _ = stage.finish()
    }

    @Test func anOutage() throws {
        let (stage, hub) = try stage(["outage(2s, answer=503) since run=1s"])
        let idle = ask(stage, "GET", "/chat?id=t1", events)
        #expect(idle.end == nil)
        stage.run(1_000)
        #expect(idle.end == .reset)
        let away = ask(stage, "POST", "/chat/negotiate?negotiateVersion=1")
        #expect(away.text.hasPrefix("HTTP/1.1 503"))
        stage.run(2_000)
        let back = ask(stage, "POST", "/chat/negotiate?negotiateVersion=1")
        #expect(back.text.contains("c1"))
        #expect(hub.asked.count == 2)
        away.shut()
        back.shut()
        _ = stage.finish()
    }

    @Test func anOutageThatRefusesConnections() throws {
        let (stage, _) = try stage(["outage(2s) since run=1s"])
        // The run begins with the first client, who asks for nothing.
        let first = ScriptedPeer()
        first.stream = stage.connect(first)
        stage.run(1_100)
        let away = ask(stage, "POST", "/chat/negotiate?negotiateVersion=1")
        #expect(away.end == .reset && away.text.isEmpty)
        #expect(stage.report.sessions.isEmpty)
        stage.run(2_000)
        let back = ask(stage, "POST", "/chat/negotiate?negotiateVersion=1")
        #expect(back.text.contains("c1"))
        back.shut()
        _ = stage.finish()
    }

    // MARK: Event streams

    /// Opens a stream and says the handshake; the hub then sends messages 1 to 4.
    private func stream(_ stage: InterceptStage, _ hub: Hub) -> ScriptedPeer {
        ask(stage, "POST", "/chat/negotiate?negotiateVersion=1").shut()
        let peer = ask(stage, "GET", "/chat?id=t1", events)
        ask(stage, "POST", "/chat?id=t1", [], #"{"protocol":"json","version":1}"# + Self.rs).shut()
        for n in 1...4 {
            hub.stream?.send(HTTPOrigin.chunk("data: \(Self.message(n))\r\n\r\n"))
            stage.run(10)
        }
        stage.run(1_000)
        return peer
    }

    private func numbers(_ text: String) -> [String] {
        text.split(separator: "\"arguments\":[").dropFirst().map { String($0.prefix { $0 != "]" }) }
    }

    @Test(arguments: [
        ("drop on ReceiveMessage[2]", ["1", "3", "4"], StreamEnd?.none),
        ("duplicate(1) on ReceiveMessage[2]", ["1", "2", "2", "3", "4"], nil),
        ("replace(/arguments/0=9) on ReceiveMessage[3]", ["1", "2", "9", "4"], nil),
        ("reset after ReceiveMessage[3]", ["1", "2", "3"], .reset),
        ("disconnect on ReceiveMessage[3]", ["1", "2"], .closed),
        ("close after ReceiveMessage[2]", ["1", "2"], .closed),
        ("reorder on ReceiveMessage[1]", ["2", "1", "3", "4"], nil),
        ("reorder(2) on ReceiveMessage[2]", ["1", "3", "4", "2"], nil),
        ("reorder(9, 300ms) on ReceiveMessage[2]", ["1", "3", "4", "2"], nil),
    ]) func events(_ rule: String, _ expected: [String], _ end: StreamEnd?) throws {
        let (stage, hub) = try stage([rule])
        let peer = stream(stage, hub)
        #expect(numbers(peer.text) == expected)
        #expect(peer.end == end)
        #expect(peer.text.hasSuffix("0\r\n\r\n") == rule.hasPrefix("close"))
        let attempts = stage.report.sessions.flatMap(\.attempts)
        #expect(attempts.map(\.outcome) == [.connected])
        #expect(stage.report.unfired.isEmpty)
        peer.shut()
        _ = stage.finish()
    }

    @Test func anEventIsCut() throws {
        let (stage, hub) = try stage(["truncate(9) + reset on ReceiveMessage[2]"])
        let peer = stream(stage, hub)
        #expect(numbers(peer.text) == ["1"])
        let piece = "data: \(Self.message(2))\r\n\r\n"
        #expect(peer.text.hasSuffix(String(HTTPOrigin.chunk(piece).prefix(9))) || peer.text.hasSuffix("\r\ndata:"))
        #expect(peer.end == .reset)
        _ = stage.finish()
    }

    /// A client that never got the server's handshake was never connected.
    @Test(arguments: ["reset on handshake[1]", "disconnect before handshake[1]"])
    func aHandshakeThatIsLostLeavesTheAttemptWithoutSuccess(_ rule: String) throws {
        let (stage, _) = try stage([rule])
        ask(stage, "POST", "/chat/negotiate?negotiateVersion=1").shut()
        let stream = ask(stage, "GET", "/chat?id=t1", events)
        ask(stage, "POST", "/chat?id=t1", [], #"{"protocol":"json","version":1}"# + Self.rs).shut()
        #expect(!stream.text.contains("{}"))
        #expect(stage.report.sessions.flatMap(\.attempts).map(\.outcome) == [.handshake])
        stream.shut()
        _ = stage.finish()
    }

    // MARK: Long polling

    private func polls(_ rule: String) throws -> (InterceptStage, Hub, [ScriptedPeer]) {
        let (stage, hub) = try stage([rule])
        hub.polls = [
            "", "{}" + Self.rs, Self.message(1) + Self.message(2), Self.message(3), Self.message(4) + Self.message(5),
        ]
        ask(stage, "POST", "/chat/negotiate?negotiateVersion=1").shut()
        var peers = [ask(stage, "GET", "/chat?id=t1")]
        ask(stage, "POST", "/chat?id=t1", [], #"{"protocol":"json","version":1}"# + Self.rs).shut()
        for _ in 1...4 { peers.append(ask(stage, "GET", "/chat?id=t1")) }
        return (stage, hub, peers)
    }

    @Test(arguments: [
        ("drop on ReceiveMessage[2]", ["1", "3", "4", "5"]),
        ("duplicate(1) on ReceiveMessage[4]", ["1", "2", "3", "4", "4", "5"]),
        ("drop on ReceiveMessage[3]", ["1", "2", "4", "5"]),
        ("delay(20ms) on ReceiveMessage[1]", ["1", "2", "3", "4", "5"]),
        ("reorder on ReceiveMessage[3]", ["1", "2", "4", "5", "3"]),
    ]) func messagesOfPolls(_ rule: String, _ expected: [String]) throws {
        let (stage, _, peers) = try polls(rule)
        #expect(peers.flatMap { numbers($0.text) } == expected)
        #expect(peers.allSatisfy { $0.text.hasPrefix("HTTP/1.1 200 OK") })
        #expect(stage.report.sessions.flatMap(\.attempts).map(\.outcome) == [.connected])
        for peer in peers { peer.shut() }
        _ = stage.finish()
    }

    @Test func aPollIsReset() throws {
        let (stage, _, peers) = try polls("reset on ReceiveMessage[3]")
        #expect(peers[3].end == .reset && peers[3].text.isEmpty)
        for peer in peers { peer.shut() }
        _ = stage.finish()
    }

    /// Each poll has a connection of its own: the end is that of the poll that follows.
    @Test(arguments: [("reset", StreamEnd.reset, ""), ("close", .closed, "HTTP/1.1 204")])
    func anEndAfterAMessageIsThatOfTheNextPoll(_ action: String, _ end: StreamEnd, _ head: String) throws {
        let (stage, hub, peers) = try polls("\(action) after ReceiveMessage[3]")
        #expect(numbers(peers[3].text) == ["3"] && peers[3].end == nil)
        #expect(peers[4].end == end && peers[4].text.hasPrefix(head))
        #expect(head.isEmpty == peers[4].text.isEmpty)
        #expect(hub.polls.count == 1)
        #expect(stage.report.faults.map(\.cut) == [false])
        for peer in peers { peer.shut() }
        _ = stage.finish()
    }

    @Test func anOutageInTheSteadOfAPollsMessage() throws {
        let (stage, _, peers) = try polls("outage(5s, cut=disconnect) on ReceiveMessage[3]")
        #expect(peers[3].sawEnd && peers[3].text.isEmpty)
        #expect(peers[4].end == .reset)
        for peer in peers { peer.shut() }
        _ = stage.finish()
    }

    @Test func aStallAfterAMessageIsThatOfTheNextPoll() throws {
        let (stage, _, peers) = try polls("stall(out, 50ms) after ReceiveMessage[3]")
        #expect(numbers(peers[3].text) == ["3"])
        #expect(numbers(peers[4].text) == ["4", "5"])
        for peer in peers { peer.shut() }
        _ = stage.finish()
    }

    @Test(arguments: [0, 20, 90]) func anAnswerIsCut(_ count: Int) throws {
        let (stage, hub) = try stage(["truncate(\(count)) + reset on negotiate"])
        let peer = ask(stage, "POST", "/chat/negotiate?negotiateVersion=1")
        #expect(Array(peer.text.utf8) == Array(HTTPOrigin.ok(Self.negotiation).utf8.prefix(count)))
        #expect(peer.end == .reset)
        #expect(hub.asked.count == (count == 0 ? 0 : 1))
        _ = stage.finish()
    }

    @Test func aStreamEndsBehindItsHead() throws {
        let (stage, hub) = try stage(["reset after stream"])
        let peer = stream(stage, hub)
        #expect(peer.text.hasPrefix("HTTP/1.1 200") && numbers(peer.text).isEmpty)
        #expect(peer.end == .reset)
        _ = stage.finish()
    }

    /// What ends by a rule about a send is the session's connection, not that of the send.
    @Test(arguments: [("before", 0), ("on", 0), ("after", 1)])
    func aSendEndsItsSession(_ place: String, _ heard: Int) throws {
        let (stage, hub) = try stage(["reset \(place) Send[1]"])
        ask(stage, "POST", "/chat/negotiate?negotiateVersion=1").shut()
        let stream = ask(stage, "GET", "/chat?id=t1", events)
        ask(stage, "POST", "/chat?id=t1", [], #"{"protocol":"json","version":1}"# + Self.rs).shut()
        let body = #"{"type":1,"target":"Send","arguments":[1]}"# + Self.rs
        let answer = ask(stage, "POST", "/chat?id=t1", [], body)
        #expect(answer.text.hasPrefix("HTTP/1.1 200") && answer.end == nil)
        #expect(hub.asked.filter { $0.contains("Send") }.count == heard)
        #expect(stream.end == .reset)
        answer.shut()
        _ = stage.finish()
    }

    /// An end that is told before its time says nothing about the next one on that connection.
    @Test func eachEndIsTold() throws {
        let rules = ["stall(both, 20ms) + respond(503) on negotiate[1]", "reset on Send[1]"]
        let (stage, _) = try stage(rules)
        let peer = ScriptedPeer()
        peer.stream = stage.connect(peer)
        func say(_ path: String, _ body: String = "") {
            peer.send("POST \(path) HTTP/1.1\r\nHost: p\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            stage.run(500)
        }
        stage.run(50)
        for _ in 1...2 { say("/chat/negotiate?negotiateVersion=1") }
        say("/chat?id=t1", #"{"protocol":"json","version":1}"# + Self.rs)
        say("/chat?id=t1", #"{"type":1,"target":"Send","arguments":[1]}"# + Self.rs)
        #expect(peer.text.hasPrefix("HTTP/1.1 503"))
        #expect(peer.end == .reset)
        #expect(stage.report.faults.map(\.rule) == rules)
        _ = stage.finish()
    }

    @Test func messagesOfSends() throws {
        let (stage, hub) = try stage(["drop on Send[1]"])
        ask(stage, "POST", "/chat/negotiate?negotiateVersion=1").shut()
        let stream = ask(stage, "GET", "/chat?id=t1", events)
        ask(stage, "POST", "/chat?id=t1", [], #"{"protocol":"json","version":1}"# + Self.rs).shut()
        var answers: [ScriptedPeer] = []
        for n in 1...2 {
            let body = #"{"type":1,"target":"Send","arguments":[\#(n)]}"# + Self.rs
            answers.append(ask(stage, "POST", "/chat?id=t1", [], body))
        }
        #expect(answers.allSatisfy { $0.text.hasPrefix("HTTP/1.1 200") })
        #expect(hub.asked.filter { $0.contains("Send") }.count == 1)
        #expect(hub.asked.last?.contains("[2]") == true)
        for peer in answers + [stream] { peer.shut() }
        _ = stage.finish()
    }

    @Test(arguments: [true, false]) func longBodiesGoThroughUnseen(isChunked: Bool) throws {
        let (stage, hub) = try stage(["drop on Send[1]"])
        ask(stage, "POST", "/chat/negotiate?negotiateVersion=1").shut()
        let stream = ask(stage, "GET", "/chat?id=t1", events)
        let body = String(repeating: "0123456789abcdef", count: 100_000)
        let peer = ScriptedPeer()
        let head = "POST /chat?id=t1 HTTP/1.1\r\nHost: p\r\n"
        let text =
            isChunked
            ? head + "Transfer-Encoding: chunked\r\n\r\n" + HTTPOrigin.chunk(body) + "0\r\n\r\n"
            : head + "Content-Length: \(body.utf8.count)\r\n\r\n" + body
        peer.onConnect = { $0.send(text) }
        peer.stream = stage.connect(peer)
        stage.run(2_000)
        let isWhole = hub.asked.last == "POST /chat \(body)"
        #expect(isWhole)
        #expect(peer.text.hasPrefix("HTTP/1.1 200"))
        for peer in [peer, stream] { peer.shut() }
        _ = stage.finish()
    }

    /// A client that goes back to the name of its lost connection is the same client, whatever its agent.
    @Test func anOldNameIsKnown() throws {
        let (stage, _) = try stage(["reset after upgrade[1]"])
        ask(stage, "POST", "/chat/negotiate?negotiateVersion=1", ["User-Agent: a"]).shut()
        let first = ask(stage, "GET", "/chat?id=t1", upgrade + ["User-Agent: b"])
        #expect(first.end == .reset)
        let second = ask(stage, "GET", "/chat?id=t1", upgrade + ["User-Agent: b"])
        #expect(second.text.hasPrefix("HTTP/1.1 101"))
        #expect(stage.report.sessions.map(\.attempts.count) == [2])
        second.stream?.reset()
        _ = stage.finish()
    }

    @Test func aForgottenSession() throws {
        let (stage, hub) = try stage(["expire + disconnect after upgrade[1]"])
        ask(stage, "POST", "/chat/negotiate?negotiateVersion=1").shut()
        let first = ask(stage, "GET", "/chat?id=t1", upgrade)
        #expect(first.sawEnd)
        let second = ask(stage, "GET", "/chat?id=t1", upgrade)
        #expect(second.text.hasPrefix("HTTP/1.1 404"))
        #expect(hub.asked.count == 2)
        second.shut()
        _ = stage.finish()
    }

    @Test(
        arguments: [
            "HTTP/1.1 200\re: x\r\n\r\nrest", "\r\nHTTP/1.1 200\re: x\r\n\r\nrest", "no HTTP",
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\nrest",
        ], [NetworkConditions.calm, .rough])
    func anAnswerThatIsNoneGoesOnOnce(answer: String, conditions: NetworkConditions) throws {
        for seed in 1...12 as ClosedRange<UInt64> {
            let stage = try InterceptStage(
                ["close(1011) after message[9, direction=toClient]"], seed: seed, conditions: conditions
            ) {
                HTTPOrigin($0) { _, _, _ in answer }
            }
            let client = ScriptedPeer()
            client.onConnect = { $0.send("GET / HTTP/1.1\r\nHost: p\r\n\r\n") }
            client.stream = stage.connect(client)
            stage.run(2_000)
            #expect(client.text == answer, "seed \(seed)")
            client.shut()
            _ = stage.finish()
        }
    }

    /// What the client sent ahead goes before what it sends later.
    @Test func nothingThatWasSentAheadIsLostWhenTheServerLeavesHTTP() throws {
        let server = ScriptedPeer()
        server.onBytes = { peer in
            guard !peer.didAnswer else { return }
            peer.didAnswer = true
            peer.send("no HTTP")
        }
        let stage = try InterceptStage(["close(1011) after message[9, direction=toClient]"]) { stream in
            server.stream = stream
            stream.isReading = true
            return server
        }
        let client = ScriptedPeer()
        let first = "GET /1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        let ahead = "GET /2 HTTP/1.1\r\nHost: 127.0.0.1\r\nX: \(String(repeating: "x", count: 100_000))\r\n\r\n"
        client.onConnect = { $0.send(first + ahead) }
        client.onBytes = { $0.send("later") }
        client.stream = stage.connect(client)
        stage.run(2_000)
        #expect(client.text == "no HTTP")
        #expect(server.text == first + ahead + "later")
        client.shut()
        _ = stage.finish()
    }
}
