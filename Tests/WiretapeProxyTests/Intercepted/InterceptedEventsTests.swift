import Testing
import WiretapeBytes
import WiretapeProxy
import WiretapeReport
import WiretapeSimulation

/// What rules do to streams of no known protocol on live traffic. What they are is known with the head of the answer only.
@Suite struct InterceptedEventsTests {
    private static let lines = [
        "HTTP/1.1 200 OK", "Content-Type: application/x-ndjson", "Transfer-Encoding: chunked", "", "",
    ].joined(separator: "\r\n")

    private static func event(_ n: Int) -> String { "id: \(n)\nevent: price\ndata: {\"n\":\(n)}\n\n" }
    private static let prices =
        HTTPOrigin.events
        + ([": hi\n\n"] + (1...4).map(event) + ["retry: 10\n\n"]).map(HTTPOrigin.chunk).joined() + "0\r\n\r\n"
    private static let get = ["GET /prices HTTP/1.1", "Host: p", "", ""]
    private static let ask = [
        "POST /v1/chat HTTP/1.1", "Host: p", "Content-Type: application/json", "Content-Length: 15", "",
        #"{"stream":true}"#,
    ]

    /// What the client got of the answer's body, and what the tape shows as messages of the server.
    private func play(
        _ rules: [String], _ answer: String, _ request: [String] = get, observes: Bool = false
    ) throws -> (text: String, report: ReplayReport, tape: [String]) {
        let stage = try InterceptStage(rules, observes: observes) { HTTPOrigin($0) { _, _, _ in answer } }
        let peer = ScriptedPeer()
        peer.onConnect = { $0.send(request.joined(separator: "\r\n")) }
        peer.stream = stage.connect(peer)
        stage.run(4_000)
        let report = stage.report
        #expect(report.unfired.isEmpty, "\(rules)")
        peer.shut()
        let tape = stage.finish()
        return (peer.text, report, tape)
    }

