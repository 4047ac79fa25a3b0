import Testing
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// `--match relaxed|strict|off`, and what does not matter to any of them.
@Suite struct MatchingTests {
    private let tape = TestTape.session(
        TestTape.handshake + """
            3 > \(call("0", "Echo", #"{"a":1,"b":"x"}"#))
            4 > \(call("1", "Echo", #"{"a":2,"b":"y"}"#))
            5 < \(done("0", #""first""#))
            6 < \(done("1", #""second""#))
            7 < \(push("Tick"))
            """)

    @Test func idsSpellingAndOrderOfMembersDoNotMatter() throws {
        let play = try Playbook([tape], speed: .instant)
        let c = try play.start()
        // Swapped, numbered as after a reconnect, the numbers spelled otherwise.
        play.send(c, #"{"arguments":[ {"b":"y","a":2.0e0} ],"target":"Echo","invocationId":"41","type":1}"#)
        play.expect(c, done("41", #""second""#))
        play.send(c, #"{"type":1,"arguments":[{"b":"x","a":1.0}],"invocationId":"42","target":"Echo","streamIds":[]}"#)
        play.expect(c, done("42", #""first""#), push("Tick"))
        #expect(play.finish().verdict == .pass)
    }

    @Test(arguments: [["0", "1"], ["1", "0"], ["1f8a-uuid", "77"], ["9007199254740993", ""]])
    func anyIDsWillDo(_ ids: [String]) throws {
        let play = try Playbook([tape], speed: .instant)
        let c = try play.start()
        play.send(c, call(ids[0], "Echo", #"{"a":1,"b":"x"}"#))
        play.send(c, call(ids[1], "Echo", #"{"a":2,"b":"y"}"#))
        play.expect(c, done(ids[0], #""first""#), done(ids[1], #""second""#), push("Tick"))
        #expect(play.finish().verdict == .pass)
    }

    @Test func strictWantsTheRecordedOrder() throws {
        let play = try Playbook([tape], speed: .instant) { $0.match = .strict }
        let c = try play.start()
        play.send(c, call("1", "Echo", #"{"a":2,"b":"y"}"#))
        #expect(
            play.logs.first?.hasPrefix(
                "wiretape: diverged at client message 2 of session 1 (chat.tape:13), after 1 ms\n"
                    + #"    recorded  Invocation Echo({"a":1,"b":"x"})"#) == true)
        #expect(play.take(c).last?.hasPrefix("close 1011") == true)

        let warned = try Playbook([tape], speed: .instant) {
            $0.match = .strict
            $0.onDivergence = .warn
        }
        let d = try warned.start()
        warned.send(d, call("1", "Echo", #"{"a":2,"b":"y"}"#))
        warned.send(d, call("2", "Echo", #"{"a":1,"b":"x"}"#))
        warned.expect(d, done("1", #""second""#), done("2", #""first""#), push("Tick"))
        #expect(warned.finish().exitCode == 2 && warned.logs.count == 1)

        let ordered = try Playbook([tape], speed: .instant) { $0.match = .strict }
        let e = try ordered.start()
        ordered.send(e, call("1", "Echo", #"{"a":1,"b":"x"}"#))
        ordered.send(e, call("2", "Echo", #"{"a":2,"b":"y"}"#))
        ordered.expect(e, done("1", #""first""#), done("2", #""second""#), push("Tick"))
        #expect(ordered.finish().verdict == .pass)
    }

    @Test func offComparesNothingAndKeepsTheGates() throws {
        let play = try Playbook([tape], speed: .instant) {
            $0.match = .off
            $0.keepalive = .off
        }
        let c = try play.start()
        play.send(c, call("1", "Echo", "null"))
        play.expect(c, done("1", #""first""#))
        // Another target will do for lack of a better one.
        play.send(c, call("2", "Shout", "1"))
        play.expect(c, done("2", #""second""#), push("Tick"))
        // More requests than the tape has are refused, and are no divergence.
        play.send(c, call("3", "Echo"))
        play.expect(c, refused("3", "Invocation Echo()"))
        play.send(c, push("Whatever"))
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].matched == 3 && report.sessions[0].finished)
    }

    @Test func offGivesUpWaitingWithoutADivergence() throws {
        let play = try Playbook([tape], speed: .instant) {
            $0.match = .off
            $0.keepalive = .off
            $0.grace = 3_600_000_000_000
        }
        let c = try play.start()
        play.pass(ms: 30_001)
        play.expect(c, push("Tick"))
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].missing.isEmpty && play.logs.isEmpty)
    }

    @Test func aCounterpartStandsWithinTheWindow() throws {
        let count = 4_100
        let script = TestTape.handshake + (0..<count).map { "5 > \(push("Say", "\($0)"))\n" }.joined()
        for (n, isFound) in [(4_094, true), (4_095, false)] {
            let play = try Playbook([TestTape.session(script)], speed: .instant)
            let c = try play.start()
            // Say 0 is client message 2: the first of the window of 4,096.
            play.send(c, push("Say", "\(n + 1)"))
            #expect(play.take(c).isEmpty == isFound)
        }
    }

    @Test func placesAreIgnoredThroughObjectsAndArrays() throws {
        let value = try JSONValue(parsing: #"{"a":[{"t":1,"v":2},{"t":3,"v":4}],"b/c":{"~":5}}"#)
        for (pointer, wanted) in [
            ("/a/1/t", #"{"a":[{"t":1,"v":2},{"v":4}],"b/c":{"~":5}}"#),
            ("/a/*/t", #"{"a":[{"v":2},{"v":4}],"b/c":{"~":5}}"#), ("/a/*", #"{"a":[null,null],"b/c":{"~":5}}"#),
            ("/b~1c/~0", #"{"a":[{"t":1,"v":2},{"t":3,"v":4}],"b/c":{}}"#),
            ("/*", "{}"), ("/nothing/here", value.text),
        ] {
            #expect(IgnoreRule(label: "x", pointer: pointer).removed(from: value).text == wanted, "\(pointer)")
        }
    }
}
