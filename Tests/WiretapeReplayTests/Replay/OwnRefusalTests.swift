import Testing
import WiretapeAttempts
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// What the replay itself refuses is told as that, and is no pass; what the tape, a rule or a policy refuses is not.
@Suite struct OwnRefusalTests {
    private static let ticks =
        TestTape.handshake + (1...2).map { "\($0 * 10) < " + tick($0) + "\n" }.joined()

    /// A client that leaves in order and asks for a further session so many times.
    private func beyond(_ count: Int, _ change: (inout ReplayOptions) -> Void = { _ in }) throws -> Playbook {
        let play = try Playbook([TestTape.session(Self.ticks)], change)
        let c = try play.start()
        play.pass(ms: 100)
        play.close(c, .closeFrame(code: 1000, reason: ""))
        for n in 0..<count {
            play.pass(ms: 1_000 + UInt64(n) * 10)
            #expect(play.negotiate() == nil)
        }
        return play
    }

    @Test func anAttemptWithoutASessionIsNoPass() throws {
        let play = try beyond(3)
        let report = play.finish()
        #expect(report.exitCode == 2 && report.verdict == .diverged)
        let text =
            "wiretape: no session left on chat.tape for POST /chat/negotiate: its only one is taken (--when-exhausted refuse)."
        // It is told once, however often the client tries.
        #expect(report.reasons == [text] && report.ownRefusals == [text])
        let ends = report.sessions[0].attempts.dropFirst().compactMap(\.ended)
        #expect(ends.map(\.by) == [.replay, .replay, .replay] && ends.allSatisfy { $0.reason == "no session left" })
        #expect(report.text.contains("negotiate 404") && report.text.contains("by replay: 404 (no session left)"))
        #expect(report.json["refused_by_replay"]?.array?.compactMap(\.string) == [text])
        let last = report.json["sessions"]?.array?[0]["attempts"]?.array?.last
        #expect(last?["ended"]?["by"]?.string == "replay" && last?["ended"]?["reason"]?.string == "no session left")
    }

    @Test(arguments: [(.warn, 2), (.stall, 2), (.ignore, 0)] as [(OnDivergence, Int32)])
    func onDivergenceDecides(_ how: OnDivergence, _ code: Int32) throws {
        let play = try beyond(1) { $0.onDivergence = how }
        let report = play.finish()
        #expect(report.exitCode == code && report.ownRefusals.count == 1)
        #expect(play.logs.count { $0.contains("no session left") } == 1)
    }

    /// Where it was asked for, it is no divergence.
    @Test(arguments: [ReplayOptions.OnReconnect.refuse, .next]) func policiesRefuse(
        _ policy: ReplayOptions.OnReconnect
    ) throws {
        let play = try Playbook([TestTape.session(Self.ticks)], faults: ["reset after Tick[1]"]) {
            $0.onReconnect = policy
        }
        let c = try play.start()
        play.pass(ms: 100)
        #expect(play.take(c).last == "RST")
        for _ in 0..<3 {
            play.pass(ms: 1_000)
            #expect(play.negotiate() == nil)
        }
        let report = play.finish()
        #expect(report.verdict == .pass && report.ownRefusals.isEmpty, "\(report.text)")
        #expect(report.sessions[0].attempts.map { $0.steps.last?.status } == [101, 404, 404, 404])
        #expect(report.sessions[0].attempts.allSatisfy { !$0.isOwnRefusal })
    }

    @Test func rulesRefuse() throws {
        let play = try Playbook([TestTape.session(Self.ticks)], faults: ["respond(404) on connect[1]"])
        #expect(play.negotiate() == nil)
        play.pass(ms: 1_000)
        _ = try play.start()
        play.pass(ms: 100)
        let report = play.finish()
        #expect(report.verdict == .pass && report.ownRefusals.isEmpty, "\(report.text)")
    }

    /// A client that left in order names its session once more.
    @Test func aSessionThatIsOver() throws {
        let play = try Playbook([TestTape.session(Self.ticks)])
        let c = try play.start()
        play.pass(ms: 100)
        play.close(c, .closeFrame(code: 1000, reason: ""))
        play.pass(ms: 1_000)
        #expect(play.take(play.upgrade(play.lastToken)) == ["404 No Connection with that ID"])
        let report = play.finish()
        #expect(report.exitCode == 2 && report.divergences == report.ownRefusals)
        #expect(
            report.ownRefusals == [
                "wiretape: session 1 of chat.tape is over for GET /chat: its client left it in order"
            ])
        #expect(report.sessions[0].attempts.last?.ended?.reason == "the session is over", "\(report.text)")
    }

    /// What the replay answers behind a divergence of the client is the client's.
    @Test func behindADivergenceTheClientIsToldOf() throws {
        let play = try Playbook([TestTape.session(Self.ticks)])
        let c = try play.start()
        play.send(c, call("1", "Wrong", "1"))
        play.pass(ms: 100)
        #expect(play.negotiate() == nil)
        play.expect(play.refused, "409 wiretape: diverged at Invocation Wrong(1): not on chat.tape\n")
        let report = play.finish()
        #expect(report.exitCode == 2 && report.ownRefusals.isEmpty && report.divergences.count == 1)
        #expect(report.json["refused_by_replay"] == nil)
        #expect(report.text.contains("by replay: 409 (the session diverged before)"), "\(report.text)")
    }

    // MARK: Many attempts in the text

    @Test func equalAttemptsAreOneLine() throws {
        let play = try Playbook(
            [TestTape.session(Self.ticks)], faults: ["reset after Tick[1]", "respond(503) on connect[retry=1..9]"])
        let c = try play.start()
        play.pass(ms: 100)
        #expect(play.take(c).last == "RST")
        for n in 0..<9 {
            play.pass(ms: n.isMultiple(of: 2) ? 1_000 : 1_200)
            #expect(play.negotiate() == nil)
        }
        play.pass(ms: 1_000)
        _ = try play.start()
        play.pass(ms: 100)
        let report = play.finish()
        let lines = report.text.split(separator: "\n").map(String.init)
        let folded = lines.filter { $0.hasPrefix("  attempts ") }
        #expect(
            folded == [
                "  attempts 2–10: status, negotiate 503, ended by fault:respond(503) on connect[retry=1..9]: 503, "
                    + "every 1.00–1.20 s"
            ], "\(report.text)")
        // It stands between the others, and the drawing leaves those out, too.
        let place = try #require(lines.firstIndex { $0.hasPrefix("  attempts ") })
        #expect(lines[place - 1].contains("upgrade 101") && lines[place + 1].contains("upgrade 101"))
        #expect(lines.contains("  … 7 more like it"), "\(report.text)")
        #expect(report.json["sessions"]?.array?[0]["attempts"]?.array?.count == 11)
    }

    /// Three are few enough to stand by themselves, and others between them keep them apart.
    @Test func fewAttemptsStandAlone() throws {
        let play = try Playbook(
            [TestTape.session(Self.ticks)],
            faults: [
                "reset after Tick[1]", "respond(503) on connect[retry=1..3]", "respond(502) on connect[retry=4..6]",
            ])
        let c = try play.start()
        play.pass(ms: 100)
        #expect(play.take(c).last == "RST")
        for _ in 0..<6 {
            play.pass(ms: 1_000)
            #expect(play.negotiate() == nil)
        }
        let text = play.finish().text
        #expect(!text.contains("attempts ") && !text.contains("more like it"), "\(text)")
    }
}

private func tick(_ n: Int) -> String { #"{"type":1,"target":"Tick","arguments":[\#(n)]}"# }