    private func numbers(_ text: String) -> [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("data: ") }.map { String($0.dropFirst(6).filter(\.isNumber)) }
    }

    @Test(
        arguments: [
            ("drop on price[2]", "1,3,4"), ("drop on message[1]", "2,3,4"), ("duplicate on price[4]", "1,2,3,4,4"),
            ("delay(2s) on message[1]", "1,2,3,4"), ("replace(/n=7) on price[3]", "1,2,7,4"),
            ("reset after price[3]", "1,2,3"), ("disconnect before price[2]", "1"), ("close after message[1]", "1"),
        ], [get, ask])
    func eventsChange(_ rule: (String, String), _ request: [String]) throws {
        let got = try play([rule.0], Self.prices, request)
        #expect(numbers(got.text).joined(separator: ",") == rule.1, "\(got.text)")
        #expect(got.text.contains(": hi\n\n"))
        #expect(got.report.sessions.map(\.protocolID) == ["events"], "\(got.report.sessions)")
    }

    /// The client sees what is told beside the data as its server told it.
    @Test func aReplacedEventKeepsItsNameAndID() throws {
        let got = try play([#"replace("{\"x\":1}") on price[2]"#], Self.prices)
        #expect(got.text.contains("id: 2\nevent: price\ndata: {\"x\":1}\n\n"), "\(got.text)")
    }

    @Test func anEventIsCutShort() throws {
        let got = try play(["truncate(10) + reset on price[2]"], Self.prices)
        #expect(numbers(got.text) == ["1"])
    }

    @Test func linesAreMessages() throws {
        let body = ["{\"n\":1}\n{\"n\"", ":2}\n", "{\"n\":3}"].map(HTTPOrigin.chunk).joined() + "0\r\n\r\n"
        let dropped = try play(["drop on message[2]"], Self.lines + body)
        #expect(dropped.text.contains("{\"n\":1}\n") && !dropped.text.contains("{\"n\":2}"))
        #expect(dropped.text.contains("{\"n\":3}"))
        // The last one has no line end.
        let last = try play(["replace(/n=9) on message[3]"], Self.lines + body)
        #expect(last.text.contains("{\"n\":9}") && !last.text.contains("{\"n\":3}"))
    }

    /// Pieces of text, chunked and until the connection's end.
    @Test(arguments: ["Transfer-Encoding: chunked", "Connection: close"], [get, ask])
    func piecesAreMessages(_ framing: String, _ request: [String]) throws {
        let isChunked = framing.hasSuffix("chunked")
        let head = ["HTTP/1.1 200 OK", "Content-Type: text/plain", framing, "", ""].joined(separator: "\r\n")
        let told = ["one ", "two ", "three"]
        // What arrives together is one piece.
        let body = isChunked ? told.map(HTTPOrigin.chunk).joined() + "0\r\n\r\n" : told.joined()
        let rules: [(String, [String])] =
            isChunked
            ? [
                ("drop on message[2]", ["one ", "three"]), ("reset after message[2]", ["one ", "two "]),
                ("replace(\"2\") on piece[2]", ["one ", "2", "three"]), ("delay(2s) on message[1]", told),
                ("duplicate on message[3]", told + ["three"]),
            ] : [("replace(\"2\") on message[1]", ["2"]), ("drop on piece[1]", [])]
        for (rule, wanted) in rules {
            let got = try play([rule], head + body, request)
            let answer = got.text.split(separator: "\r\n\r\n", maxSplits: 1).dropFirst().first.map(String.init) ?? ""
            let text = isChunked ? wanted.map(HTTPOrigin.chunk).joined() : wanted.joined()
            #expect(text.isEmpty ? answer.isEmpty : answer.hasPrefix(text), "\(rule): \(answer)")
            #expect(got.report.sessions.map(\.protocolID) == ["events"], "\(rule)")
        }
    }

    /// The same types with a length are one body, of no session.
    @Test func aBodyWithALengthIsNone() throws {
        let stage = try InterceptStage(["drop on message"]) {
            HTTPOrigin($0) { _, _, _ in HTTPOrigin.ok("one", ["Content-Type: text/plain"]) }
        }
        let peer = ScriptedPeer()
        peer.onConnect = { $0.send(Self.get.joined(separator: "\r\n")) }
        peer.stream = stage.connect(peer)
        stage.run(100)
        #expect(peer.text.hasSuffix("one") && stage.report.sessions.isEmpty)
        peer.shut()
        _ = stage.finish()
    }

    /// A rule about labels can be about any stream; pages are none, and other bodies pass.
    @Test func otherAnswersPass() throws {
        let page = HTTPOrigin.ok("<p>data: 1</p>", ["Content-Type: text/html"])
        let stage = try InterceptStage(["drop on price"]) { HTTPOrigin($0) { _, _, _ in page } }
        for accept in ["text/html,*/*;q=0.8", "*/*"] {
            let peer = ScriptedPeer()
            peer.onConnect = { $0.send("GET / HTTP/1.1\r\nHost: p\r\nAccept: \(accept)\r\n\r\n") }
            peer.stream = stage.connect(peer)
            stage.run(100)
            #expect(peer.text.hasSuffix("<p>data: 1</p>"))
            #expect(stage.node.heldCount == (accept == "*/*" ? 1 : 0))
            peer.shut()
            stage.run(100)
        }
        #expect(stage.report.sessions.isEmpty)
        _ = stage.finish()
    }

    /// A client that comes back is the same session's: its second attempt.
    @Test func aReconnectIsAnAttempt() throws {
        let request = ["GET /prices HTTP/1.1", "Host: p", "Accept: text/event-stream", "", ""].joined(separator: "\r\n")
        let stage = try InterceptStage(["reset after price[2] max=1", "respond(503) on connect[retry=1]"]) {
            HTTPOrigin($0) { _, _, _ in Self.prices }
        }
        var texts: [String] = []
        for _ in 0..<3 {
            let peer = ScriptedPeer()
            peer.onConnect = { $0.send(request) }
            peer.stream = stage.connect(peer)
            stage.run(1_000)
            texts.append(peer.text)
            peer.shut()
            stage.run(100)
        }
        #expect(numbers(texts[0]) == ["1", "2"] && texts[1].hasPrefix("HTTP/1.1 503"))
        #expect(numbers(texts[2]) == ["1", "2", "3", "4"])
        let session = try #require(stage.report.sessions.first)
        #expect(stage.report.sessions.count == 1 && session.attempts.count == 3)
        #expect(stage.report.unfired.isEmpty)
        _ = stage.finish()
    }
}
