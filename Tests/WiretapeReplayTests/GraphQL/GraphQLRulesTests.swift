import Testing
import WiretapeAttempts
import WiretapeReplay
import WiretapeReport

/// The rules of the protocol's server, which replay plays.
@Suite struct GraphQLRulesTests {
    private static let ticks =
        GraphQLPlay.handshake + """
            10 > \(subscribe("a", "subscription { n }"))
            20 < \(next("a", 1))
            5000 < \(next("a", 2))
            5010 < \(complete("a"))
            """

    /// That is the server's patience, and no divergence by itself: ``ServerLimits``.
    @Test func aClientThatDoesNotOpenInTime() throws {
        let play = try GraphQLPlay(Self.ticks)
        let c = play.upgrade()
        play.play.pass(ms: 2_999)
        play.expect(c, ["101"])
        play.play.pass(ms: 1)
        play.expect(c, ["close 4408 Connection initialisation timeout"])
        // It may come back: its session goes on.
        let d = try play.start()
        play.say(d, subscribe("1", "subscription { n }"))
        play.expect(d, [next("1", 1), next("1", 2), complete("1")])
        let report = play.play.finish()
        #expect(report.verdict == .pass, "\(report.reasons)")
        let ended = report.sessions.first?.attempts.first?.ended
        #expect(ended?.by == .server && ended?.how == .close(4408) && ended?.reason == "handshake timeout 3s")
    }

    @Test func rulesOfMessages() throws {
        let breaches: [([String], String)] = [
            ([subscribe("1", "subscription { n }")], "close 4401 Unauthorized"),
            (
                [#"{"type":"connection_init"}"#, #"{"type":"connection_init"}"#],
                "close 4429 Too many initialisation requests"
            ),
            ([#"{"type":"connection_init"}"#, "{"], "close 4400 Invalid message received"),
            (
                [#"{"type":"connection_init"}"#, #"{"type":"start","id":"1","payload":{}}"#],
                "close 4400 Invalid message received"
            ),
            (
                [#"{"type":"connection_init"}"#, subscribe("1", "subscription { n }"), subscribe("1", "{ other }")],
                "close 4409 Subscriber for 1 already exists"
            ),
        ]
        for (messages, wanted) in breaches {
            let play = try GraphQLPlay(Self.ticks, speed: .factor(1))
            let c = play.upgrade()
            for message in messages {
                play.say(c, message)
                play.play.pass(ms: 30)
            }
            #expect(play.play.take(c).last == wanted)
            #expect(play.play.finish().verdict == .diverged)
        }
    }

    /// Where the recorded server ended the session so, the tape tells how.
    @Test func theTapesOwnEndingGoesBefore() throws {
        let play = try GraphQLPlay(
            """
            10 > \(subscribe("a", "subscription { n }"))
            30 < close 4401 Not yet
            """, speed: .factor(1))
        let c = play.upgrade()
        play.say(c, subscribe("1", "subscription { n }"))
        play.expect(c, ["101"])
        play.play.pass(ms: 20)
        play.expect(c, ["close 4401 Not yet"])
        #expect(play.play.finish().verdict == .pass)
    }

    @Test func pingsAreAnsweredAtOnce() throws {
        let play = try GraphQLPlay(Self.ticks)
        let c = play.upgrade()
        play.say(c, #"{"type":"ping"}"#, #"{"type":"ping","payload":{"n":1}}"#, #"{"type":"pong"}"#)
        play.expect(c, ["101", #"{"type":"pong"}"#, #"{"type":"pong","payload":{"n":1}}"#])
        play.say(c, #"{"type":"connection_init"}"#)
        play.say(c, subscribe("1", "subscription { n }"))
        play.expect(c, [GraphQLPlay.ack, next("1", 1), next("1", 2), complete("1")])
        #expect(play.play.finish().verdict == .pass)
    }

    /// An id is free again once its operation is over.
    @Test func idsAreUsedAgain() throws {
        let play = try GraphQLPlay(
            GraphQLPlay.handshake + """
                10 > \(subscribe("a", "{ n }"))
                20 < \(next("a", 1))
                21 < \(complete("a"))
                30 > \(subscribe("b", "{ n }"))
                40 < \(next("b", 2))
                41 < \(complete("b"))
                50 > \(subscribe("c", "subscription { n }"))
                60 > \(complete("c"))
                70 > \(subscribe("d", "subscription { n }"))
                80 < \(complete("d"))
                """)
        let c = try play.start()
        for n in 1...2 {
            play.say(c, subscribe("1", "{ n }"))
            play.expect(c, [next("1", n), complete("1")])
        }
        play.say(c, subscribe("1", "subscription { n }"), complete("1"), subscribe("1", "subscription { n }"))
        play.expect(c, [complete("1")])
        let report = play.play.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished, "\(report.reasons)")
    }

    /// Legacy servers demand no acknowledgement before a start, keep broken connections open, and say `ka` at once.
    @Test func legacyServersAreLenient() throws {
        let play = try GraphQLPlay(
            """
            1 > {"type":"connection_init","payload":{}}
            1 > {"id":"1","type":"start","payload":{"query":"subscription { n }","variables":null}}
            2 < {"type":"connection_ack"}
            2 < {"type":"ka"}
            10 < {"type":"data","id":"1","payload":{"data":{"n":1}}}
            20000 < {"type":"complete","id":"1","payload":null}
            """, chosen: "graphql-ws", speed: .factor(1)
        ) { $0.onDivergence = .warn }
        let c = play.upgrade("graphql-ws")
        play.say(c, #"{"type":"connection_init"}"#, #"{"id":"9","type":"start","payload":{"query":"subscription{n}"}}"#)
        play.play.pass(ms: 10)
        play.expect(
            c,
            [
                "101", GraphQLPlay.ack, #"{"type":"ka"}"#, #"{"type":"data","id":"9","payload":{"data":{"n":1}}}"#,
            ])
        play.say(c, "{")
        play.expect(
            c,
            [
                #"{"type":"connection_error","payload":{"message":"wiretape: diverged at opaque not JSON: expected a name at byte 1: not on chat.tape"}}"#
            ])
        play.play.pass(ms: 19_990)
        play.expect(c, [#"{"type":"ka"}"#, #"{"type":"complete","id":"9","payload":null}"#])
    }
}
