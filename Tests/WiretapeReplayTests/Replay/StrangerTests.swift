import Testing
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// A request that the tape does not have is always answered with the protocol's own error for its id, whatever
/// `--on-divergence` says and whenever it comes: who waits for an answer must never wait for ever. `stall` alone is silent.
@Suite struct StrangerTests {
    static let ways = [OnDivergence.warn, .ignore, .fail]

    private func quiet(_ options: inout ReplayOptions, _ way: OnDivergence) {
        options.onDivergence = way
        options.keepalive = .off
    }

    /// What came, without the end that `fail` puts behind it.
    private func expect(
        _ got: [String], _ wanted: [String], _ way: OnDivergence,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let ended = got.last?.hasPrefix("close 1011 wiretape: diverged at") == true
        #expect(ended == (way == .fail), sourceLocation: sourceLocation)
        #expect(got.dropLast(ended ? 1 : 0) == wanted[...], sourceLocation: sourceLocation)
    }

    @Test(arguments: ways) func aCallThatComesAgain(_ way: OnDivergence) throws {
        let tape = TestTape.session(
            TestTape.handshake + """
                3 > \(call("0", "Add", "1"))
                4 < \(done("0", "1"))
                5 > \(push("Bye"))
                """)
        let play = try Playbook([tape], speed: .instant) { quiet(&$0, way) }
        let c = try play.start()
        play.send(c, call("7", "Add", "1"))
        play.expect(c, done("7", "1"))
        play.send(c, call("8", "Add", "1"))
        expect(play.take(c), [refused("8", "Invocation Add(1)")], way)
    }

