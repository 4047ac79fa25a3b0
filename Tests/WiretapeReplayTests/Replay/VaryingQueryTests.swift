import Testing
import WiretapeCodecs
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// Items of a query that are others with every connection.
@Suite struct VaryingQueryTests {
    private let upgrade = [HeaderField("Upgrade", "websocket")]

    private func session(_ query: String, number: Int = 1, route: String = "/socket.io") -> RecordedSession {
        TestTape.session(TestTape.handshake, number: number, route: route, query: query)
    }

    private func ignoring(_ rules: String...) throws -> [IgnoreRule] { try rules.map { try IgnoreRule(parsing: $0) } }

    @Test(arguments: ["/live:?n", "GET /live:?n", "*:?N"])
    func anIgnoredItemMayDiffer(_ rule: String) throws {
        let ignore = try ignoring(rule)
        let play = try Playbook([session("n=1&room=a&", route: "/live")]) { $0.ignore = ignore }
        #expect(play.take(play.request("GET", "/live?n=2&room=a", upgrade)) == ["101"])
        let wrong = play.request("GET", "/live?n=2&room=b", upgrade)
        #expect(play.answers[wrong]?.status == 404)
    }

    @Test(arguments: ["/other:?n", "POST /live:?n", "/live:/n"])
    func otherRulesDoNotIgnoreIt(_ rule: String) throws {
        let ignore = try ignoring(rule)
        let play = try Playbook([session("n=1&", route: "/live")]) { $0.ignore = ignore }
        let c = play.request("GET", "/live?n=2", upgrade)
        #expect(play.answers[c]?.status == 404)
    }

    @Test func negotiationsIgnoreItToo() throws {
        let ignore = try ignoring("/chat:?n")
        let play = try Playbook([session("n=1&", route: "/chat")]) { $0.ignore = ignore }
        let c = play.request("POST", "/chat/negotiate?n=2")
        #expect(play.answers[c]?.status == 200)
    }

