import Testing
import WiretapeAttempts
import WiretapeBytes
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// What a replay tells policies of a client that comes back.
@Suite struct ConductTests {
    private func call(_ id: String, _ target: String, _ arguments: String = "") -> String {
        #"{"type":1,"invocationId":"\#(id)","target":"\#(target)","arguments":[\#(arguments)]}"#
    }

    private func done(_ id: String) -> String { #"{"type":3,"invocationId":"\#(id)","result":null}"# }
    private func tick(_ n: Int) -> String { #"{"type":1,"target":"Tick","arguments":[\#(n)]}"# }

    /// The client joins, gets ticks, calls once in between.
    private var tape: RecordedSession {
        TestTape.session(
            TestTape.handshake + """
                10 > \(call("1", "JoinGroup", #""a""#))
                11 < \(done("1"))
                20 < \(tick(1))
                30 > \(call("2", "Send", #""hi""#))
                31 < \(done("2"))
                40 < \(tick(2))
                50 < \(tick(3))
                """)
    }

    private func play(_ policies: [String], _ faults: [String]) throws -> Playbook {
        try Playbook([tape], faults: faults) { options in
            options.expectations = policies.map { try! Expectation.parse($0) }
        }
    }

    /// Says all of it on the first connection, which a rule ends, and `again` on the next.
    private func run(
        _ policies: [String], _ fault: String, again: [String]
    ) throws -> (report: ReplayReport, got: [String]) {
        let play = try play(policies, [fault])
        let c = try play.start()
        play.send(c, call("1", "JoinGroup", #""a""#))
        play.pass(ms: 25)
        play.send(c, call("2", "Send", #""hi""#))
        play.pass(ms: 100)
        let d = try play.start()
        for one in again { play.send(d, one) }
        play.pass(ms: 800)
        let got = play.take(d)
        play.close(d, .closeFrame(code: 1000, reason: ""))
        return (play.finish(), got)
    }

    /// The group was joined by an invocation and forgotten: no longer "met".
    @Test func aGroupThatIsForgotten() throws {
        let forgotten = try run(["resubscribes", "resubscribes(JoinGroup)"], "reset after Tick[2]", again: [])
        #expect(forgotten.report.exitCode == 5)
        #expect(forgotten.report.expectations.map(\.word) == ["not judged", "not met"])
        #expect(forgotten.report.expectations[0].reason.contains("as in resubscribes(JoinGroup)"))
        #expect(
            forgotten.report.expectations[1].reason.contains("without asking again for 1 message: Invocation JoinGroup")
        )
        #expect(forgotten.report.text.contains("expected resubscribes: not judged, got nothing was subscribed to"))
        #expect(forgotten.report.json.text.contains(#""policy":"resubscribes","session":0,"met":false,"judged":false"#))
        let joined = try run(
            ["resubscribes(JoinGroup)"], "reset after Tick[2]", again: [call("7", "JoinGroup", #""a""#)])
        #expect(joined.report.exitCode == 0, "\(joined.report.text)")
        #expect(joined.report.expectations.map(\.word) == ["met"])
        let another = try run(
            ["resubscribes(JoinGroup)"], "reset after Tick[2]", again: [call("7", "JoinGroup", #""b""#)])
        #expect(another.report.exitCode == 2)
    }

    /// What hangs on a subscription stays away on a new connection until it is said there.
    @Test func whatHangsOnASubscriptionStaysAway() throws {
        let policy = "resubscribes(JoinGroup->Tick)"
        let forgotten = try run([policy], "reset after Tick[2]", again: [])
        #expect(forgotten.got.isEmpty && forgotten.report.exitCode == 5)
        #expect(forgotten.report.sessions[0].abandoned == 1)
        let joined = try run([policy], "reset after Tick[2]", again: [call("7", "JoinGroup", #""a""#)])
        #expect(joined.got == [done("7"), tick(3)] && joined.report.exitCode == 0, "\(joined.got)")
        #expect(joined.report.sessions[0].abandoned == 0)
        // Nothing hangs on it where the policy does not say so.
        #expect(try run(["resubscribes(JoinGroup)"], "reset after Tick[2]", again: []).got == [tick(3)])
    }

    @Test func anAcknowledgedMessageThatComesAgain() throws {
        let again = try run(["once(Send)", "keeps(Send)"], "reset after Tick[2]", again: [call("7", "Send", #""hi""#)])
        #expect(again.report.expectations.map(\.word) == ["not met", "not judged"])
        #expect(again.report.sessions[0].repeated == 1)
        #expect(again.report.text.contains(", 1 acknowledged message said again after a reconnect"))
        #expect(again.report.json.text.contains(#""repeated":1"#))
        let once = try run(["once(Send)"], "reset after Tick[2]", again: [])
        #expect(once.report.expectations.map(\.word) == ["met"] && once.report.sessions[0].repeated == 0)
        #expect(!once.report.json.text.contains("repeated") && once.report.exitCode == 0)
    }

    @Test func aMessageWithoutItsAnswerComesAgain() throws {
        let fault = "reset on Completion[invocation=\"2\"]"
        for rule in [fault, "reset on Send", "drop on Send"] {
            let faults = rule.hasPrefix("drop") ? [rule, "reset after Tick[2]"] : [rule]
            for (again, word) in [([call("7", "Send", #""hi""#)], "met"), ([], "not met")] {
                let play = try play(["keeps(Send)"], faults)
                let c = try play.start()
                play.send(c, call("1", "JoinGroup", #""a""#))
                play.pass(ms: 25)
                play.send(c, call("2", "Send", #""hi""#))
                play.pass(ms: 100)
                let d = try play.start()
                for one in again { play.send(d, one) }
                play.pass(ms: 800)
                play.close(d)
                let report = play.finish()
                #expect(report.expectations.map(\.word) == [word], "\(rule): \(report.text)")
                #expect(report.sessions[0].repeated == 0)
            }
        }
    }

    @Test func aMessageWithoutItsAnswerIsDropped() throws {
        for (again, word) in [([call("7", "Send", #""hi""#)], "not met"), ([], "met")] {
            let run = try run(["drops(Send)"], "reset on Send", again: again)
            #expect(run.report.expectations.map(\.word) == [word], "\(run.report.text)")
        }
        let answered = try run(["drops(Send)"], "reset after Tick[2]", again: [])
        #expect(answered.report.expectations.map(\.word) == ["not judged"])
    }

    /// No server's group stands on the tape: the report names what the client left out, and the policy that judges it.
    @Test func whatAConnectionBeganWithIsNamed() throws {
        let forgotten = try run([], "reset after Tick[2]", again: [])
        #expect(forgotten.report.exitCode == 0)
        #expect(
            forgotten.report.text.contains(
                "note: the client came back and did not say again what its first connection began with: JoinGroup; "
                    + "--expect 'resubscribes(JoinGroup)' judges that"), "\(forgotten.report.text)")
        #expect(forgotten.report.json.text.contains("resubscribes(JoinGroup)"))
        let joined = try run([], "reset after Tick[2]", again: [call("7", "JoinGroup", #""a""#)])
        #expect(!joined.report.text.contains("note:"))
        let judged = try run(["resubscribes(JoinGroup)"], "reset after Tick[2]", again: [])
        #expect(!judged.report.text.contains("note:") && judged.report.exitCode == 5)
    }

    @Test func aPlainRequestIsMade() throws {
        for (path, word) in [("/login", "met"), ("/logout", "not met")] {
            let play = try play([#"asks("POST /login")"#], [])
            _ = play.request("POST", path)
            #expect(play.finish().expectations.map(\.word) == [word])
        }
        #expect(try play([#"asks("POST /login")"#], []).finish().expectations.map(\.word) == ["not judged"])
        // Also where it is known at the end of the run only.
        let late = try play([], [])
        _ = late.negotiate()
        let judged = late.engine.expect(try .parse(#"asks("POST /chat/negotiate", times=1)"#), at: late.now)
        #expect(judged.map(\.word) == ["met"])
    }

    private func streams(_ tape: String, _ agents: [String], gap: UInt64, leaves: Bool = false) throws -> ReplayReport {
        let play = try Playbook(EventsTape.sessions(tape)) { options in
            options.expectations = [try! Expectation.parse("single")]
        }
        var last: ConnectionID?
        for agent in agents {
            play.agent = agent
            if leaves, let last { play.close(last) }
            last = play.events("/prices")
            play.pass(ms: gap)
        }
        play.pass(ms: 500)
        return play.finish()
    }

    @Test func twoEventStreamsAtATime() throws {
        let two = try streams(EventsTape.prices, ["a", "a"], gap: 20)
        #expect(two.expectations.contains { $0.word == "not met" }, "\(two.text)")
        #expect(two.reasons.contains { $0.contains("asked for a second connection (stream)") }, "\(two.text)")
        // One behind the other, one in place of the other, and one of each of two clients.
        for good in [
            try streams(EventsTape.prices, ["a", "a"], gap: 100),
            try streams(EventsTape.prices, ["a", "a"], gap: 20, leaves: true),
            try streams(EventsTape.prices, ["a", "b"], gap: 20),
        ] {
            #expect(good.expectations.allSatisfy { $0.word == "met" } && !good.expectations.isEmpty, "\(good.text)")
        }
        // As on the tape.
        let beside = EventsTape.prices + "\n" + EventsTape.prices.replacing(" 1 ", with: " 2 ")
        let sorted = beside.split(separator: "\n").map { $0.trimmingBlanks() }.sorted {
            UInt64($0.prefix { $0 != " " })! < UInt64($1.prefix { $0 != " " })!
        }.joined(separator: "\n")
        #expect(try streams(sorted, ["a", "a"], gap: 20).expectations.allSatisfy { $0.word == "met" })
    }

    /// Twelve negotiations in a row, none of which is followed by a connection.
    @Test func negotiationsThatLeadNowhere() throws {
        let play = try play(["rate(max=5/s)", "delays(0s, 2s)"], [])
        for _ in 0..<12 {
            #expect(play.negotiate() != nil)
            play.pass(ms: 10)
        }
        let report = play.finish()
        #expect(report.sessions.map(\.attempts.count) == [12])
        #expect(report.sessions[0].attempts.allSatisfy { $0.outcome == .abandoned })
        #expect(report.expectations.map(\.word) == ["not met", "not met"])
        #expect(report.expectations[0].reason.contains("session 1 began 12 attempts within 1s"))
        #expect(report.expectations[1].reason.contains("retry 2 (attempt 3) of session 1 came after 10 ms"))
    }

    @Test func twoConnectionsAtATime() throws {
        let play = try play(["single"], ["reset after Tick[1]"])
        let c = try play.start()
        play.send(c, call("1", "JoinGroup", #""a""#))
        play.pass(ms: 100)
        let d = try play.start()
        play.pass(ms: 100)
        // Another one beside it: there is no session left for it, and it was asked for all the same.
        _ = play.upgrade(nil)
        play.pass(ms: 500)
        play.close(d)
        let report = play.finish()
        #expect(report.expectations.map(\.word) == ["not met"])
        #expect(report.expectations[0].reason.contains("asked for a second connection (upgrade)"), "\(report.text)")
    }

    /// A run that ends while its client is in the middle is no pass for whoever asks for the end.
    @Test func aSessionThatIsNotPlayedToItsEnd() throws {
        let play = try play(["finished"], [])
        let c = try play.start()
        play.send(c, call("1", "JoinGroup", #""a""#))
        play.pass(ms: 1)
        let report = play.finish()
        #expect(report.expectations.map(\.word) == ["not met"])
        #expect(report.expectations[0].reason == "wiretape: finished is not met: session 1 was not played to its end")
        #expect(report.exitCode == 5)
        let idle = try self.play(["finished"], [])
        #expect(idle.finish().expectations.map(\.word) == ["not judged"])
    }

    /// Who closes one connection and opens the next has had one at a time, in whichever order both are heard.
    @Test func aConnectionThatFollowsAnother() throws {
        let play = try play(["single"], [])
        let c = try play.start()
        _ = play.upgrade(play.lastToken)
        play.pass(ms: 5)
        play.close(c)
        play.pass(ms: 500)
        #expect(play.finish().expectations.map(\.word) == ["met"])
    }

    /// The report counts a fallback as a step of its attempt, as the policies do, and tells faults by its numbers.
    @Test func aFallbackIsOneAttemptInTheReport() throws {
        let play = try play(["transports(ws, sse)"], ["respond(404) on upgrade[1]", "reset after Tick[1]"])
        let token = play.negotiate()
        _ = play.upgrade(token)
        play.pass(ms: 5)
        let again: String = try #require(play.negotiate())
        let c = play.request("GET", "/chat?id=\(again)", [HeaderField("Accept", "text/event-stream")])
        let send = { (text: String) in
            _ = play.request("POST", "/chat?id=\(again)", body: TestTape.bytes(text))
        }
        send(#"{"protocol":"json","version":1}"#)
        play.pass(ms: 5)
        send(call("1", "JoinGroup", #""a""#))
        play.pass(ms: 100)
        #expect(play.take(c).last == "RST")
        let report = play.finish()
        let attempts = report.sessions[0].attempts
        #expect(attempts.map(\.outcome) == [.connected])
        #expect(attempts[0].steps.map(\.request) == ["negotiate", "upgrade", "negotiate", "stream"])
        #expect(report.faults.map(\.attempt) == [1, 1])
        #expect(report.expectations.map(\.word) == ["met"])
    }

    /// A run that ends with its command has seen all that the client would do.
    @Test func theClientsAreGone() throws {
        for (gone, word) in [(true, "met"), (false, "not judged")] {
            let play = try play(["stays-away(after=close(4001))"], ["close(4001) after Tick[1]"])
            let c = try play.start()
            play.send(c, call("1", "JoinGroup", #""a""#))
            play.pass(ms: 60)
            let report = play.engine.finish(at: play.now, clientsAreGone: gone)
            #expect(report.expectations.map(\.word) == [word])
        }
    }

    /// A client that leaves because of SignalR's Close did not end the connection: the rule that sent the message did.
    @Test(arguments: [
        (#"inject("{\"type\":7}") + close(1000) after Tick[1]"#, "met"),
        (#"replace("{\"type\":7}") on Tick[1]"#, "met"),
        (#"inject("{\"type\":7,\"allowReconnect\":true}") after Tick[1]"#, "not judged"),
    ])
    func aClientLeavesAsItIsTold(_ rule: String, _ word: String) throws {
        let play = try play(["stays-away(after=close)"], [rule])
        let c = try play.start()
        play.send(c, call("1", "JoinGroup", #""a""#))
        play.pass(ms: 22)
        play.close(c, .closeFrame(code: 1000, reason: ""))
        play.pass(ms: 100)
        let report = play.engine.finish(at: play.now, clientsAreGone: true)
        #expect(report.expectations.map(\.word) == [word], "\(report.expectations)")
        #expect(report.exitCode == (word == "met" ? 0 : 2), "\(report.reasons)")
        let end = report.sessions.first?.attempts.first?.ended
        #expect(end?.by == (word == "met" ? .fault(rule) : .client), "\(String(describing: end))")
    }
}