    /// The call was given up and comes late: its own answer is served. Once more: the protocol's error.
    @Test(arguments: ways.dropLast()) func aCallThatComesLate(_ way: OnDivergence) throws {
        let tape = TestTape.session(
            TestTape.handshake + """
                3 > \(call("0", "Add", "1"))
                4 > \(stream("1", "Count"))
                5 < \(done("0", "1"))
                6 < \(end("1"))
                7 < \(push("Tick"))
                """)
        let play = try Playbook([tape]) {
            quiet(&$0, way)
            $0.grace = 3_600_000_000_000
        }
        let c = try play.start()
        play.pass(ms: 31_000)
        play.expect(c, push("Tick"))
        play.send(c, stream("5", "Count"))
        play.send(c, call("6", "Add", "1"))
        play.send(c, call("7", "Add", "1"))
        play.pass(ms: 10)
        #expect(
            Set(play.take(c)) == [end("5"), done("6", "1"), refused("7", "Invocation Add(1)")])
        let session = play.finish().sessions[0]
        // The stream stood behind the call at which the client had stopped.
        #expect(session.late == ["client message 2 (chat.tape:13, Invocation Add)"] && session.missing == [])
        #expect(session.unexpected == ["Invocation Add(1)"] && session.finished)
    }

    @Test(arguments: ways) func aHandshakeOfAnotherKind(_ way: OnDivergence) throws {
        let play = try Playbook([TestTape.session(TestTape.handshake + "3 < \(push("Tick"))")]) { quiet(&$0, way) }
        let c = play.upgrade(play.negotiate())
        play.send(c, #"{"protocol":"messagepack","version":1}"#)
        let got = play.take(c)
        #expect(
            got.first == "101" && got.dropFirst().first?.hasPrefix(#"{"error":"The protocol 'messagepack' "#) == true)
    }

    // MARK: GraphQL

    private func graphQLError(_ id: String, _ title: String, _ chosen: String) -> String {
        let message = JSONValue.string("wiretape: diverged at \(title): not on chat.tape").text
        let error = #"{"message":\#(message)}"#
        return #"{"id":"\#(id)","type":"error","payload":\#(chosen == "graphql-ws" ? error : "[\(error)]")}"#
    }

    private func start(_ id: String, _ n: Int, _ chosen: String) -> String {
        let type = chosen == "graphql-ws" ? "start" : "subscribe"
        let payload = #"{"query":"subscription Count($to: Int!) { n }","variables":{"to":\#(n),"delay":\#(n * 10)}}"#
        return #"{"id":"\#(id)","type":"\#(type)","payload":\#(payload)}"#
    }

    private func result(_ id: String, _ n: Int, _ chosen: String) -> String {
        #"{"id":"\#(id)","type":"\#(chosen == "graphql-ws" ? "data" : "next")","payload":{"data":{"n":\#(n)}}}"#
    }

    private func script(_ chosen: String) -> String {
        GraphQLPlay.handshake + """
            3 > \(start("1", 6, chosen))
            4 > \(start("2", 4, chosen))
            10 < \(result("1", 6, chosen))
            11 < \(complete("1"))
            12 < \(result("2", 4, chosen))
            13 < \(complete("2"))
            """
    }

    /// The same operation with another variable beside one of the tape, in both orders, before the connection is
    /// acknowledged (as older clients do) and after.
    @Test(arguments: ways.dropLast(), ["graphql-ws", "graphql-transport-ws"])
    func anotherVariable(_ way: OnDivergence, _ chosen: String) throws {
        for isEarly in chosen == "graphql-ws" ? [true, false] : [false] {
            for otherFirst in [true, false] {
                let play = try GraphQLPlay(script(chosen), chosen: chosen) { quiet(&$0, way) }
                let c = play.upgrade(chosen)
                play.say(c, #"{"type":"connection_init"}"#)
                if !isEarly { play.play.pass(ms: 5) }
                let said = [start("x", 5, chosen), start("a", 6, chosen)]
                for text in otherFirst ? said : said.reversed() { play.say(c, text) }
                play.play.pass(ms: 30)
                let got = play.play.take(c)
                #expect(got.contains(result("a", 6, chosen)) && got.contains(complete("a")), "\(got)")
                // It stands for the other operation of the tape.
                #expect(got.contains(result("x", 4, chosen)) && got.contains(complete("x")), "\(got)")
                #expect(got.count == 6)
                play.say(c, start("y", 5, chosen))
                play.play.pass(ms: 5)
                let title = try #require(play.play.finish().sessions[0].unexpected.last)
                #expect(play.play.take(c) == [graphQLError("y", title, chosen)])
            }
        }
    }

    @Test(arguments: ways, ["graphql-ws", "graphql-transport-ws"])
    func anotherOperation(_ way: OnDivergence, _ chosen: String) throws {
        let play = try GraphQLPlay(script(chosen), chosen: chosen) { quiet(&$0, way) }
        let c = try play.start()
        play.say(c, start("x", 5, chosen).replacing("Count", with: "Erase"))
        let title = try #require(play.play.finish().sessions[0].unexpected.first)
        expect(play.play.take(c), [graphQLError("x", title, chosen)], way)
    }

    /// Before the acknowledgement it would be taken for that by nobody, but answers come behind it all the same.
    @Test(arguments: ways.dropLast())
    func anotherOperationBeforeTheAcknowledgement(_ way: OnDivergence) throws {
        let play = try GraphQLPlay(script("graphql-ws"), chosen: "graphql-ws", speed: .factor(1)) { quiet(&$0, way) }
        let c = play.upgrade("graphql-ws")
        play.say(
            c, #"{"type":"connection_init"}"#, start("x", 5, "graphql-ws").replacing("Count", with: "Erase"))
        play.expect(c, ["101"])
        play.play.pass(ms: 5)
        let title = try #require(play.play.finish().sessions[0].unexpected.first)
        play.expect(c, [GraphQLPlay.ack, graphQLError("x", title, "graphql-ws")])
    }

    // MARK: Others

    @Test(arguments: ways) func aChannelThatTheTapeDoesNotHave(_ way: OnDivergence) throws {
        let tape = EventflitTape.session(
            """
            1 < hello 1.2
            10 > subscribe room
            12 < succeeded room {}
            """)
        let play = try Playbook([tape], speed: .instant) { quiet(&$0, way) }
        let c = play.request(
            "GET", "/app/KEY?version=1&client=other&protocol=6",
            [HeaderField("Upgrade", "websocket"), HeaderField("Connection", "Upgrade")])
        play.pass(ms: 1)
        _ = play.take(c)
        play.sendBytes(c, .text, Array(EventflitTape.text("subscribe room", .toServer).utf8))
        play.expect(c, EventflitTape.text("succeeded room {}", .toClient))
        play.sendBytes(c, .text, Array(EventflitTape.text("subscribe cellar", .toServer).utf8))
        let got = play.take(c)
        #expect(got.first?.hasPrefix(#"{"event":"pusher:subscription_error","channel":"cellar""#) == true, "\(got)")
        #expect(got.count == (way == .fail ? 2 : 1))
    }

    /// Its messages have no ids and want no answers: nobody waits.
    @Test(arguments: ways) func aMessageOfAProtocolWithoutRequests(_ way: OnDivergence) throws {
        let play = try Playbook(try AtmosphereTape.sessions("5 > hello\n9 < welcome"), speed: .instant) {
            quiet(&$0, way)
        }
        let c = play.atmosphere("websocket")
        play.pass(ms: 1)
        _ = play.take(c)
        play.sendBytes(c, .text, Array("hello".utf8))
        _ = play.take(c)
        play.sendBytes(c, .text, Array("more".utf8))
        expect(play.take(c), [], way)
    }
}
