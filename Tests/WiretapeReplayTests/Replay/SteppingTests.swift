import Testing
import WiretapeFaults
import WiretapeReplay
import WiretapeReport

/// `--speed step`: nothing leaves but what is allowed to.
@Suite struct SteppingTests {
    private let tape = TestTape.session(
        TestTape.handshake + """
            10 < \(push("Tick", "1"))
            20 < \(push("Tick", "2"))
            30 > \(call("0", "Echo"))
            40 < \(done("0", "1"))
            50 < \(push("Tock"))
            60 < close 1000
            """)

    private func step(_ play: Playbook, _ count: Int, session: Int? = nil) {
        play.act { $0.step(count, session: session, at: $1, into: &$2) }
    }

    private func step(_ play: Playbook, until text: String) throws {
        let selector = try FaultRule(parsing: "reset on \(text)", from: RuleSource(file: "-")).selector
        play.act { $0.step(until: selector, at: $1, into: &$2) }
    }

    @Test func eachStepIsOneMessageAndIsNotUsedUpByWaiting() throws {
        let play = try Playbook([tape], speed: .step) { $0.keepalive = .off }
        let c = try play.start()
        play.pass(ms: 10_000)
        play.expect(c)
        step(play, 1)
        play.expect(c, push("Tick", "1"))
        play.pass(ms: 10_000)
        play.expect(c)
        step(play, 1)
        step(play, 1)
        play.expect(c, push("Tick", "2"))
        // The third waits for the client.
        play.pass(ms: 10_000)
        play.expect(c)
        play.send(c, call("9", "Echo"))
        play.expect(c, done("9", "1"))
        step(play, 5)
        play.expect(c, push("Tock"), "close 1000")
        #expect(play.finish().verdict == .pass)
    }

    @Test func untilASelectorMeansThatMessageToo() throws {
        let play = try Playbook([tape], speed: .step) { $0.keepalive = .off }
        let c = try play.start()
        play.send(c, call("9", "Echo"))
        try step(play, until: "Completion")
        play.expect(c, push("Tick", "1"), push("Tick", "2"), done("9", "1"))
        try step(play, until: "Tock")
        play.expect(c, push("Tock"))
        step(play, 1)
        play.expect(c, "close 1000")
    }

    @Test func keepalivesGoOnAndPatienceDoesNot() throws {
        for (keepalive, pings) in [(ReplayOptions.Keepalive.auto, 8), (.off, 0)] {
            let play = try Playbook([tape], speed: .step) { $0.keepalive = keepalive }
            let c = try play.start()
            play.pass(ms: 120_000)
            #expect(play.take(c) == Array(repeating: #"{"type":6}"#, count: pings))
            #expect(play.logs.isEmpty)
            step(play, 1)
            play.expect(c, push("Tick", "1"))
        }
    }

    @Test func oneSessionIsSteppedAndTheOtherIsNot() throws {
        let ticks = TestTape.handshake + "10 < \(push("Tick"))"
        let play = try Playbook(
            [TestTape.session(ticks), TestTape.session(ticks, number: 2)], speed: .step)
        let c = try play.start()
        play.host = "10.0.0.2"
        let d = try play.start()
        step(play, 1, session: 2)
        play.expect(c)
        play.expect(d, push("Tick"))
    }
}
