import Testing
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// A redacted tape and a client with its real token: what stands in the place of a pseudonym matches, and comes back where
/// the server says it again.
@Suite struct PseudonymReplayTests {
    private let script =
        TestTape.handshake + """
            10 > {"type":1,"invocationId":"0","target":"Login","arguments":["ada","td_1"]}
            12 < {"type":3,"invocationId":"0","result":{"hello":"you are td_1, key 74645f0000000002"}}
            20 > {"type":1,"target":"Say","arguments":["token td_1!"]}
            22 < {"type":1,"target":"Said","arguments":["td_1","td_9"]}
            """

    @Test(arguments: ["the-real-token-77", "another, \"renewed\" one"]) func theLiveValueComesBack(token: String) throws
    {
        let play = try Playbook([TestTape.session(script)], speed: .instant)
        let c = try play.start()
        let escaped = String(JSONValue.string(token).text.dropFirst().dropLast())
        play.send(c, #"{"type":1,"invocationId":"5","target":"Login","arguments":["ada","\#(escaped)"]}"#)
        play.pass(ms: 1)
        #expect(
            play.take(c) == [
                #"{"type":3,"invocationId":"5","result":{"hello":"you are \#(escaped), key 74645f0000000002"}}"#
            ])
        play.send(c, #"{"type":1,"target":"Say","arguments":["token \#(escaped)!"]}"#)
        play.pass(ms: 1)
        #expect(play.take(c) == [#"{"type":1,"target":"Said","arguments":["\#(escaped)","td_9"]}"#])
        play.close(c)
        #expect(play.finish().verdict == .pass)
    }

    /// A message that the tape has as it is binds nothing, though another one of its kind has a pseudonym there.
    @Test func whatIsRecordedAsItIsGoesBefore() throws {
        let session = TestTape.session(
            TestTape.handshake + """
                10 > {"type":1,"invocationId":"0","target":"Echo","arguments":["hello"]}
                12 < {"type":3,"invocationId":"0","result":"hello"}
                20 > {"type":1,"invocationId":"1","target":"Echo","arguments":["td_1"]}
                22 < {"type":3,"invocationId":"1","result":"td_1"}
                """)
        let play = try Playbook([session], speed: .instant)
        let c = try play.start()
        play.send(c, #"{"type":1,"invocationId":"7","target":"Echo","arguments":["hello"]}"#)
        play.pass(ms: 1)
        #expect(play.take(c) == [#"{"type":3,"invocationId":"7","result":"hello"}"#])
        play.send(c, #"{"type":1,"invocationId":"8","target":"Echo","arguments":["live-value-8"]}"#)
        play.pass(ms: 1)
        #expect(play.take(c) == [#"{"type":3,"invocationId":"8","result":"live-value-8"}"#])
    }

    @Test func everythingElseStillHasToAgree() throws {
        let play = try Playbook([TestTape.session(script)], speed: .instant)
        let c = try play.start()
        play.send(c, #"{"type":1,"invocationId":"5","target":"Login","arguments":["bob","the-real-token-77"]}"#)
        play.pass(ms: 1)
        let report = play.finish()
        #expect(report.verdict == .diverged)
    }

    /// Of its kind: a number is no text.
    @Test func aPseudonymHasAKind() throws {
        let play = try Playbook([TestTape.session(script)], speed: .instant)
        let c = try play.start()
        play.send(c, #"{"type":1,"invocationId":"5","target":"Login","arguments":["ada",12345678]}"#)
        play.pass(ms: 1)
        #expect(play.finish().verdict == .diverged)
    }

    @Test func tokensOfRequestsAreBoundToo() throws {
        var session = TestTape.session(
            TestTape.handshake + """
                10 < {"type":1,"target":"Welcome","arguments":["td_4"]}
                """)
        session.negotiate?.request.headers.append(HeaderField("Authorization", "Bearer td_4"))
        let play = try Playbook([session], speed: .instant)
        let n = play.request(
            "POST", "/chat/negotiate?negotiateVersion=1", [HeaderField("Authorization", "Bearer live-token-4")])
        let answer = try #require(play.take(n).first)
        let body = try JSONValue(parsing: String(answer.dropFirst(4)))
        let token = try #require(body["connectionToken"]?.string)
        let c = play.request(
            "GET", "/chat?id=\(token)&access_token=live-token-4",
            [HeaderField("Upgrade", "websocket"), HeaderField("Connection", "Upgrade")])
        play.send(c, #"{"protocol":"json","version":1}"#)
        play.pass(ms: 1)
        #expect(play.take(c).last == #"{"type":1,"target":"Welcome","arguments":["live-token-4"]}"#)
    }

    @Test func bodiesOfRequests() throws {
        func exchange(_ body: String, _ answer: String) -> RecordedExchange {
            RecordedExchange(
                event: 1, line: 2, time: 0, answered: 0, connection: 1,
                request: RequestHead(
                    method: "POST", target: "/login", headers: [HeaderField("Content-Type", "application/json")]),
                requestBody: Array(body.utf8), response: ResponseHead(status: 200), responseBody: Array(answer.utf8))
        }
        let play = try Playbook([
            exchange(#"{"user":"ada","password":"td_1"}"#, #"{"password":"td_1","session":"td_2"}"#),
            exchange(#"{"user":"bob","password":"td_3"}"#, #"{"password":"td_3"}"#),
        ])
        let json = [HeaderField("Content-Type", "application/json")]
        let c = play.request("POST", "/login", json, body: Array(#"{"password":"open sesame","user":"ada"}"#.utf8))
        #expect(play.take(c) == [#"200 {"password":"open sesame","session":"td_2"}"#])
        let d = play.request("POST", "/login", json, body: Array(#"{"password":"sim sala bim","user":"bob"}"#.utf8))
        #expect(play.take(d) == [#"200 {"password":"sim sala bim"}"#])
    }

    /// What a client says that is not on the tape is told without its secrets.
    @Test func divergencesHaveNoSecrets() throws {
        let play = try Playbook([TestTape.session(script)], speed: .instant)
        let c = try play.start()
        play.send(c, #"{"type":1,"invocationId":"5","target":"Login","arguments":["ada","the-real-token-77"]}"#)
        play.send(c, #"{"type":1,"target":"Say","arguments":["other the-real-token-77"]}"#)
        play.send(c, #"{"type":1,"target":"Nope","arguments":[{"password":"qwertz-secret-5"}]}"#)
        play.pass(ms: 1)
        let text = play.logs.joined(separator: "\n")
        #expect(text.contains("diverged"))
        #expect(!text.contains("the-real-token") && !text.contains("qwertz-secret"), "\(text)")
    }

    // MARK: Messages behind their lengths

    private static let tracked = """
        10 > {"token":"td_1"}
        20 < {"you":"td_1","é":"😀"}
        30 < {"again":"td_1"}
        """
    private static let token = "the-réal-\"token\"-77 €"

    /// A push of the client, and what comes of it with the client's own token.
    private static func live(_ lengths: Bool = true) -> (said: String, heard: [String]) {
        let escaped = String(JSONValue.string(token).text.dropFirst().dropLast())
        let heard = [#"{"you":"\#(escaped)","é":"😀"}"#, #"{"again":"\#(escaped)"}"#]
        return (#"{"token":"\#(escaped)"}"#, lengths ? heard.map { "\($0.utf16.count)|\($0)" } : heard)
    }

    /// The length is that of what the client gets.
    @Test(arguments: ["websocket", "streaming", "sse", "jsonp"]) func lengthsOfLiveValues(transport: String) throws {
        let play = try Playbook(AtmosphereTape.sessions(Self.tracked), speed: .instant)
        let c = play.atmosphere(transport)
        _ = play.take(c)
        let (said, heard) = Self.live()
        switch transport {
        case "websocket": play.sendBytes(c, .text, Array(said.utf8))
        case "jsonp":
            play.ask(c, "GET", AtmosphereTape.target(transport, id: AtmosphereTape.id) + "&jsonpTransport=cb")
            #expect(play.push(said, id: AtmosphereTape.id) == ["200 "])
        default: #expect(play.push(said, id: AtmosphereTape.id) == ["200 "])
        }
        play.pass(ms: 1)
        let got = play.said(c)
        switch transport {
        case "sse": #expect(got == heard.map { "data:\($0)\r\n\r\n" })
        case "jsonp":
            let spelled = heard[0].replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            #expect(got.joined() == #"200 cb({"message" : "\#(spelled)"});"#)
        default: #expect(got == heard)
        }
    }

    /// Several messages in the answer to one poll.
    @Test func lengthsOfLiveValuesInOneBody() throws {
        let play = try Playbook(AtmosphereTape.sessions(Self.tracked), speed: .instant)
        let c = play.atmosphere("long-polling")
        _ = play.take(c)
        let (said, heard) = Self.live()
        #expect(play.push(said, id: AtmosphereTape.id) == ["200 "])
        play.pass(ms: 1)
        play.pollAgain(c, id: AtmosphereTape.id)
        #expect(play.said(c) == ["200 …", heard.joined(), "end"])
    }

    /// A text that only begins as if a length stood before it stays as it is.
    @Test func whatOnlyLooksLikeALength() throws {
        let script = """
            10 > {"token":"td_1"}
            20 < 5|hello td_1
            """
        let play = try Playbook(AtmosphereTape.sessions(script), speed: .instant)
        let c = play.atmosphere("websocket", lengths: false)
        _ = play.take(c)
        play.sendBytes(c, .text, Array(Self.live().said.utf8))
        play.pass(ms: 1)
        let said = play.said(c)
        #expect(said.count == 1 && said[0].hasPrefix("5|hello the-réal-"), "\(said)")
    }

    /// A part of a multipart answer that tells its length.
    @Test func lengthsOfParts() throws {
        let query = #"{"query":"query D($token: String) { slow }","variables":{"token":"td_1"}}"#
        func pieces(_ token: String) -> [String] {
            let messages = [#"{"data":{"slow":"\#(token)"},"hasNext":true}"#, #"{"hasNext":false}"#]
            return ["---"] + messages.map { IncrementalTests.counted($0) } + ["--\r\n"]
        }
        let type = "multipart/mixed; boundary=\"-\""
        let play = try Playbook(IncrementalTests.sessions(pieces("td_1"), type: type, query: query))
        let c = play.operate(IncrementalTests.accept, query.replacing("td_1", with: "a-longer-live-token"))
        let head = try #require(play.answers[c])
        play.pass(ms: 10_000)
        let body = String(decoding: head.body, as: UTF8.self) + play.take(c).dropFirst().dropLast().joined()
        #expect(body == pieces("a-longer-live-token").joined())
    }
}
