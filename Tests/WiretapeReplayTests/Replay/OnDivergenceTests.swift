import Testing
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// `--on-divergence warn|ignore|stall` with what is missing, unexpected, different and late.
@Suite struct OnDivergenceTests {
    private let tape = TestTape.session(
        TestTape.handshake + """
            3 > \(call("0", "Send", #""ada","hi""#))
            4 < \(done("0", "true"))
            5 > \(call("1", "Sum", "1,2"))
            6 < \(done("1", "3"))
            7 < \(push("Tick"))
            """)

    @Test(arguments: [OnDivergence.warn, .ignore])
    func aDifferentMessageStandsForItsCounterpart(_ policy: OnDivergence) throws {
        let play = try Playbook([tape], speed: .instant) { $0.onDivergence = policy }
        let c = try play.start()
        play.send(c, call("5", "Send", #""ada","hi!""#))
        play.expect(c, done("5", "true"))
        play.send(c, call("6", "Sum", "1,2"))
        play.expect(c, done("6", "3"), push("Tick"))
        let report = play.finish()
        #expect(report.sessions[0].matched == 3 && report.sessions[0].finished)
        #expect(report.sessions[0].unexpected == [#"Invocation Send("ada", "hi!")"#])
        #expect(report.divergences.count == 1 && report.divergences[0].contains("/arguments/1"))
        #expect(report.exitCode == (policy == .warn ? 2 : 0))
        #expect(report.verdict == (policy == .warn ? .diverged : .pass))
        #expect(report.reasons.isEmpty == (policy == .ignore))
    }

    @Test func tooMuchIsAnsweredWithTheProtocolsErrorAndTheConversationGoesOn() throws {
        let play = try Playbook([tape], speed: .instant) { $0.onDivergence = .warn }
        let c = try play.start()
        play.send(c, call("5", "Send", #""ada","hi""#))
        play.expect(c, done("5", "true"))
        // Doubled, and something that the tape has nothing like.
        play.send(c, call("6", "Send", #""ada","hi""#))
        play.send(c, call("7", "Erase"))
        play.send(c, push("Whisper"))
        play.expect(c, refused("6", #"Invocation Send("ada", "hi")"#), refused("7", "Invocation Erase()"))
        play.send(c, call("8", "Sum", "1,2"))
        play.expect(c, done("8", "3"), push("Tick"))
        let report = play.finish()
        #expect(report.sessions[0].finished && report.sessions[0].matched == 3 && report.sessions[0].missing.isEmpty)
        #expect(
            report.sessions[0].unexpected == [
                #"Invocation Send("ada", "hi")"#, "Invocation Erase()", "Invocation Whisper()",
            ])
        #expect(
            report.divergences[0] == """
                wiretape: diverged at client message 2 of session 1 (chat.tape:13), after 1 ms
                    recorded  Invocation Send("ada", "hi"), once
                    received  Invocation Send("ada", "hi"), again
                """)
        #expect(
            report.divergences[1] == """
                wiretape: diverged at client message 3 of session 1 (chat.tape:15), after 1 ms
                    recorded  Invocation Sum(1, 2)
                    received  Invocation Erase()                       /target /arguments
                    accept:   --ignore 'Sum:/target' --ignore 'Sum:/arguments'   or   wiretape edit chat.tape \
                --where 'Sum[1]' --set '/target="Erase"' --set '/arguments=[]'
                """)
    }

    /// A client may say as much as it likes: the report keeps the first thousand of each list, and counts all.
    @Test func aFloodIsCountedAndNotKept() throws {
        let play = try Playbook([tape], speed: .instant) { $0.onDivergence = .ignore }
        let c = try play.start()
        for n in 0..<1_500 { play.send(c, call("\(n + 10)", "Erase")) }
        let report = play.finish()
        #expect(report.sessions[0].unexpected.count == 1_000 && report.divergences.count == 1_000)
        let left = report.sessions[0].unexpectedBeyond
        #expect(left == 500 && report.divergencesBeyond == left)
        #expect(report.text.contains("1500 unexpected") && report.text.contains("1500 divergences ignored"))
        let json = report.json.text
        #expect(json.contains(#""unexpected_left_out":500"#) && json.contains(#""divergences_left_out":500"#))
    }

    @Test func stallKeepsSilentAndOpen() throws {
        let play = try Playbook([tape], speed: .instant) { $0.onDivergence = .stall }
        let c = try play.start()
        play.send(c, call("5", "Erase"))
        play.send(c, call("6", "Send", #""ada","hi""#))
        play.pass(ms: 16_000)
        // Its own keepalives go on: a client that is looked at must not time out.
        play.expect(c, #"{"type":6}"#)
        let report = play.finish()
        #expect(report.exitCode == 2 && !report.sessions[0].finished)
        #expect(report.sessions[0].unexpected == ["Invocation Erase()"])
        #expect(report.divergences.count == 1)
    }

    @Test func everyDifferenceIsShownAndAccepted() throws {
        let tape = TestTape.session(
            TestTape.handshake + """
                3 > \(push("Move", #"{"x":1,"y":2,"at":5},[1,2]"#))
                """)
        let play = try Playbook([tape])
        let c = try play.start()
        play.send(c, push("Move", #"{"x":1,"y":3,"at":6},[1,4]"#))
        #expect(
            play.logs == [
                """
                wiretape: diverged at client message 2 of session 1 (chat.tape:13), after 1 ms
                    recorded  Invocation Move({"x":1,"y":2,"at":5}, [1,2])
                    received  Invocation Move({"x":1,"y":3,"at":6}, [1,4])    /arguments/0/y /arguments/0/at /arguments/1/1
                    accept:   --ignore 'Move:/arguments/0/y' --ignore 'Move:/arguments/0/at' --ignore 'Move:/arguments/1/1'   \
                or   wiretape edit chat.tape --where 'Move[1]' --set '/arguments/0/y=3' --set '/arguments/0/at=6' \
                --set '/arguments/1/1=4'
                """
            ])
        let accepting = try Playbook([tape]) {
            $0.ignore = [
                IgnoreRule(label: "Move", pointer: "/arguments/0/y"), IgnoreRule(label: "*", pointer: "/*/*/at"),
                IgnoreRule(label: "Move", pointer: "/arguments/1/*"),
            ]
        }
        let d = try accepting.start()
        accepting.send(d, push("Move", #"{"x":1,"y":3,"at":6},[1,4]"#))
        #expect(accepting.logs.isEmpty && accepting.finish().sessions[0].matched == 2)
    }
}
