import Testing
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport

/// Whose stream it is: path, query, and what the body means.
@Suite struct EventsMatchingTests {
    private static let asked = #"{ "messages": [{"content":"\u0068i","role":"user"}], "stream": true, "model": "m" }"#

    @Test func bodiesAreComparedByWhatTheyMean() throws {
        let play = try Playbook(EventsTape.sessions(EventsTape.tokens))
        let c = play.post("/v1/chat", Self.asked)
        play.pass(ms: 40)
        play.expect(
            c, "200 …", "data: {\"delta\":\"he\"}\n\n", "data: {\"delta\":\"llo\"}\n\n", "data: [DONE]\n\n", "end")
        #expect(play.finish().verdict == .pass)
    }

    @Test func aPostThatIsAnsweredInPiecesIsMatchedByItsMeaning() throws {
        let play = try Playbook(EventsTape.sessions(EventsTape.told), speed: .instant)
        let other = play.post("/say", #"{"stream":true,"model":"n"}"#)
        play.pass(ms: 1)
        #expect(play.take(other).first?.hasPrefix("409 ") == true)
        let c = play.post("/say", #"{ "stream": true, "model": "\u006d" }"#)
        play.pass(ms: 1)
        #expect(play.take(c).prefix(3) == ["200 …", "Once\n", "upon"])
        #expect(play.finish().divergences.first?.contains("/model") == true)
    }

    @Test func aMissNamesWhatDiffers() throws {
        let play = try Playbook(EventsTape.sessions(EventsTape.tokens))
        let c = play.post("/v1/chat", Self.asked.replacing("\"m\"", with: "\"n\""))
        #expect(play.take(c).first?.hasPrefix("409 ") == true)
        let text = try #require(play.finish().divergences.first)
        #expect(text.contains("/model") && text.contains("--ignore 'POST /v1/chat:/model'"), "\(text)")
    }

    @Test func whatIsIgnoredMayDiffer() throws {
        let play = try Playbook(EventsTape.sessions(EventsTape.tokens)) {
            $0.ignore = [try! IgnoreRule(parsing: "POST /v1/chat:/model")]
        }
        let c = play.post("/v1/chat", Self.asked.replacing("\"m\"", with: "\"n\""))
        #expect(play.take(c) == ["200 …"])
    }

    @Test func theQueryTellsStreamsApart() throws {
        let script = """
            0 1 GET /s?room=1&token=a
            5 1 sse
            10 1 < data: one\\n\\n
            11 1 end
            20 2 GET /s?room=2&token=b
            25 2 sse
            30 2 < data: two\\n\\n
            31 2 end
            """
        let play = try Playbook(EventsTape.sessions(script), speed: .instant)
        let c = play.events("/s?token=x&room=2")
        play.pass(ms: 1)
        play.expect(c, "200 …", "data: two\n\n", "end")
        let other = play.events("/s?room=3")
        #expect(play.take(other).first?.hasPrefix("404 ") == true)
    }

    /// The server refused the same request before it streamed, and told the client at the end to stay away.
    @Test func equalRequestsGoInRecordedOrder() throws {
        let body = #"{"stream":true}"#
        let tape = EventsTape.read(
            """
            0 1 POST /v1/chat \(body)
            1 1 429
            10 1 POST /v1/chat \(body)
            11 1 sse
            12 1 < data: [DONE]\\n\\n
            13 1 end
            20 2 GET /s
            21 2 sse
            22 2 < id: 1\\ndata: a\\n\\n
            23 2 end
            30 2 GET /s last=1
            31 2 204
            """)
        #expect(tape.sessions.count == 2 && tape.exchanges.count == 2)
        let play = try Playbook(tape.sessions, exchanges: tape.exchanges, speed: .instant)
        let wanted = ["429", "200"]
        for status in wanted {
            let c = play.post("/v1/chat", body)
            play.pass(ms: 1)
            #expect(play.take(c).first?.prefix(3) == status[...])
        }
        let c = play.events("/s")
        play.pass(ms: 1)
        play.expect(c, "200 …", "id: 1\ndata: a\n\n", "end")
        for _ in 0..<2 {
            let back = play.events("/s", behind: "1")
            play.pass(ms: 1)
            #expect(play.take(back).first?.hasPrefix("204") == true)
        }
        #expect(play.finish().verdict == .pass)
    }

    /// The same path answers without a stream, when it is asked so.
    @Test func ordinaryRequestsOnThePathStayOrdinary() throws {
        let tape = EventsTape.read(
            """
            0 1 POST /v1/chat {"stream":true}
            1 1 sse
            2 1 < data: [DONE]\\n\\n
            3 1 end
            10 1 POST /v1/chat {"stream":false}
            11 1 json {"text":"hi"}
            20 1 GET /v1/chat
            21 1 json {"models":[]}
            """)
        let play = try Playbook(tape.sessions, exchanges: tape.exchanges, speed: .instant)
        let c = play.post("/v1/chat", #"{"stream":false}"#)
        play.pass(ms: 1)
        play.expect(c, #"200 {"text":"hi"}"#)
        let get = play.events("/v1/chat")
        play.pass(ms: 1)
        play.expect(get, #"200 {"models":[]}"#)
        #expect(play.finish().sessions.isEmpty)
    }
}
