import Testing
import WiretapeCodecs
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// Answers in pieces (`@defer`, `@stream`): what came in goes out.
@Suite struct IncrementalTests {
    private static let query = #"{"query":"query D { slow { id ... @defer { later } } }"}"#
    static let accept = "multipart/mixed;deferSpec=20220824, application/json"
    private static let first = #"{"data":{"slow":{"id":1}},"hasNext":true}"#
    private static let second = #"{"incremental":[{"data":{"later":2},"path":["slow"]}],"hasNext":true}"#
    private static let last = #"{"hasNext":false}"#

    static func counted(_ json: String) -> String {
        "\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: \(json.utf8.count)\r\n\r\n\(json)\r\n---"
    }

    private static func plain(_ json: String, _ end: String) -> String {
        "content-type: application/json; charset=utf-8\r\n\r\n\(json)\r\n---\(end)\r\n"
    }

    static let strawberry = ["---", counted(first), counted(second), counted(last), "--\r\n"]
    static let apollo = ["\r\n---\r\n" + plain(first, ""), plain(second, ""), plain(last, "--")]

    /// The exchange as a recorder writes it down, its pieces 10 ms apart.
    static func sessions(_ pieces: [String], type: String, query: String = query) -> [RecordedSession] {
        var reader = SessionReader(codecs: Codecs.all)
        var messages: [DecodedMessage] = []
        var number: UInt64 = 0
        func read(_ kind: TapeEvent.Kind) {
            number += 1
            reader.read(TapeEvent(time: number * 10_000_000, connection: 1, kind), number: number, into: &messages)
        }
        let asked = [HeaderField("Content-Type", "application/json"), HeaderField("Accept", accept)]
        read(.request(x: 1, RequestHead(method: "POST", target: "/graphql", headers: asked), .whole(Array(query.utf8))))
        let head = ResponseHead(status: 200, headers: [HeaderField("Content-Type", type), HeaderField("X-Own", "1")])
        read(.response(x: 1, head, .streamed, interim: false, coding: nil, proxy: false))
        for piece in pieces { read(.chunk(x: 1, .toClient, Array(piece.utf8))) }
        read(.end(x: 1, .toClient, trailers: []))
        return reader.finish()
    }

