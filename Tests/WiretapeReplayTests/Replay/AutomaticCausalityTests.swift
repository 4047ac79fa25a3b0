import Testing
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// `--causality auto`: a server message waits for requests and messages on other connections that precede it on the tape, for a short time.
@Suite struct AutomaticCausalityTests {
    private static func exchange(
        _ path: String, method: String = "POST", line: Int, ms: UInt64, answered: UInt64? = nil
    ) -> RecordedExchange {
        RecordedExchange(
            event: UInt64(line - 1), line: line, time: ms * 1_000_000, answered: (answered ?? ms) * 1_000_000,
            connection: 9, request: RequestHead(method: method, target: path), response: ResponseHead(status: 202))
    }

    /// The server's messages of one session, with the lines on which all of its messages stand.
    private static func session(_ script: String, lines: [Int], number: Int = 1) -> RecordedSession {
        var session = TestTape.session(TestTape.handshake + script, number: number)
        for (i, line) in lines.enumerated() { session.entries[i].line = line }
        return session
    }

    /// The client says something by a plain request, and the server tells everybody.
    private static let told = session("50 < \(push("Told"))", lines: [2, 3, 9])
    private static let say = exchange("/say", line: 7, ms: 40)

    @Test(arguments: [ReplayOptions.Speed.factor(1), .factor(1_000), .instant])
    func aMessageWaitsForTheRequestBeforeIt(_ speed: ReplayOptions.Speed) throws {
        let play = try Playbook([Self.told], exchanges: [Self.say], speed: speed)
        let hub = try play.start()
        play.pass(ms: 300)
        play.expect(hub)
        let post = play.request("POST", "/say")
        play.expect(post, "202 ")
        play.pass(ms: speed == .factor(1) ? 9 : 0)
        if speed == .factor(1) {
            // The recorded server took 10 ms from the request to the message.
            play.expect(hub)
            play.pass(ms: 1)
        }
        play.pass(ms: 1)
        play.expect(hub, push("Told"))
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].notes == [])
    }

    /// The time that the recorded client took, and the grace.
    @Test func aRequestThatStaysAwayIsWaitedForOnce() throws {
        let session = Self.session(
            "50 < \(push("Told", "1"))\n90 < \(push("Told", "2"))\n150 < \(push("Told", "3"))",
            lines: [2, 3, 9, 12, 15])
        let play = try Playbook(
            [session], exchanges: [Self.say, Self.exchange("/say?2", line: 11, ms: 80)], speed: .instant)
        let hub = try play.start()
        play.pass(ms: 536)
        play.expect(hub)
        play.pass(ms: 2)
        play.expect(hub, push("Told", "1"), push("Told", "2"), push("Told", "3"))
        #expect(
            play.finish().sessions[0].notes == [
                "messages waited in vain for POST /say (chat.tape:7), which the tape has before them on other connections; "
                    + "--causality session turns this wait off"
            ])
    }

    @Test func whatShowsUpIsWaitedForAgain() throws {
        let session = Self.session(
            "50 < \(push("Told", "1"))\n60 > \(push("Go"))\n90 < \(push("Told", "2"))", lines: [2, 3, 9, 10, 15])
        let play = try Playbook(
            [session],
            exchanges: [
                Self.say, Self.exchange("/say?n=2", line: 11, ms: 65), Self.exchange("/say?n=3", line: 12, ms: 70),
            ], speed: .instant)
        let hub = try play.start()
        play.pass(ms: 1_000)
        play.expect(hub, push("Told", "1"))
        _ = play.request("POST", "/say?n=2")
        play.send(hub, push("Go"))
        play.pass(ms: 400)
        play.expect(hub)
        _ = play.request("POST", "/say?n=3")
        play.expect(hub, push("Told", "2"))
    }

    /// A session does not wait for other sessions and requests that were over on the tape before it began, unless a client has sent one of them.
    @Test func whatWasOverBeforeIsLeftOut() throws {
        var before = Self.session("40 > \(push("Hello"))", lines: [2, 3, 4])
        var session = Self.session("90 < \(push("Told"))", lines: [7, 8, 9], number: 2)
        let exchanges = [Self.exchange("/login", line: 5, ms: 50), Self.exchange("/login?2", line: 6, ms: 60)]
        (before.name, session.name) = ("alice", "bob")
        let play = try Playbook([before, session], exchanges: exchanges, speed: .instant)
        play.listener = "bob"
        let hub = try play.start()
        play.expect(hub, push("Told"))
        // Once the client asks for it, it is waited for.
        let other = try Playbook([session], exchanges: exchanges, speed: .instant)
        _ = other.request("POST", "/login")
        let late = try other.start()
        other.pass(ms: 400)
        other.expect(late)
        _ = other.request("POST", "/login?2")
        other.expect(late, push("Told"))
    }

    /// A session is not over while its server has messages to send, even if its client has sent all of its own.
    @Test func aSessionThatWasNotOverIsWaitedFor() throws {
        var alice = Self.session("100 < \(push("Bye"))", lines: [2, 3, 10])
        var bob = Self.session("90 < \(push("Told"))", lines: [7, 8, 9], number: 2)
        (alice.name, bob.name) = ("alice", "bob")
        let play = try Playbook([alice, bob], speed: .instant)
        play.listener = "bob"
        let hub = try play.start()
        play.pass(ms: 300)
        play.expect(hub)
        play.listener = "alice"
        _ = try play.start()
        play.expect(hub, push("Told"))
    }

    /// `--patience` does not count while a server message waits for another client.
    @Test func patienceDoesNotCountWhileAMessageWaitsForAnotherSession() throws {
        let alice = Self.session("50 < \(push("Joined"))\n60 > \(push("Go"))", lines: [2, 3, 9, 10])
        let bob = Self.session(
            [5, 15, 25, 35].map { "\($0) > \(push("Hello"))" }.joined(separator: "\n"), lines: [4, 5, 6, 7, 8, 8],
            number: 2)
        let play = try Playbook([alice, bob], speed: .instant) { $0.patience = 1_000_000_000 }
        let first = try play.start()
        let second = try play.start()
        for _ in 0..<4 {
            play.expect(first)
            play.pass(ms: 400)
            play.send(second, push("Hello"))
        }
        play.expect(first, push("Joined"))
        play.pass(ms: 400)
        play.send(first, push("Go"))
        #expect(play.finish().verdict == .pass)
    }

    @Test func aMessageWaitsForOtherSessions() throws {
        let alice = Self.session("50 < \(push("Joined"))", lines: [2, 3, 9])
        let bob = Self.session("40 > \(push("Hello"))\n60 < \(push("Tick"))", lines: [4, 5, 8, 10], number: 2)
        for comes in [true, false] {
            let play = try Playbook([alice, bob], speed: .instant)
            let first = try play.start()
            play.pass(ms: 400)
            play.expect(first)
            if comes {
                let second = try play.start()
                play.expect(first)
                play.send(second, push("Hello"))
            } else {
                play.pass(ms: 200)
            }
            play.expect(first, push("Joined"))
            #expect((play.finish().sessions[0].notes == []) == comes)
        }
    }

    /// An answer waits for what came between its call and itself; what stands before the call did not cause it.
    @Test func anAnswerWaitsForWhatIsRecordedBehindItsCall() throws {
        let session = Self.session(
            """
            45 > \(call("0", "First"))
            50 < \(done("0", "1"))
            60 > \(call("1", "Second"))
            90 < \(done("1", "2"))
            """, lines: [2, 3, 8, 9, 10, 15])
        let play = try Playbook(
            [session], exchanges: [Self.say, Self.exchange("/approve", line: 12, ms: 70)], speed: .instant)
        let hub = try play.start()
        play.send(hub, call("0", "First"))
        play.expect(hub, done("0", "1"))
        play.send(hub, call("1", "Second"))
        play.expect(hub)
        _ = play.request("POST", "/approve")
        play.expect(hub, done("1", "2"))
    }

    @Test func theEndOfAConnectionWaits() throws {
        let session = Self.session("50 < close 1000", lines: [2, 3, 9])
        let play = try Playbook(
            [session], exchanges: [Self.exchange("/chat/1", method: "DELETE", line: 7, ms: 40)], speed: .instant)
        let hub = try play.start()
        play.pass(ms: 300)
        play.expect(hub)
        _ = play.request("DELETE", "/chat/1")
        play.expect(hub, "close 1000")
    }

    /// A rule answers in the server's place: the request has no effect.
    @Test func aRequestThatARuleAnswersIsNoCause() throws {
        let play = try Playbook(
            [Self.told], exchanges: [Self.say], speed: .instant, faults: ["respond(503) on request[path=/say, 1]"])
        let hub = try play.start()
        play.expect(play.request("POST", "/say"), "503 ")
        play.pass(ms: 200)
        play.expect(hub)
        play.expect(play.request("POST", "/say"), "202 ")
        play.expect(hub, push("Told"))
    }

    /// A long poll that the server answers once a message has come by another request.
    @Test func aPlainResponseWaitsForMessagesBehindItsRequest() throws {
        let exchanges = [
            Self.exchange("/poll", method: "GET", line: 2, ms: 0, answered: 300),
            Self.exchange("/page", method: "GET", line: 3, ms: 50),
            Self.exchange("/say", line: 4, ms: 100),
        ]
        let play = try Playbook([], exchanges: exchanges, speed: .instant)
        let poll = play.request("GET", "/poll")
        play.pass(ms: 400)
        play.expect(poll)
        play.expect(play.request("POST", "/say"), "202 ")
        play.expect(poll, "202 ")

        let alone = try Playbook([], exchanges: exchanges, speed: .instant)
        let other = alone.request("GET", "/poll")
        alone.pass(ms: 598)
        alone.expect(other)
        alone.pass(ms: 4)
        alone.expect(other, "202 ")
        #expect(alone.logs == ["wiretape: the response to GET /poll waited in vain for POST /say (chat.tape:4)"])
    }

    @Test func aStepWaitsToo() throws {
        let play = try Playbook([Self.told], exchanges: [Self.say], speed: .step) { $0.keepalive = .off }
        let hub = try play.start()
        play.pass(ms: 60_000)
        play.act { $0.step(1, session: 1, at: $1, into: &$2) }
        play.pass(ms: 300)
        play.expect(hub)
        _ = play.request("POST", "/say")
        play.expect(hub, push("Told"))
    }

    @Test func nothingWaitsForOtherConnectionsIfSoWanted() throws {
        let play = try Playbook([Self.told], exchanges: [Self.say], speed: .instant) { $0.causality = .session }
        let hub = try play.start()
        play.expect(hub, push("Told"))
    }

    /// Each run of the tape has requests of its own.
    @Test func clientsWaitForTheirOwnRequests() throws {
        let play = try Playbook([Self.told], exchanges: [Self.say], speed: .instant) { $0.clients = 2 }
        let one = try play.start()
        play.host = "10.0.0.2"
        let other = try play.start()
        _ = play.request("POST", "/say")
        play.expect(other, push("Told"))
        play.expect(one)
        play.host = "10.0.0.1"
        _ = play.request("POST", "/say")
        play.expect(one, push("Told"))
    }

    /// With `--causality tape` patience ends the wait for a request, and that is a divergence.
    @Test func requestsAreWaitedForPatiently() throws {
        var session = Self.told
        session.name = "alice"
        let play = try Playbook([session], exchanges: [Self.say], speed: .instant) {
            $0.causality = .tape
            $0.onDivergence = .warn
            $0.keepalive = .off
        }
        let hub = try play.start()
        play.pass(ms: 29_998)
        play.expect(hub)
        play.pass(ms: 4)
        play.expect(hub, push("Told"))
        let report = play.finish()
        #expect(report.exitCode == 2 && report.sessions[0].missing == ["POST /say (chat.tape:7)"])
    }
}
