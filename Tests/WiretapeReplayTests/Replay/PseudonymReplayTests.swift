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
}