    @Test(arguments: [
        (strawberry, "multipart/mixed; boundary=\"-\""),
        (apollo, "multipart/mixed; boundary=\"-\"; deferSpec=20220824"),
    ])
    func aDeferredAnswerGoesOutAsItCameIn(_ pieces: [String], _ type: String) throws {
        let play = try Playbook(Self.sessions(pieces, type: type))
        let c = play.operate(Self.accept, Self.query)
        let head = try #require(play.answers[c])
        #expect(head.headers.filter { $0.name == "Content-Type" }.map(\.value) == [type])
        #expect(head.headers.first("X-Own") == "1" && head.headers.first("Cache-Control") == nil)
        play.pass(ms: 10_000)
        let got = play.take(c)
        #expect(got.first == "200 …" && got.last == "end")
        let body = String(decoding: head.body, as: UTF8.self) + got.dropFirst().dropLast().joined()
        #expect(body == pieces.joined())
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished)
    }

    /// A part a piece, so that a client has each when the recorded one had it.
    @Test func eachPartComesInItsTime() throws {
        let play = try Playbook(Self.sessions(Self.apollo, type: "multipart/mixed; boundary=\"-\""))
        let c = play.operate(Self.accept, Self.query)
        play.pass(ms: 20)
        play.expect(c, "200 …", "\r\n" + Self.plain(Self.first, ""))
        play.pass(ms: 10)
        play.expect(c, Self.plain(Self.second, ""))
        play.pass(ms: 10)
        play.expect(c, Self.plain(Self.last, "--"))
        play.pass(ms: 10)
        play.expect(c, "", "end")
    }

    /// Servers of incremental delivery send no signs of life, and a part of ours would be one too many.
    @Test func nothingIsAddedWhileTheClientWaits() throws {
        var sessions = Self.sessions(Self.strawberry, type: "multipart/mixed; boundary=\"-\"")
        for i in sessions[0].entries.indices.dropFirst(2) { sessions[0].entries[i].time += 60_000_000_000 }
        let play = try Playbook(sessions)
        let c = play.operate(Self.accept, Self.query)
        play.pass(ms: 30_000)
        play.expect(c, "200 …", Self.counted(Self.first))
    }

    @Test func aClientThatReadsOneAnswerOnlyIsRefused() throws {
        let play = try Playbook(Self.sessions(Self.strawberry, type: "multipart/mixed; boundary=\"-\""))
        #expect(play.take(play.operate("json", Self.query)).first?.hasPrefix("406 ") == true)
    }

    /// A server that does not deliver in pieces answers at once, whatever the client can read.
    @Test func aPlainAnswerStaysPlain() throws {
        let tape = "0 1 POST json \(Self.query)\n10 1 json {\"data\":{\"slow\":{\"id\":1,\"later\":2}}}"
        for accept in [Self.accept, OperationTape.accept["json"]!] {
            let play = try Playbook(OperationTape.sessions(tape))
            let c = play.operate(accept, Self.query)
            play.pass(ms: 20)
            play.expect(c, #"200 {"data":{"slow":{"id":1,"later":2}}}"#)
            #expect(play.finish().verdict == .pass)
        }
    }

    /// Over a WebSocket each piece is a result, as graphql-ws has them.
    @Test func overAWebSocketEachPieceIsAResult() throws {
        let play = try Playbook(Self.sessions(Self.apollo, type: "multipart/mixed; boundary=\"-\""))
        let c = play.socket()
        play.say(c, "{\"id\":\"1\",\"type\":\"subscribe\",\"payload\":\(Self.query)}")
        play.pass(ms: 200)
        let results = [Self.first, Self.second, Self.last].map { "{\"id\":\"1\",\"type\":\"next\",\"payload\":\($0)}" }
        #expect(play.take(c) == ["101", GraphQLPlay.ack] + results + [#"{"id":"1","type":"complete"}"#])
        #expect(play.finish().verdict == .pass)
    }

    private static let socketTape = """
        0 1 ws graphql-transport-ws
        1 1 > {"type":"connection_init"}
        2 1 < {"type":"connection_ack"}
        5 1 > {"id":"7","type":"subscribe","payload":\(query)}
        15 1 < {"id":"7","type":"next","payload":\(first)}
        25 1 < {"id":"7","type":"next","payload":\(last)}
        26 1 < {"id":"7","type":"complete"}
        """

    /// And what a WebSocket brought in pieces goes out in parts without a wrapping, in the dialect that the client asks for.
    @Test(arguments: ["deferSpec=20220824", "incrementalSpec=v0.2"])
    func fromAWebSocketThePartsAreBare(_ spec: String) throws {
        let play = try Playbook(OperationTape.sessions(Self.socketTape))
        let c = play.operate("multipart/mixed;\(spec), application/graphql-response+json", Self.query)
        #expect(play.answers[c]?.headers.first("Content-Type") == "multipart/mixed; boundary=\"-\"; \(spec)")
        play.pass(ms: 100)
        let body =
            String(decoding: play.answers[c]?.body ?? [], as: UTF8.self) + play.take(c).dropFirst().dropLast().joined()
        let part = { (json: String) in "\r\ncontent-type: application/json\r\n\r\n\(json)\r\n---" }
        #expect(body == "\r\n---" + part(Self.first) + part(Self.last) + "--\r\n")
    }

    /// Hot Chocolate writes one result per line for a client that accepts `application/jsonl`.
    @Test func anAnswerInLinesGoesOutAsItCameIn() throws {
        let lines = [Self.first, Self.second, Self.last].map { $0 + "\n" }
        let play = try Playbook(Self.sessions(lines, type: "application/jsonl; charset=utf-8"))
        let c = play.operate("application/jsonl", Self.query)
        #expect(play.answers[c]?.headers.first("Content-Type") == "application/jsonl; charset=utf-8")
        play.pass(ms: 20)
        play.expect(c, "200 …", lines[0])
        play.pass(ms: 30)
        play.expect(c, lines[1], lines[2], "", "end")
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished)
    }

    @Test func linesAndMessagesOfAWebSocketAreTheSameResults() throws {
        let lines = [Self.first, Self.last]
        let toLines = try Playbook(OperationTape.sessions(Self.socketTape), speed: .instant)
        let c = toLines.operate("application/jsonl", Self.query)
        #expect(toLines.answers[c]?.headers.first("Content-Type") == "application/jsonl; charset=utf-8")
        toLines.pass(ms: 1)
        toLines.expect(c, "200 …", lines[0] + "\n", lines[1] + "\n", "", "end")
        let toSocket = try Playbook(
            Self.sessions(lines.map { $0 + "\n" }, type: "application/jsonl"), speed: .instant)
        let socket = toSocket.socket()
        toSocket.say(socket, "{\"id\":\"1\",\"type\":\"subscribe\",\"payload\":\(Self.query)}")
        toSocket.pass(ms: 1)
        let results = lines.map { "{\"id\":\"1\",\"type\":\"next\",\"payload\":\($0)}" }
        #expect(toSocket.take(socket) == ["101", GraphQLPlay.ack] + results + [#"{"id":"1","type":"complete"}"#])
    }

    /// A blank line keeps the stream alive and is no result. Results with line breaks become one line.
    @Test func linesAreOneResultEach() throws {
        let blank = try Playbook(
            Self.sessions(["\n", Self.first + "\n", " \n", Self.last + "\n"], type: "application/jsonl"))
        let c = blank.operate("application/jsonl", Self.query)
        blank.pass(ms: 500)
        blank.expect(c, "200 …", Self.first + "\n", Self.last + "\n", "", "end")
        #expect(blank.finish().verdict == .pass)
        let query = #"{"query":"{ hello }"}"#
        let pretty = "{\n  \"data\": {\n    \"hello\": 1\n  }\n}"
        let broken = try Playbook(Self.sessions([pretty], type: "application/json", query: query))
        let d = broken.operate("application/x-ndjson", query)
        broken.pass(ms: 100)
        #expect(broken.answers[d]?.headers.first("Content-Type") == "application/x-ndjson; charset=utf-8")
        #expect(broken.take(d).contains(#"{"data":{"hello":1}}"# + "\n"))
    }
}
