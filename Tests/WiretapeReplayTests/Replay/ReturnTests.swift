import Testing
import WiretapeAttempts
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// Behind the last message: a client that has lost its connection then is let in again, whatever its protocol.
@Suite struct ReturnTests {
    private static let ticks =
        TestTape.handshake + (1...3).map { "\($0 * 10) < \(push("Tick", "\($0)"))\n" }.joined()

    private func tick(_ n: Int) -> String { push("Tick", "\(n)") }

    private func wants(_ play: Playbook, attempts: Int, sourceLocation: SourceLocation = #_sourceLocation) {
        let report = play.finish()
        #expect(report.verdict == .pass, "\(report.reasons)", sourceLocation: sourceLocation)
        #expect(report.sessions.map(\.finished) == [true], sourceLocation: sourceLocation)
        #expect(
            report.sessions[0].attempts.map(\.outcome) == Array(repeating: .connected, count: attempts),
            sourceLocation: sourceLocation)
    }

    /// A rule ends the connection behind the last message; the client comes back as often as that happens.
    @Test(arguments: [
        "reset after Tick[3]", "disconnect after Tick[3]", "close(1011) after Tick[3]",
        "reset since handshake=5s",
        "stall(both) after Tick[3]",
    ])
    func aClientThatARuleCutOffIsLetIn(_ rule: String) throws {
        let play = try Playbook([TestTape.session(Self.ticks)], faults: [rule])
        let c = try play.start()
        play.pass(ms: 6_000)
        let got = play.take(c)
        #expect(Array(got.prefix(3)) == (1...3).map(tick) && got.count > 3, "\(got)")
        let d = try play.start()
        play.pass(ms: 1_000)
        play.expect(d)
        wants(play, attempts: 2)
    }

    /// So is one that the network took the connection from, or that gave it up itself.
    @Test(arguments: [
        ClientEnd.fin, .rst("reset"), .closeFrame(code: nil, reason: ""), .closeFrame(code: 4_000, reason: "timeout"),
    ])
    func aClientThatLostItsConnectionIsLetIn(_ how: ClientEnd) throws {
        let play = try Playbook([TestTape.session(Self.ticks)])
        let c = try play.start()
        play.pass(ms: 100)
        _ = play.take(c)
        play.close(c, how)
        let d = try play.start()
        // Keepalives go on, as with a server that has nothing to say.
        play.pass(ms: 16_000)
        play.expect(d, #"{"type":6}"#)
        wants(play, attempts: 2)
    }

    /// Who leaves in order is through with the session: what it wants next is beyond those recorded.
    @Test(arguments: [1000, 1001] as [UInt16]) func aClientThatLeftInOrderIsNot(_ code: UInt16) throws {
        let play = try Playbook([TestTape.session(Self.ticks)])
        let c = try play.start()
        play.pass(ms: 100)
        play.close(c, .closeFrame(code: code, reason: ""))
        #expect(play.negotiate() == nil)
        #expect(play.take(play.refused).first?.hasPrefix("404 no session left on chat.tape") == true)
        let farewell = try Playbook([TestTape.session(Self.ticks)])
        let d = try farewell.start()
        farewell.pass(ms: 100)
        farewell.send(d, #"{"type":7}"#)
        #expect(farewell.negotiate() == nil)
    }

    /// `--when-exhausted` is for clients beyond the recorded sessions, and not for one that lost its connection.
    @Test(arguments: [ReplayOptions.WhenExhausted.repeat, .last])
    func nothingIsPlayedAgainForAClientThatIsBack(_ how: ReplayOptions.WhenExhausted) throws {
        let play = try Playbook([TestTape.session(Self.ticks)], faults: ["reset after Tick[3]"]) {
            $0.whenExhausted = how
        }
        let c = try play.start()
        play.pass(ms: 100)
        play.expect(c, tick(1), tick(2), tick(3), "RST")
        let d = try play.start()
        play.pass(ms: 100)
        play.expect(d)
        play.close(d, .closeFrame(code: nil, reason: ""))
        let e = try play.start()
        play.pass(ms: 100)
        play.expect(e, tick(1), tick(2), tick(3), "RST")
        #expect(play.finish().sessions.map(\.run) == [1, 2])
    }

    /// As long as an unclaimed session is left, the client gets that, so that a tape plays its own reconnects.
    @Test func theNextSessionGoesBeforeThat() throws {
        let play = try Playbook(
            [TestTape.session(Self.ticks), TestTape.session(Self.ticks, number: 2)], faults: ["reset after Tick[3]"])
        for n in 0..<3 {
            let c = try play.start()
            play.pass(ms: 100)
            #expect(play.take(c) == (n == 2 ? [] : (1...3).map(tick) + ["RST"]))
        }
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions.map { $0.attempts.count } == [1, 2])
    }

    /// An ending of the server that is the tape's last is one that a client may come back from as well.
    @Test(arguments: ["close 1000", "close 4001 away", "disconnect", "reset"])
    func aRecordedEndingIsComeBackFrom(_ ending: String) throws {
        for policy in [ReplayOptions.OnReconnect.resume, .lose(1), .rewind(1), .live, .restart, .next, .refuse] {
            let play = try Playbook([TestTape.session(Self.ticks + "40 < \(ending)")]) { $0.onReconnect = policy }
            let c = try play.start()
            play.pass(ms: 200)
            #expect(play.take(c).count == 4)
            let d = try play.start()
            play.pass(ms: 1_000)
            play.expect(d)
            wants(play, attempts: 2)
        }
    }

    /// What the policies make of a connection that was lost behind the last message.
    @Test(arguments: [
        (ReplayOptions.OnReconnect.resume, 0), (.lose(1), 0), (.rewind(2), 2), (.live, 0), (.restart, 3), (.next, 0),
    ])
    func policiesHoldThereToo(_ policy: ReplayOptions.OnReconnect, _ count: Int) throws {
        let play = try Playbook([TestTape.session(Self.ticks)]) { $0.onReconnect = policy }
        let c = try play.start()
        play.pass(ms: 100)
        _ = play.take(c)
        play.close(c)
        let d = try play.start()
        play.pass(ms: 100)
        #expect(play.take(d) == (1...3).suffix(count).map(tick))
        wants(play, attempts: 2)
    }

    @Test func refuseRefusesThereToo() throws {
        let play = try Playbook([TestTape.session(Self.ticks)]) { $0.onReconnect = .refuse }
        let c = try play.start()
        play.pass(ms: 100)
        play.close(c)
        #expect(play.negotiate() == nil)
        play.expect(play.refused, "404 session 1 of chat.tape is not resumed (--on-reconnect refuse)\n")
    }

    /// A call that was answered gets its answer again; one that is not on the tape is a divergence, as ever.
    @Test func whatItSaysThenIsCompared() throws {
        let tape = TestTape.session(TestTape.handshake + "10 > \(call("0", "Join", "1"))\n11 < \(done("0", "7"))")
        let play = try Playbook([tape])
        let c = try play.start()
        play.send(c, call("0", "Join", "1"))
        play.pass(ms: 10)
        play.expect(c, done("0", "7"))
        play.close(c, .rst("reset"))
        let d = try play.start()
        play.send(d, call("5", "Join", "1"))
        play.pass(ms: 10)
        play.expect(d, done("5", "7"))
        #expect(play.finish().verdict == .pass)
        play.send(d, call("6", "Join", "2"))
        #expect(play.finish().verdict == .diverged)
    }

    /// The message that a rule cuts short was not played: it is the first that the client gets when it is back.
    @Test(arguments: ["", " + reset"]) func aMessageThatWasCutShortComesAgain(_ end: String) throws {
        let play = try Playbook([TestTape.session(Self.ticks)], faults: ["truncate(4)\(end) on Tick[3]"])
        let c = try play.start()
        play.pass(ms: 100)
        play.expect(c, tick(1), tick(2), "limit 4", tick(3), end.isEmpty ? "FIN" : "RST")
        #expect(!play.finish().sessions[0].finished)
        let d = try play.start()
        play.pass(ms: 100)
        play.expect(d, tick(3))
        wants(play, attempts: 2)
    }

    /// Attempts that rules refuse behind the last message are the session's, so that policies judge them.
    @Test(arguments: ["respond(503) on connect[retry=1]", "outage(1s, answer=503) after Tick[3]"])
    func refusedAttemptsAreTheSessions(_ rule: String) throws {
        let cut = rule.hasPrefix("outage") ? [] : ["reset after Tick[3]"]
        let play = try Playbook([TestTape.session(Self.ticks)], faults: [rule] + cut)
        let c = try play.start()
        play.pass(ms: 100)
        _ = play.take(c)
        #expect(play.negotiate() == nil)
        play.pass(ms: 2_000)
        _ = try play.start()
        let report = play.finish()
        #expect(report.verdict == .pass)
        #expect(report.sessions[0].attempts.map(\.outcome) == [.connected, .status, .connected])
    }

    @Test func aRenewedCredentialIsTheSameClients() throws {
        let play = try Playbook([TestTape.session(Self.ticks)], faults: ["reset after Tick[3]"])
        for credential in ["a", "b"] {
            let c = play.request(
                "POST", "/chat/negotiate?negotiateVersion=1", [HeaderField("Authorization", "Bearer \(credential)")])
            let body = try JSONValue(parsing: String(try #require(play.take(c).first).dropFirst(4)))
            let d = play.upgrade(body["connectionToken"]?.string)
            play.send(d, #"{"protocol":"json","version":1}"#)
            play.pass(ms: 100)
            #expect(play.take(d).first == "101")
        }
        wants(play, attempts: 2)
    }

    // MARK: Other transports and protocols

    @Test func overLongPolling() throws {
        let play = try Playbook([TestTape.session(Self.ticks)], faults: ["reset after Tick[3]"])
        let (_, poll) = try play.startPolling()
        for _ in 0..<5 where play.take(poll).last != "RST" {
            play.pass(ms: 50)
            play.poll(play.lastToken, on: poll)
        }
        let (_, again) = try play.startPolling()
        play.pass(ms: 1_000)
        play.expect(again)
        wants(play, attempts: 2)
    }

    @Test func overGraphQL() throws {
        let tape =
            GraphQLPlay.handshake + "10 > \(subscribe("1", "subscription A { n }"))\n20 < \(next("1", 1))"
        let play = try GraphQLPlay(tape)
        let c = try play.start()
        play.say(c, subscribe("1", "subscription A { n }"))
        play.expect(c, [next("1", 1)])
        play.play.close(c, .rst("reset"))
        let d = try play.start()
        play.say(d, subscribe("8", "subscription A { n }"))
        play.play.pass(ms: 1_000)
        play.expect(d, [])
        wants(play.play, attempts: 2)
    }

    /// An answer that stands open is asked for again; where the recorded one had an end, the client gets that again.
    @Test(arguments: [false, true]) func overASubscriptionOfItsOwn(_ hasEnd: Bool) throws {
        let script = OperationTape.sse.split(separator: "\n").prefix(hasEnd ? 6 : 4).joined(separator: "\n")
        let rule = hasEnd ? "reset on close max=1" : "reset after message[direction=toClient, 3]"
        let play = try Playbook(OperationTape.sessions(script), faults: [rule])
        let c = play.operate("sse", OperationTape.tick)
        play.pass(ms: 100)
        #expect(play.take(c).last == "RST")
        let d = play.operate("sse", OperationTape.tick)
        play.pass(ms: 1_000)
        #expect(play.take(d).filter { $0 != ":\n\n" } == (hasEnd ? ["200 …", Playbook.done, "end"] : ["200 …"]))
        wants(play, attempts: 2)
        // Who ends its request has no further use for the answer: the next one is one more.
        let left = try Playbook(OperationTape.sessions(script))
        let e = left.operate("sse", OperationTape.tick)
        left.pass(ms: 100)
        left.close(e)
        let f = left.operate("sse", OperationTape.tick)
        #expect(left.take(f).first?.hasPrefix("409 ") == true)
    }

    @Test func overEventflit() throws {
        let tape = EventflitTape.session(
            "1 < hello 1.2\n10 > subscribe room\n12 < succeeded room {}\n20 < order room {}")
        let play = try Playbook([tape])
        func open() -> ConnectionID {
            let c = play.request("GET", "/app/KEY?protocol=7", [HeaderField("Upgrade", "websocket")])
            play.pass(ms: 5)
            play.sendBytes(c, .text, Array(EventflitTape.text("subscribe room", .toServer).utf8))
            play.pass(ms: 50)
            return c
        }
        let hello = EventflitTape.text("hello 1.2", .toClient)
        let joined = EventflitTape.text("succeeded room {}", .toClient)
        let c = open()
        play.expect(c, "101", hello, joined, EventflitTape.text("order room {}", .toClient))
        play.close(c, .rst("reset"))
        play.expect(open(), "101", EventflitTape.text("hello 2.2", .toClient), joined)
        wants(play, attempts: 2)
    }

    @Test(arguments: ["websocket", "sse", "streaming"]) func overAtmosphere(_ transport: String) throws {
        let play = try Playbook(AtmosphereTape.sessions("10 < one\n20 < two"))
        let c = play.atmosphere(transport)
        play.pass(ms: 100)
        #expect(play.said(c).count >= 3)
        play.close(c, .rst("reset"))
        // The server keeps a client that comes back with its id for a while; later it is a new one to it.
        play.pass(ms: 100)
        let d = play.atmosphere(transport, id: AtmosphereTape.id)
        play.pass(ms: 100)
        #expect(play.said(d).first.map { !$0.hasPrefix("404") } ?? false)
        play.close(d, .rst("reset"))
        play.pass(ms: 60_000)
        let e = play.atmosphere(transport)
        play.pass(ms: 100)
        #expect(play.said(e).first.map { !$0.hasPrefix("404") } ?? false)
        wants(play, attempts: 3)
    }

    @Test func overAWebSocketOfNoKnownProtocol() throws {
        let play = try Playbook([Self.raw([(.toClient, "one")])], faults: ["reset after message[1]"])
        let c = play.request("GET", "/feed", [HeaderField("Upgrade", "websocket")])
        play.pass(ms: 500)
        play.expect(c, "101", "one", "RST")
        let d = play.request("GET", "/feed", [HeaderField("Upgrade", "websocket")])
        play.pass(ms: 500)
        play.expect(d, "101")
        wants(play, attempts: 2)
    }

    /// In such a protocol nothing tells which message answers a login. The report names a login that got no second answer.
    @Test(arguments: [
        (ReplayOptions.OnReconnect.resume, false), (.lose(1), false), (.rewind(1), true), (.live, false),
        (.restart, true),
    ])
    func aSecondLoginOfNoKnownProtocolIsNoted(_ policy: ReplayOptions.OnReconnect, isAnswered: Bool) throws {
        let tape = Self.raw([(.toServer, "LOGIN"), (.toClient, "WELCOME"), (.toClient, "tick")])
        let play = try Playbook([tape], faults: ["reset after message[1, direction=toClient]"]) {
            $0.onReconnect = policy
        }
        for n in 0..<2 {
            let c = play.request("GET", "/feed", [HeaderField("Upgrade", "websocket")])
            play.sendBytes(c, .text, Array("LOGIN".utf8))
            play.pass(ms: 2_000)
            #expect(play.take(c).contains("WELCOME") == (n == 0 || isAnswered))
        }
        let notes = play.finish().sessions[0].notes
        #expect(
            notes.contains { $0.hasPrefix("the client sent 'text LOGIN' again after its reconnect. ") } == !isAnswered,
            "\(notes)")
    }

    /// A session of no known protocol, with a message every 400 ms.
    private static func raw(_ said: [(Direction, String)]) -> RecordedSession {
        let opening = StreamOpening(
            request: RequestHead(method: "GET", target: "/feed", headers: [HeaderField("Upgrade", "websocket")]),
            response: ResponseHead(status: 101))
        var codec = RawCodec(opening)
        var messages: [Message] = []
        for (direction, text) in said { codec.decode(Array(text.utf8).span, .text, direction, into: &messages) }
        let entries = messages.enumerated().map { n, message in
            RecordedSession.Entry(
                event: UInt64(5 + n), time: UInt64(n + 1) * 400_000_000, connection: 1, frame: n + 1, .message(message))
        }
        return RecordedSession(
            number: 1, codec: CodecEntry(RawCodec.self), writer: codec, transport: .ws, route: "/feed",
            opening: opening, connections: [1], entries: entries, opened: 0)
    }
}
