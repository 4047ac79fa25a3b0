import Testing
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// A session of one subprotocol for a client that speaks another one.
@Suite struct GraphQLDialectTests {
    private static let query = #"{"query":"subscription { n }","variables":{}}"#
    private static let failing = #"{"query":"subscription { no }","variables":{}}"#

    private static let new =
        GraphQLPlay.handshake + """
            10 > {"id":"a","type":"subscribe","payload":\(query)}
            20 < {"id":"a","type":"next","payload":{"data":{"n":1}}}
            30 < {"id":"a","type":"complete"}
            40 > {"id":"b","type":"subscribe","payload":\(failing)}
            50 < {"id":"b","type":"error","payload":[{"message":"no"},{"message":"more"}]}
            """
    private static let old =
        GraphQLPlay.handshake + """
            5 < {"type":"ka"}
            10 > {"id":"a","type":"start","payload":\(query)}
            15 < {"type":"start_ack","id":"a"}
            20 < {"type":"data","id":"a","payload":{"data":{"n":1}}}
            30 < {"type":"complete","id":"a","payload":null}
            40 > {"id":"b","type":"start","payload":\(failing)}
            50 < {"type":"error","id":"b","payload":{"message":"no"}}
            60 > {"type":"connection_terminate","payload":null}
            """

