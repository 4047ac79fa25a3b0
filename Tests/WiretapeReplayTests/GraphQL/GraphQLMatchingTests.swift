import Testing
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

@Suite struct GraphQLMatchingTests {
    private static let query = "subscription OnTick($limit: Int!) { tick(limit: $limit) }"
    private static let tape =
        GraphQLPlay.handshake + """
            10 > \(subscribe("a", query, #"{"limit":3,"filter":{"kind":"x"}}"#))
            20 < \(next("a", 1))
            30 < \(complete("a"))
            """

    /// Other white space, order of members and id: acceptance line 3.
    @Test func otherSpellingsMatch() throws {
        let play = try GraphQLPlay(Self.tape)
        let c = try play.start()
        play.say(
            c,
            #"{ "type" : "subscribe", "payload" : { "operationName":"OnTick", "variables" : { "filter": { "kind" : "x" }, "limit" : 3 }, "query" : "subscription OnTick(\n  $limit : Int!,\n) {\n  __typename\n  tick ( limit : $limit )\n}\n" }, "id" : "f00d" }"#
        )
        play.expect(c, [next("f00d", 1), complete("f00d")])
        let report = play.play.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished)
    }

    /// Another variable does not, and the report says which.
    @Test func anotherVariableDoesNot() throws {
        let play = try GraphQLPlay(Self.tape)
        let c = try play.start()
        play.say(c, subscribe("7", Self.query, #"{"limit":3,"filter":{"kind":"y"}}"#))
        let said = play.play.take(c)
        #expect(
            said.first
                == #"{"id":"7","type":"error","payload":[{"message":"wiretape: diverged at subscribe OnTick(limit: 3, filter: {\"kind\":\"y\"}): not on chat.tape"}]}"#
        )
        #expect(said.last?.hasPrefix("close 1011 wiretape: diverged at subscribe OnTick") == true)
        let text = try #require(play.play.logs.first)
        #expect(
            text.contains("/payload/variables/filter/kind") && text.contains("recorded  subscribe OnTick(limit: 3"),
            "\(text)")
        #expect(text.contains("--ignore 'OnTick:/payload/variables/filter/kind'"))
    }

    @Test func anIgnoreRuleAcceptsIt() throws {
        let play = try GraphQLPlay(Self.tape) {
            $0.ignore = [IgnoreRule(label: "OnTick", pointer: "/payload/variables/filter/kind")]
        }
        let c = try play.start()
        play.say(c, subscribe("7", Self.query, #"{"limit":3,"filter":{"kind":"y"}}"#))
        play.expect(c, [next("7", 1), complete("7")])
    }

    /// Operations at once, the same query with different variables: each gets its own.
    @Test func operationsAreToldApart() throws {
        let play = try GraphQLPlay(
            GraphQLPlay.handshake + """
                10 > \(subscribe("a", Self.query, #"{"limit":1}"#))
                11 > \(subscribe("b", Self.query, #"{"limit":2}"#))
                12 > \(subscribe("c", "mutation { add }"))
                20 < \(next("b", 20))
                21 < \(next("a", 10))
                22 < \(next("c", 30))
                23 < \(complete("c"))
                24 < \(complete("a"))
                25 < \(complete("b"))
                """)
        let c = try play.start()
        play.say(c, subscribe("1", "mutation { add }"))
        // An answer whose operation has come need not wait for the others.
        play.expect(c, [next("1", 30), complete("1")])
        play.say(c, subscribe("2", Self.query, #"{"limit":2}"#), subscribe("3", Self.query, #"{"limit":1}"#))
        play.expect(c, [next("2", 20), next("3", 10), complete("3"), complete("2")])
        #expect(play.play.finish().verdict == .pass)
    }

    /// A client that ends an operation early, or one that is over: no divergence either way.
    @Test func endsMayCross() throws {
        let play = try GraphQLPlay(
            GraphQLPlay.handshake + """
                10 > \(subscribe("a", "subscription { n }"))
                20 < \(next("a", 1))
                30 < \(next("a", 2))
                31 < \(complete("a"))
                32 > \(complete("a"))
                40 > \(subscribe("b", "subscription { m }"))
                50 < \(next("b", 1))
                60 < \(next("b", 2))
                70 < \(complete("b"))
                """, speed: .factor(1))
        let c = try play.start()
        // This client does not cross: what the tape has after the end is not waited for.
        play.say(c, subscribe("1", "subscription { n }"))
        play.play.pass(ms: 30)
        play.expect(c, [next("1", 1), next("1", 2), complete("1")])
        play.say(c, subscribe("2", "subscription { m }"))
        play.play.pass(ms: 10)
        play.expect(c, [next("2", 1)])
        play.say(c, complete("2"), complete("2"), complete("1"), complete("unknown"))
        play.play.pass(ms: 31_000)
        play.expect(c, [])
        let report = play.play.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished, "\(report.reasons)")
    }

    /// Over a WebSocket a recorded cancellation is required, even of a client that closes its socket.
    @Test func aCancellationOverAWebSocketIsRequired() throws {
        let play = try GraphQLPlay(
            GraphQLPlay.handshake + """
                10 > \(subscribe("a", "subscription { n }"))
                20 < \(next("a", 1))
                30 > \(complete("a"))
                """)
        let c = try play.start()
        play.say(c, subscribe("1", "subscription { n }"))
        play.expect(c, [next("1", 1)])
        play.play.close(c, .closeFrame(code: 1000, reason: ""))
        let report = play.play.finish()
        #expect(report.verdict == .diverged, "\(report.reasons)")
        #expect(report.sessions.first?.missing.count == 1)
    }

    /// The recorded client ended it later than this one does.
    @Test func anEarlyEndDropsWhatCameBeforeTheRecordedOne() throws {
        let play = try GraphQLPlay(
            GraphQLPlay.handshake + """
                10 > \(subscribe("a", "subscription { n }"))
                20 < \(next("a", 1))
                30 < \(next("a", 2))
                40 > \(complete("a"))
                41 < \(next("a", 3))
                50 > \(subscribe("b", "{ m }"))
                60 < \(next("b", 1))
                61 < \(complete("b"))
                """, speed: .factor(1))
        let c = try play.start()
        play.say(c, subscribe("1", "subscription { n }"))
        play.play.pass(ms: 10)
        play.say(c, complete("1"))
        play.play.pass(ms: 100)
        play.expect(c, [next("1", 1), next("1", 3)])
        play.say(c, subscribe("2", "{ m }"))
        play.play.pass(ms: 11)
        play.expect(c, [next("2", 1), complete("2")])
        #expect(play.play.finish().verdict == .pass)
    }

    @Test func noOtherProtocolIsTranslated() throws {
        let play = try GraphQLPlay(Self.tape)
        let c = play.upgrade("graphql, chat")
        play.expect(
            c,
            [
                "404 no session on chat.tape for GET /graphql in a subprotocol that the client offers (graphql, chat). "
                    + "It has: graphql-transport-ws.\n"
            ])
        #expect(play.play.finish().verdict == .diverged)
    }

    /// A tape without heads is served in the dialect of its messages.
    @Test func tapesWithoutHeads() throws {
        let play = try GraphQLPlay(Self.tape, chosen: nil)
        #expect(play.play.take(play.upgrade("chat")).first?.hasPrefix("404") == true)
        let none = try GraphQLPlay(Self.tape, chosen: nil)
        none.expect(none.upgrade(nil), ["101"])
    }
}
