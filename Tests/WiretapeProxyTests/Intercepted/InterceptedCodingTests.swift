import Testing
import WiretapeAttempts
import WiretapeBytes
import WiretapeProtocol
import WiretapeProxy
import WiretapeReport
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

/// Rules see what encoded bodies mean, and what they change goes out in a form that the other side reads.
@Suite struct InterceptedCodingTests {
    private static let rs = "\u{1e}"

    private static func message(_ n: Int) -> String {
        #"{"type":1,"target":"ReceiveMessage","arguments":[\#(n)]}"# + rs
    }

    private func stage(_ coding: String, _ rules: [String]) throws -> (InterceptStage, CodedHub.Script) {
        let script = CodedHub.Script(coding)
        return (try InterceptStage(rules) { CodedHub($0, script) }, script)
    }

    /// One request over a connection of its own.
    private func ask(
        _ stage: InterceptStage, _ method: String, _ target: String, _ fields: [String] = [], _ body: [UInt8] = []
    ) -> ScriptedPeer {
        let peer = ScriptedPeer()
        var lines = ["\(method) \(target) HTTP/1.1", "Host: p"] + fields
        if method == "POST" { lines.append("Content-Length: \(body.count)") }
        let head = Array((lines + ["", ""]).joined(separator: "\r\n").utf8)
        peer.onConnect = { $0.send(head + body) }
        peer.stream = stage.connect(peer)
        stage.run(100)
        return peer
    }

    private func open(_ stage: InterceptStage) -> ScriptedPeer {
        let asked = ask(stage, "POST", "/chat/negotiate?negotiateVersion=1")
        asked.shut()
        return asked
    }

    private func numbers(_ text: String) -> [String] {
        text.split(separator: "\"arguments\":[").dropFirst().map { String($0.prefix { $0 != "]" }) }
    }

    private func body(_ peer: ScriptedPeer) -> [UInt8] {
        let end = Array("\r\n\r\n".utf8)
        guard let at = peer.received.indices.first(where: { peer.received[$0...].starts(with: end) }) else { return [] }
        return Array(peer.received[(at + 4)...])
    }

    private func plain(_ peer: ScriptedPeer, _ coding: String) throws -> String {
        let isCoded = peer.text.contains("Content-Encoding: \(coding)\r\n")
        let body = try ContentDecoder.whole(body(peer), ContentCodings(isCoded ? [coding] : []), limit: 1 << 20)
        return String(decoding: body, as: UTF8.self)
    }