    private func open(_ play: GraphQLPlay, _ offered: String) -> ConnectionID {
        let c = play.upgrade(offered)
        play.say(c, #"{"type":"connection_init","payload":{}}"#)
        play.play.pass(ms: 10)
        return c
    }

    private func subprotocol(_ play: GraphQLPlay, _ c: ConnectionID) -> String? {
        play.play.upgrades[c]?.first("Sec-WebSocket-Protocol")
    }

    @Test func aTapeOfTheNewOneServesAnOldClient() throws {
        let play = try GraphQLPlay(Self.new, speed: .factor(1))
        let c = open(play, "graphql-ws")
        #expect(subprotocol(play, c) == "graphql-ws")
        play.expect(c, ["101", GraphQLPlay.ack])
        // It need not wait for the acknowledgement, and its messages are called otherwise.
        play.say(c, #"{"id":"1","type":"start","payload":\#(Self.query)}"#)
        play.play.pass(ms: 100)
        play.expect(
            c, [#"{"id":"1","type":"data","payload":{"data":{"n":1}}}"#, #"{"id":"1","type":"complete"}"#])
        play.say(c, #"{"id":"2","type":"start","payload":\#(Self.failing)}"#)
        play.play.pass(ms: 100)
        play.expect(c, [#"{"id":"2","type":"error","payload":{"message":"no"}}"#])
        play.say(c, #"{"type":"connection_terminate"}"#)
        // The servers of the older dialect close without a code then.
        play.expect(c, ["close -"])
        let report = play.play.finish()
        #expect(report.verdict == .pass, "\(report.reasons)")
        #expect(report.sessions[0].finished && report.sessions[0].missing.isEmpty)
        let told =
            "wiretape: session 1: the client speaks graphql-ws instead of graphql-transport-ws, and the session is translated"
        #expect(play.play.logs.contains(told), "\(play.play.logs)")
    }

    @Test func aTapeOfTheOldOneServesANewClient() throws {
        let play = try GraphQLPlay(Self.old, chosen: "graphql-ws", speed: .factor(1))
        let c = open(play, "graphql-transport-ws")
        #expect(subprotocol(play, c) == "graphql-transport-ws")
        play.expect(c, ["101", GraphQLPlay.ack])
        play.say(c, #"{"id":"x","type":"subscribe","payload":\#(Self.query)}"#)
        play.play.pass(ms: 100)
        // Neither ka nor start_ack: the client would not understand them.
        play.expect(
            c,
            [#"{"id":"x","type":"next","payload":{"data":{"n":1}}}"#, #"{"type":"complete","id":"x","payload":null}"#])
        play.say(c, #"{"id":"y","type":"subscribe","payload":\#(Self.failing)}"#)
        play.play.pass(ms: 100)
        play.expect(c, [#"{"id":"y","type":"error","payload":[{"message":"no"}]}"#])
        // Its keepalives are those of its dialect, both ways.
        play.say(c, #"{"type":"ping"}"#)
        play.expect(c, [#"{"type":"pong"}"#])
        play.play.pass(ms: 12_000)
        play.expect(c, [#"{"type":"ping"}"#])
        play.play.close(c, .closeFrame(code: 1000, reason: ""))
        let report = play.play.finish()
        #expect(report.verdict == .pass, "\(report.reasons)")
        #expect(report.sessions[0].finished)
    }

    /// Servers of the new dialect say with a close code what those of the old one say in a message.
    @Test func aRefusalIsTranslated() throws {
        let refused = """
            1 > {"type":"connection_init","payload":{}}
            2 < {"type":"connection_error","payload":{"message":"Prohibited connection!"}}
            12 < close 1011
            """
        let play = try GraphQLPlay(refused, chosen: "graphql-ws", speed: .factor(1))
        let c = open(play, "graphql-transport-ws")
        play.play.pass(ms: 20)
        play.expect(c, ["101", "close 4403 Forbidden"])
        #expect(play.play.finish().verdict == .pass)
        let same = try GraphQLPlay(refused, chosen: "graphql-ws", speed: .factor(1))
        let d = open(same, "graphql-ws")
        same.play.pass(ms: 20)
        same.expect(
            d, ["101", #"{"type":"connection_error","payload":{"message":"Prohibited connection!"}}"#, "close 1011"])
    }

    /// The oldest names are a dialect of their own.
    @Test func theOldestNames() throws {
        let play = try GraphQLPlay(Self.new, speed: .factor(1))
        let c = play.upgrade("graphql-subscriptions")
        play.say(c, #"{"type":"init","payload":{}}"#)
        play.play.pass(ms: 10)
        play.expect(c, ["101", #"{"type":"init_success"}"#])
        play.say(c, #"{"id":"1","type":"subscription_start","query":"subscription { n }","variables":{}}"#)
        play.play.pass(ms: 100)
        #expect(play.play.take(c).first == #"{"id":"1","type":"subscription_data","payload":{"data":{"n":1}}}"#)
    }

    /// Who offers both gets the recorded one, and a session that was recorded in an offered one goes before others.
    @Test func exactMatchesGoFirst() throws {
        let play = try GraphQLPlay(Self.new, speed: .factor(1))
        #expect(subprotocol(play, play.upgrade("graphql-ws, graphql-transport-ws")) == "graphql-transport-ws")
        var old = GraphQLPlay.session(Self.old, number: 2, chosen: "graphql-ws")
        old.name = "old"
        let both = try Playbook([GraphQLPlay.session(Self.new, chosen: "graphql-transport-ws"), old])
        let c = both.request(
            "GET", "/graphql",
            [HeaderField("Upgrade", "websocket"), HeaderField("Sec-WebSocket-Protocol", "graphql-ws")])
        #expect(both.upgrades[c]?.first("Sec-WebSocket-Protocol") == "graphql-ws")
        #expect(both.finish().sessions.map(\.session) == [2])
    }

    /// AppSync's messages are none of the other dialects'.
    @Test func anAppSyncTapeServesItsOwnClientsOnly() throws {
        let script = """
            1 > {"type":"connection_init"}
            2 < {"type":"connection_ack","payload":{"connectionTimeoutMs":300000}}
            10 > {"id":"a","type":"start","payload":{"data":"{\\"query\\":\\"subscription { n }\\"}"}}
            20 < {"type":"data","id":"a","payload":{"data":{"n":1}}}
            """
        let play = try GraphQLPlay(script, chosen: "graphql-ws")
        let c = play.upgrade("graphql-transport-ws")
        #expect(play.play.answers[c]?.status == 404)
    }
}
