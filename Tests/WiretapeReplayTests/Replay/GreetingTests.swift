import Testing
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// What a server says by itself to each client that connects.
@Suite struct GreetingTests {
    private static let tape =
        TestTape.handshake + """
            50 < \(push("Welcome"))
            400 < \(push("Tick", "1"))
            500 < \(push("Tick", "2"))
            600 < \(push("Tick", "3"))
            """
    private static let early = "pushes within 250 ms of the opening and before the client's first word"

    private func tick(_ n: Int) -> String { push("Tick", "\(n)") }

    /// Lost behind the first tick.
    private func lost(
        _ tapes: [String], _ policy: ReplayOptions.OnReconnect = .resume, _ greeting: GreetingOption = .auto,
        saying text: String? = nil
    ) throws -> Playbook {
        let sessions = tapes.enumerated().map { TestTape.session($1, number: $0 + 1) }
        let play = try Playbook(sessions) { ($0.onReconnect, $0.greeting) = (policy, greeting) }
        let c = try play.start()
        if let text { play.send(c, text) }
        play.pass(ms: 450)
        play.close(c, .rst("reset"))
        return play
    }

    private func back(_ play: Playbook) throws -> [String] {
        let d = try play.start()
        play.pass(ms: 2_000)
        return play.take(d)
    }

    @Test(arguments: [
        (ReplayOptions.OnReconnect.resume, [2, 3]), (.lose(1), [3]), (.rewind(1), [1, 2, 3]), (.rewind(9), [1, 2, 3]),
        (.live, [2, 3]),
    ])
    func itComesBeforeWhatGoesOn(_ policy: ReplayOptions.OnReconnect, _ ticks: [Int]) throws {
        let play = try lost([Self.tape], policy)
        #expect(try back(play) == [push("Welcome")] + ticks.map(tick))
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished)
        let greeting = try #require(report.sessions[0].greeting)
        #expect(greeting.labels == ["Welcome"] && greeting.why == Self.early && greeting.connections == 1)
        #expect(report.text.contains("  greeting: Welcome (\(Self.early)), said again on 1 connection\n"))
        #expect(report.json.text.contains(#""greeting":{"labels":["Welcome"]"#))
    }

    /// What is said again is not counted: a run without a loss has the same digest.
    @Test func theDigestIsThatOfTheScript() throws {
        let play = try lost([Self.tape])
        _ = try back(play)
        let whole = try Playbook([TestTape.session(Self.tape)])
        _ = try back(whole)
        #expect(play.finish().digest == whole.finish().digest)
    }

    @Test func noneIsNone() throws {
        let play = try lost([Self.tape], .resume, .off)
        #expect(try back(play) == [tick(2), tick(3)])
        #expect(play.finish().sessions[0].greeting == nil)
    }

    @Test func namesMayBeGiven() throws {
        let script =
            TestTape.handshake + """
                10 > \(push("Send"))
                20 < \(push("Welcome"))
                400 < \(push("Tick", "1"))
                500 < \(push("Tick", "2"))
                """
        let play = try lost([script], .resume, .named(["Welcome"]), saying: push("Send"))
        #expect(try back(play) == [push("Welcome"), tick(2)])
        #expect(play.finish().sessions[0].greeting?.why == "--greeting")
        let auto = try lost([script], saying: push("Send"))
        #expect(try back(auto) == [tick(2)])
        let unknown = try lost([script], .resume, .named(["Hello"]), saying: push("Send"))
        #expect(try back(unknown) == [tick(2)])
        #expect(unknown.logs == ["wiretape: --greeting Hello: no push of session 1 of chat.tape is named so"])
    }

    @Test func connectionsOfTheTapeTellIt() throws {
        let first =
            TestTape.handshake + """
                20 < \(push("Welcome"))
                30 < \(push("News"))
                40 < \(push("Tick", "0"))
                350 < \(push("Motd"))
                400 < \(push("Tick", "1"))
                500 < \(push("Tick", "2"))
                """
        // Tick begins both, and is what they go on with; the first one comes early enough all the same.
        let second = TestTape.handshake + "20 < \(push("Motd"))\n400 < \(push("Welcome"))\n500 < \(push("Tick", "7"))"
        let play = try lost([first, second])
        // Motd comes late, but nowhere else.
        #expect(try back(play) == [push("Welcome"), tick(0), push("Motd"), tick(2)])
        let greeting = try #require(play.finish().sessions[0].greeting)
        #expect(greeting.labels == ["Welcome", "Tick", "Motd"])
        #expect(greeting.why == "begins each of 2 connections on the tape")
    }

    /// What the lost connection did not get of it is not lost twice.
    @Test func whatWasNotHeardComesOnce() throws {
        for policy in [ReplayOptions.OnReconnect.resume, .lose(1), .live] {
            let play = try Playbook([TestTape.session(Self.tape)]) { ($0.onReconnect, $0.greeting) = (policy, .auto) }
            play.close(try play.start(), .rst("reset"))
            let ticks = policy == .lose(1) ? [2, 3] : [1, 2, 3]
            #expect(try back(play) == [push("Welcome")] + ticks.map(tick), "\(policy)")
            #expect(play.finish().sessions[0].finished)
        }
    }

    @Test func itNamesItsOwnConnection() throws {
        let script = TestTape.handshake + "50 < \(push("Welcome", #""public-1""#))\n400 < \(push("Tick", "1"))"
        let play = try lost([script])
        let c = play.request("POST", "/chat/negotiate?negotiateVersion=1")
        let answer = try JSONValue(parsing: play.answers[c]?.body ?? [])
        let id: String = try #require(answer["connectionId"]?.string)
        let d = play.upgrade(answer["connectionToken"]?.string)
        play.send(d, #"{"protocol":"json","version":1}"#)
        play.pass(ms: 100)
        #expect(id != "public-1" && play.take(d).last == push("Welcome", "\"\(id)\""))
    }

    @Test func behindTheLastMessageItIsAllThatIsSaid() throws {
        let play = try lost([TestTape.handshake + "50 < \(push("Welcome"))\n400 < \(push("Tick", "1"))"])
        #expect(try back(play) == [push("Welcome")])
        #expect(play.finish().sessions[0].attempts.count == 2)
    }
}

