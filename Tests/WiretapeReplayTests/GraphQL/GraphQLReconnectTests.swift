import Testing
import WiretapeAttempts
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// A connection that is lost in the middle: clients start their subscriptions again under ids of their own making.
@Suite struct GraphQLReconnectTests {
    private static let tape =
        GraphQLPlay.handshake + """
            10 > \(subscribe("u1", "subscription A { n }"))
            11 > \(subscribe("u2", "subscription B { n }"))
            20 < \(next("u1", 1))
            30 < \(next("u2", 2))
            40 < \(next("u1", 3))
            50 < \(next("u2", 4))
            60 < \(complete("u1"))
            70 < \(complete("u2"))
            """

    /// The same ids (graphql-ws, Apollo) or ids from 1 (gql), in either order.
    @Test(arguments: [("u1", "u2"), ("1", "2"), ("x", "y")], [false, true])
    func resume(_ ids: (String, String), _ swapped: Bool) throws {
        let play = try GraphQLPlay(Self.tape, speed: .factor(1))
        let c = try play.start()
        play.say(c, subscribe("u1", "subscription A { n }"), subscribe("u2", "subscription B { n }"))
        play.play.pass(ms: 20)
        play.expect(c, [next("u1", 1), next("u2", 2)])
        play.play.close(c, .rst("reset"))
        play.play.pass(ms: 500)
        let d = try play.start()
        let again = [subscribe(ids.0, "subscription A { n }"), subscribe(ids.1, "subscription B { n }")]
        for text in swapped ? again.reversed() : again { play.say(d, text) }
        play.play.pass(ms: 100)
        play.expect(d, [next(ids.0, 3), next(ids.1, 4), complete(ids.0), complete(ids.1)])
        let report = play.play.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished, "\(report.reasons)")
    }

    /// A mutation without its answer is no subscription: the client may say it again or not.
    @Test(arguments: [(true, true, "met"), (false, true, "met"), (true, false, "not met"), (false, false, "not met")])
    func aMutationIsNoSubscription(_ repeatsMutation: Bool, _ subscribesAgain: Bool, _ word: String) throws {
        let tape =
            GraphQLPlay.handshake + """
                10 > \(subscribe("u1", "subscription A { n }"))
                20 < \(next("u1", 1))
                30 > \(subscribe("u2", "mutation Add { n }"))
                40 < \(next("u2", 2))
                41 < \(complete("u2"))
                50 < \(next("u1", 3))
                60 < \(complete("u1"))
                """
        let play = try GraphQLPlay(tape, speed: .factor(1), faults: ["reset before next[operation=Add]"]) { options in
            options.expectations = [try! .parse("resubscribes")]
        }
        let c = try play.start()
        play.say(c, subscribe("1", "subscription A { n }"))
        play.play.pass(ms: 20)
        play.say(c, subscribe("2", "mutation Add { n }"))
        play.play.pass(ms: 50)
        let d = try play.start()
        if subscribesAgain { play.say(d, subscribe("1", "subscription A { n }")) }
        if repeatsMutation { play.say(d, subscribe("2", "mutation Add { n }")) }
        play.play.pass(ms: 900)
        let report = play.play.finish()
        #expect(report.expectations.map(\.word) == [word], "\(report.text)")
    }

    /// The ids of the two operations change places: frames go by this connection's ids.
    @Test func idsAreOfTheirConnection() throws {
        let play = try GraphQLPlay(Self.tape, speed: .factor(1))
        let c = try play.start()
        play.say(c, subscribe("1", "subscription A { n }"), subscribe("2", "subscription B { n }"))
        play.play.pass(ms: 20)
        play.expect(c, [next("1", 1), next("2", 2)])
        play.play.close(c, .fin)
        let d = try play.start()
        play.say(d, subscribe("1", "subscription B { n }"), subscribe("2", "subscription A { n }"))
        play.play.pass(ms: 100)
        play.expect(d, [next("2", 3), next("1", 4), complete("2"), complete("1")])
    }

    /// A server may still say something of an operation that the client has ended; a client that has left in order meanwhile
    /// is owed nothing more of it. What is left of the others is.
    @Test(arguments: [false, true])
    func leavesBehindACancel(_ isOther: Bool) throws {
        let tape =
            GraphQLPlay.handshake + """
                10 > \(subscribe("u1", "subscription A { n }"))
                20 < \(next("u1", 1))
                30 > \(#"{"id":"u1","type":"complete"}"#)
                40 < \(next("u1", 2))
                50 < \(complete("u1"))

                """
        let other = """
            60 > \(subscribe("u2", "{ n }"))
            70 < \(next("u2", 4))
            """
        let play = try GraphQLPlay(isOther ? tape + other : tape, speed: .factor(1))
        let c = try play.start()
        play.say(c, subscribe("1", "subscription A { n }"))
        play.play.pass(ms: 10)
        play.expect(c, [next("1", 1)])
        play.say(c, #"{"id":"1","type":"complete"}"#)
        if isOther { play.say(c, subscribe("2", "{ n }")) }
        play.play.close(c, .closeFrame(code: 1000, reason: ""))
        let report = play.play.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished != isOther, "\(report.reasons)")
    }

    /// What was due meanwhile is lost; the rest comes under the new ids.
    @Test func live() throws {
        let play = try GraphQLPlay(Self.tape, speed: .factor(1)) { $0.onReconnect = .live }
        let c = try play.start()
        play.say(c, subscribe("1", "subscription A { n }"), subscribe("2", "subscription B { n }"))
        play.play.pass(ms: 10)
        play.expect(c, [next("1", 1)])
        play.play.close(c, .rst("reset"))
        play.play.pass(ms: 25)
        let d = try play.start()
        play.say(d, subscribe("4", "subscription B { n }"), subscribe("3", "subscription A { n }"))
        play.play.pass(ms: 100)
        play.expect(d, [next("4", 4), complete("3"), complete("4")])
        #expect(play.play.finish().verdict == .pass)
    }

    /// A fault of the plan cuts between two items.
    @Test func afterAFault() throws {
        let play = try GraphQLPlay(Self.tape, speed: .factor(1), faults: ["reset after next[2]"])
        let c = try play.start()
        play.say(c, subscribe("1", "subscription A { n }"), subscribe("2", "subscription B { n }"))
        play.play.pass(ms: 200)
        play.expect(c, [next("1", 1), next("2", 2), "RST"])
        let d = try play.start()
        play.say(d, subscribe("1", "subscription A { n }"), subscribe("2", "subscription B { n }"))
        play.play.pass(ms: 200)
        play.expect(d, [next("1", 3), next("2", 4), complete("1"), complete("2")])
        #expect(play.play.finish().verdict == .pass)
    }

    /// A query that is sent again gets its result again, whole.
    @Test func aQueryIsAnsweredAgain() throws {
        let play = try GraphQLPlay(
            GraphQLPlay.handshake + """
                10 > \(subscribe("a", "{ n }"))
                20 < \(next("a", 1))
                30 < \(complete("a"))
                90 > \(subscribe("b", "{ m }"))
                91 < \(complete("b"))
                """, speed: .factor(1))
        let c = try play.start()
        play.say(c, subscribe("1", "{ n }"))
        play.play.pass(ms: 10)
        play.expect(c, [next("1", 1)])
        for id in ["1", "2"] {
            play.play.close(id == "1" ? c : c + 1, .rst("reset"))
            let d = try play.start()
            play.say(d, subscribe(id, "{ n }"))
            play.play.pass(ms: 20)
            play.expect(d, [next(id, 1), complete(id)])
        }
    }

    /// AppSync's clients wait for an acknowledgement of each start, on each connection.
    @Test func acknowledgementsAreServedAgain() throws {
        let start = { (id: String) in
            #"{"id":"\#(id)","type":"start","payload":{"data":"{\"query\":\"subscription S { n }\"}","extensions":{}}}"#
        }
        let data = { (id: String, n: Int) in #"{"id":"\#(id)","type":"data","payload":{"data":{"n":\#(n)}}}"# }
        let play = try GraphQLPlay(
            GraphQLPlay.handshake + """
                10 > \(start("u"))
                11 < {"id":"u","type":"start_ack"}
                20 < \(data("u", 1))
                30 < \(data("u", 2))
                """, chosen: "graphql-ws", speed: .factor(1))
        let c = try play.start()
        play.say(c, start("v"))
        play.play.pass(ms: 10)
        play.expect(c, [#"{"id":"v","type":"start_ack"}"#, data("v", 1)])
        play.play.close(c, .fin)
        let d = try play.start()
        play.say(d, start("w"))
        play.play.pass(ms: 20)
        play.expect(d, [#"{"id":"w","type":"start_ack"}"#, data("w", 2)])
    }
}