    @Test func sessionsThatDifferInItAreOneRoute() throws {
        let ignore = try ignoring("/live:?n")
        let both = [session("n=1&", route: "/live"), session("n=2&", number: 2, route: "/live")]
        let play = try Playbook(both) { $0.ignore = ignore }
        for _ in 1...2 { #expect(play.take(play.request("GET", "/live?n=3", upgrade)) == ["101"]) }
        #expect(play.finish().sessions.map(\.session) == [1, 2])
    }

    @Test func theMissNamesTheItemAndTheOption() throws {
        let play = try Playbook([session("n=a&room=x&", route: "/live"), session("n=a&", number: 2, route: "/live")])
        let c = play.request("GET", "/live?n=b", upgrade)
        let text = #"""
            no session on chat.tape for GET /live with that query: ?n is "b", on the tape "a". Accept with --ignore '/live:?n'.
            """#
        #expect(play.take(c) == ["404 \(text)\n"])
        #expect(play.logs == ["wiretape: \(text)"])
        let more = play.request("GET", "/live?room=y&n=a&z=1", upgrade)
        #expect(
            play.take(more) == [
                #"""
                404 no session on chat.tape for GET /live with that query: ?room is "y", on the tape "x"; ?z is "1", \#
                not on the tape. Accept with --ignore '/live:?room' --ignore '/live:?z'.

                """#
            ])
        let report = play.finish()
        #expect(report.verdict == .diverged && report.divergences.contains("wiretape: \(text)"))
    }

    @Test func anExchangeOfThePathDoesNotHideIt() throws {
        let poll = RecordedExchange(
            event: 1, line: 2, time: 0, answered: 0, connection: 1,
            request: RequestHead(method: "GET", target: "/live?n=1"), response: ResponseHead(status: 200))
        let play = try Playbook([session("n=a&", route: "/live")], exchanges: [poll])
        let c = play.request("GET", "/live?n=b", upgrade)
        #expect(play.answers[c]?.status == 404)
        #expect(play.logs.first?.contains("--ignore '/live:?n'") == true, "\(play.logs)")
    }

    @Test func whatProtocolsMakeAnewNeedsNoRule() throws {
        for (recorded, live) in [
            ("EIO=4&transport=websocket&t=Oy1&", "transport=websocket&EIO=4&t=17.5"),
            ("EIO=4&transport=websocket&t=Oy1&", "transport=websocket&EIO=4"),
            (
                "clientProtocol=2.1&connectionToken=a&tid=3&hub=x&",
                "clientProtocol=2.1&connectionToken=b&tid=7&hub=x&_=5"
            ),
        ] {
            let play = try Playbook([session(recorded)])
            #expect(play.take(play.request("GET", "/socket.io?\(live)", upgrade)) == ["101"], "\(live)")
        }
        let plain = try Playbook([session("t=1&")])
        let c = plain.request("GET", "/socket.io?t=2", upgrade)
        #expect(plain.answers[c]?.status == 404)
    }

    @Test func pollsOfEngineIOAreFoundAgain() throws {
        let poll = RecordedExchange(
            event: 1, line: 2, time: 0, answered: 0, connection: 1,
            request: RequestHead(method: "GET", target: "/socket.io/?EIO=4&transport=polling&t=a"),
            response: ResponseHead(status: 200), responseBody: Array("0{}".utf8))
        let play = try Playbook([poll])
        play.expect(play.request("GET", "/socket.io/?transport=polling&EIO=4&t=b"), "200 0{}")
        #expect(play.finish().verdict == .pass)
    }
}

/// A negotiation that nothing followed on the tape.
@Suite struct UnfollowedNegotiationTests {
    private func tape(_ lines: String) -> (sessions: [RecordedSession], exchanges: [RecordedExchange]) {
        var reader = SessionReader(codecs: Codecs.all)
        var messages: [DecodedMessage] = []
        var number: UInt64 = 0
        func read(_ connection: UInt32, _ kind: TapeEvent.Kind) {
            number += 1
            reader.read(
                TapeEvent(time: number * 1_000_000, connection: connection, kind), number: number, into: &messages)
        }
        for (i, line) in lines.split(separator: "\n").enumerated() {
            let words = line.split(separator: " ", maxSplits: 2).map(String.init)
            if words[0] == "take" {
                read(0, .take(started: ""))
                continue
            }
            let c = UInt32(i + 1)
            read(c, .open(.init()))
            let isUpgrade = words[0] == "GET"
            let headers = isUpgrade ? [HeaderField("Upgrade", "websocket"), HeaderField("Connection", "upgrade")] : []
            let head = RequestHead(method: words[0], target: words[1], headers: headers)
            read(c, .request(x: 1, head, .none))
            if isUpgrade {
                read(
                    c,
                    .response(
                        x: 1, ResponseHead(status: 101, headers: headers), .none, interim: false, coding: nil,
                        proxy: false))
                read(
                    c,
                    .message(
                        .toServer, .text, TestTape.bytes(#"{"protocol":"json","version":1}"#), deflated: false,
                        fragments: []))
                read(c, .message(.toClient, .text, TestTape.bytes("{}"), deflated: false, fragments: []))
            } else {
                read(
                    c,
                    .response(
                        x: 1, ResponseHead(status: 200), .whole(Array(words[2].utf8)), interim: false, coding: nil,
                        proxy: false))
            }
        }
        return (reader.finish(), reader.exchanges)
    }

    private static func answer(_ token: String) -> String {
        #"{"negotiateVersion":1,"connectionId":"\#(token)","connectionToken":"\#(token)","availableTransports":[{"transport":"WebSockets","transferFormats":["Text"]}]}"#
    }

    @Test func itIsAnsweredAsItWas() throws {
        let (sessions, exchanges) = tape("POST /chat/negotiate?negotiateVersion=1 \(Self.answer("a"))")
        #expect(sessions.isEmpty && exchanges.map(\.isNegotiation) == [true])
        let play = try Playbook(sessions, exchanges: exchanges)
        for _ in 1...2 {
            let c = play.request("POST", "/chat/negotiate?negotiateVersion=2")
            play.pass(ms: 5)
            play.expect(c, "200 \(Self.answer("a"))")
        }
        let report = play.finish()
        #expect(report.verdict == .pass && report.exchanges.played == 2)
    }

    @Test func onesThatWereFollowedAreNone() {
        let lines = """
            POST /chat/negotiate \(Self.answer("a"))
            GET /chat?id=a
            take
            POST /chat/negotiate \(Self.answer("b"))
            """
        let (sessions, exchanges) = tape(lines)
        #expect(sessions.map(\.serverIDs?.token) == ["a"])
        #expect(exchanges.count == 1 && exchanges.allSatisfy { $0.responseBody == Array(Self.answer("b").utf8) })
    }

    @Test func sessionsGoBeforeIt() throws {
        let lines = """
            POST /chat/negotiate \(Self.answer("a"))
            POST /chat/negotiate \(Self.answer("b"))
            GET /chat?id=b
            """
        let (sessions, exchanges) = tape(lines)
        let play = try Playbook(sessions, exchanges: exchanges)
        let c = try play.start()
        #expect(play.lastToken == "b")
        play.send(c, #"{"type":7}"#)
        play.close(c)
        let again = play.request("POST", "/chat/negotiate")
        play.pass(ms: 5)
        play.expect(again, "200 \(Self.answer("a"))")
        let beyond = play.request("POST", "/chat/negotiate")
        #expect(play.answers[beyond]?.status == 404)
        let report = play.finish()
        #expect(report.exchanges.played == 1 && report.exchanges.unplayed == [])
        #expect(report.sessions[0].attempts.count == 3)
    }
}