    @Test(
        arguments: ["gzip", "br"],
        [
            ("drop on ReceiveMessage[2]", ["1", "3", "4", "5"], [2]),
            ("replace(/arguments/0=9) on ReceiveMessage[4]", ["1", "2", "3", "9", "5"], [4]),
            ("drop on ReceiveMessage[9]", ["1", "2", "3", "4", "5"], []),
        ]) func messagesOfEncodedPolls(_ coding: String, _ rule: (String, [String], [Int])) throws
    {
        let (stage, script) = try stage(coding, [rule.0])
        let texts = ["", "{}" + Self.rs, Self.message(1) + Self.message(2), Self.message(3)]
        script.polls = (texts + [Self.message(4) + Self.message(5)]).map { Array($0.utf8) }
        let asked = open(stage)
        #expect(try plain(asked, coding).contains("t1"))
        var peers = [ask(stage, "GET", "/chat?id=t1")]
        let handshake = Array((#"{"protocol":"json","version":1}"# + Self.rs).utf8)
        ask(stage, "POST", "/chat?id=t1", [], handshake).shut()
        for _ in 1...4 { peers.append(ask(stage, "GET", "/chat?id=t1")) }
        #expect(try peers.flatMap { numbers(try plain($0, coding)) } == rule.1)
        // What no rule changes goes on as it came.
        for (i, peer) in peers.enumerated().dropFirst() {
            let isChanged = rule.2.contains(i)
            #expect(peer.text.contains("Content-Encoding: \(coding)\r\n") != isChanged, "poll \(i)")
            #expect(peer.text.contains("Content-Length: \(body(peer).count)\r\n"))
        }
        #expect(stage.report.sessions.flatMap(\.attempts).map(\.outcome) == [.connected])
        for peer in peers { peer.shut() }
        _ = stage.finish()
    }

    /// A body is decoded a slice a turn. What the client sent behind it, and its end, keep their places meanwhile.
    @Test(arguments: [6_000, 40_000], [true, false])
    func aLongBodyIsDecodedByTurns(_ count: Int, endsAtOnce: Bool) throws {
        let (stage, script) = try stage("gzip", ["drop on Send[3]", "drop on Late[7]"])
        func message(_ name: String, _ n: Int) -> String {
            #"{"type":1,"target":"\#(name)","arguments":[\#(n)]}"# + Self.rs
        }
        _ = open(stage)
        let poll = ask(stage, "GET", "/chat?id=t1")
        ask(stage, "POST", "/chat?id=t1", [], Array((#"{"protocol":"json","version":1}"# + Self.rs).utf8)).shut()
        // The second is more than is put together: it goes on as it came.
        let plain = (1...count).map { message("Send", $0) }.joined()
        let coded = script.encode(Array(plain.utf8), isWhole: true)
        let late = Array(message("Late", 1).utf8)
        let before = script.bodies.count
        let peer = ScriptedPeer()
        peer.onConnect = { peer in
            let head = "POST /chat?id=t1 HTTP/1.1\r\nHost: p\r\n"
            peer.send(Array("\(head)Content-Encoding: gzip\r\nContent-Length: \(coded.count)\r\n\r\n".utf8) + coded)
            peer.send(Array("\(head)Content-Length: \(late.count)\r\n\r\n".utf8) + late)
            if endsAtOnce { peer.shut() }
        }
        peer.stream = stage.connect(peer)
        stage.run(2_000)
        if !endsAtOnce { peer.shut() }
        stage.run(1_000)
        let bodies = Array(script.bodies[before...])
        let isWhole = plain.utf8.count <= 1 << 20
        #expect(isWhole == (count == 6_000) && bodies.count == 2 && bodies.last == late)
        if isWhole {
            let sent = numbers(String(decoding: bodies[0], as: UTF8.self))
            #expect(sent == (1...count).filter { $0 != 3 }.map(String.init))
        } else {
            #expect(bodies[0] == coded)
        }
        #expect(peer.text.split(separator: "HTTP/1.1 200").count == 2 && peer.end == .closed)
        poll.shut()
        _ = stage.finish()
    }

    @Test(arguments: ["gzip", "br"]) func eventsOfAnEncodedStream(_ coding: String) throws {
        let (stage, script) = try stage(
            coding, ["drop on ReceiveMessage[2]", "replace(/arguments/0=9) on ReceiveMessage[4]"])
        _ = open(stage)
        let peer = ask(stage, "GET", "/chat?id=t1", ["Accept: text/event-stream"])
        let handshake = Array((#"{"protocol":"json","version":1}"# + Self.rs).utf8)
        ask(stage, "POST", "/chat?id=t1", [], handshake).shut()
        script.stream?.event("{}" + Self.rs)
        for n in 1...4 {
            script.stream?.event(Self.message(n))
            stage.run(10)
            // Each event goes on as it comes.
            #expect(numbers(peer.text).count == (n < 2 ? 1 : n - 1))
        }
        #expect(numbers(peer.text) == ["1", "3", "9"])
        #expect(!peer.text.contains("Content-Encoding"))
        #expect(stage.report.unfired.isEmpty)
        peer.shut()
        _ = stage.finish()
    }

    /// It is cut into chunks of ours: its length was that of other bytes.
    @Test func anEncodedStreamThatHasALength() throws {
        let (stage, script) = try stage("gzip", ["drop on ReceiveMessage[2]"])
        _ = open(stage)
        let events = ["{}" + Self.rs] + (1...3).map { Self.message($0) }
        script.events = Array(events.map { "data: \($0)\r\n\r\n" }.joined().utf8)
        let peer = ask(stage, "GET", "/chat?id=t1", ["Accept: text/event-stream"])
        #expect(numbers(peer.text) == ["1", "3"])
        #expect(peer.text.contains("Transfer-Encoding: chunked\r\n") && !peer.text.contains("Content-Length"))
        #expect(peer.text.hasSuffix("0\r\n\r\n") && !peer.text.contains("Content-Encoding"))
        peer.shut()
        _ = stage.finish()
    }

    @Test func aStreamThatCannotBeDecodedAnyMoreIsCut() throws {
        let (stage, script) = try stage("gzip", ["drop on ReceiveMessage[9]"])
        _ = open(stage)
        let peer = ask(stage, "GET", "/chat?id=t1", ["Accept: text/event-stream"])
        script.stream?.event("{}" + Self.rs)
        script.stream?.event(Self.message(1))
        stage.run(10)
        #expect(numbers(peer.text) == ["1"])
        script.stream?.piece(Array("no gzip".utf8))
        stage.run(100)
        #expect(peer.end == .reset)
        _ = stage.finish()
    }

    /// What cannot be decoded cannot be judged: it passes as it came.
    @Test func whatIsInACodingThatIsNotKnownPasses() throws {
        let (stage, script) = try stage("snappy", ["drop on ReceiveMessage[1]"])
        script.polls = ["", "{}" + Self.rs, Self.message(1)].map { Array($0.utf8) }
        _ = open(stage)
        var peers = [ask(stage, "GET", "/chat?id=t1")]
        for _ in 1...2 { peers.append(ask(stage, "GET", "/chat?id=t1")) }
        #expect(numbers(peers[2].text) == ["1"])
        #expect(peers[2].text.contains("Content-Encoding: snappy\r\n"))
        for peer in peers { peer.shut() }
        _ = stage.finish()
    }

    @Test(arguments: ["gzip", "br"]) func encodedSends(_ coding: String) throws {
        let (stage, script) = try stage(coding, ["replace(/arguments/0=9) on Send[2]"])
        _ = open(stage)
        let poll = ask(stage, "GET", "/chat?id=t1")
        var sent: [[UInt8]] = []
        let texts =
            [#"{"protocol":"json","version":1}"#] + (1...2).map { #"{"type":1,"target":"Send","arguments":[\#($0)]}"# }
        for text in texts {
            sent.append(script.encode(Array((text + Self.rs).utf8), isWhole: true))
            ask(stage, "POST", "/chat?id=t1", ["Content-Encoding: \(coding)"], sent[sent.count - 1]).shut()
        }
        let posts = script.heads.indices.filter { script.heads[$0].method == "POST" }.dropFirst()
        try #require(posts.count == 3)
        let heads = posts.map { script.heads[$0].headers.first("Content-Encoding") }
        let bodies = posts.map { script.bodies[$0] }
        // Untouched ones came as they went.
        #expect(heads == [coding, coding, nil] && bodies[0] == sent[0] && bodies[1] == sent[1])
        #expect(numbers(String(decoding: bodies[2], as: UTF8.self)) == ["9"])
        poll.shut()
        _ = stage.finish()
    }
}