/// `restart`: what the client had said it may say again, and need not.
@Suite struct RestartTests {
    private static let tape =
        TestTape.handshake + """
            10 > \(push("Join", "1"))
            20 > \(call("0", "Sum"))
            30 < \(done("0", "3"))
            40 < \(push("Tick", "1"))
            50 < \(push("Tick", "2"))
            """

    @Test(arguments: [[], [push("Join", "1")], [push("Join", "1"), call("5", "Sum")]]) func itDoesNotWait(
        _ said: [String]
    ) throws {
        let play = try Playbook([TestTape.session(Self.tape)]) { $0.onReconnect = .restart }
        let c = try play.start()
        play.send(c, push("Join", "1"))
        play.send(c, call("0", "Sum"))
        play.pass(ms: 25)
        play.expect(c, done("0", "3"), push("Tick", "1"))
        play.close(c, .rst("reset"))
        let d = try play.start()
        for text in said { play.send(d, text) }
        play.pass(ms: 2_000)
        #expect(play.take(d) == (said.count == 2 ? [done("5", "3")] : []) + [push("Tick", "1"), push("Tick", "2")])
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished, "\(report.reasons)")
    }

    /// What was not said before is waited for.
    @Test func newMessagesAreWaitedFor() throws {
        let play = try Playbook([TestTape.session(Self.tape)]) { $0.onReconnect = .restart }
        let c = try play.start()
        play.send(c, push("Join", "1"))
        play.close(c, .rst("reset"))
        _ = try play.start()
        play.pass(ms: 40_000)
        let report = play.finish()
        #expect(report.verdict == .diverged)
        #expect(report.sessions[0].missing.count == 1 && report.sessions[0].missing[0].contains("Sum"))
    }
}

/// Where replay cannot know what the server would do.
@Suite struct GoingOnNoteTests {
    @Test(arguments: [ReplayOptions.OnReconnect.resume, .restart])
    func graphQLSaysWhatElseCouldBe(_ policy: ReplayOptions.OnReconnect) throws {
        let tape =
            GraphQLPlay.handshake
            + "10 > \(subscribe("u1", "subscription A { n }"))\n20 < \(next("u1", 1))\n900 < \(next("u1", 2))"
        let play = try GraphQLPlay(tape, speed: .factor(1)) { $0.onReconnect = policy }
        let c = try play.start()
        play.say(c, subscribe("u1", "subscription A { n }"))
        play.play.pass(ms: 100)
        play.play.close(c, .rst("reset"))
        let d = try play.start()
        play.say(d, subscribe("u1", "subscription A { n }"))
        play.play.pass(ms: 1_000)
        let report = play.play.finish()
        let notes = report.sessions[0].notes
        #expect(notes.count == (policy == .resume ? 1 : 0))
        #expect(notes.allSatisfy { $0.contains("--on-reconnect restart") && report.text.contains("  note: \($0)\n") })
    }
}
