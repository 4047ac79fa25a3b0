import Testing
import WiretapeReplay

/// Recorded gaps: speed, the longest one, and a client whose clock runs fast.
@Suite struct SpeedTests {
    private let tape = TestTape.session(
        TestTape.handshake + """
            102 < \(push("A"))
            60102 < \(push("B"))
            60202 < \(push("C"))
            """)

    @Test func theLongestGapIsCapped() throws {
        let play = try Playbook([tape], speed: .factor(2)) { $0.clock.idleCap = 2_000_000_000 }
        let c = try play.start()
        play.pass(ms: 50)
        play.expect(c, push("A"))
        play.pass(ms: 999)
        play.expect(c)
        play.pass(ms: 1)
        play.expect(c, push("B"))
        play.pass(ms: 50)
        play.expect(c, push("C"))
    }

    /// The engine lives in the client's time: a recorded second is a hundred of a client that runs a hundred times faster.
    @Test func aFastClockMakesRecordedGapsLongerAndNothingElse() throws {
        let play = try Playbook([tape], speed: .factor(1)) { $0.clock.scale = 100 }
        let token: String = try #require(play.negotiate())
        let c = play.upgrade(token)
        play.send(c, #"{"protocol":"json","version":1}"#)
        play.pass(ms: 99)
        play.expect(c, "101")
        play.pass(ms: 1)
        play.expect(c, "{}")
        play.pass(ms: 10_000)
        play.expect(c, push("A"))
        play.pass(ms: 30_000)
        play.expect(c, #"{"type":6}"#, #"{"type":6}"#)
    }

    @Test func speedsAreExact() throws {
        for (factor, ms) in [(0.5, 200), (1, 100), (4, 25)] as [(Double, UInt64)] {
            let play = try Playbook([tape], speed: .factor(factor))
            let token: String = try #require(play.negotiate())
            let c = play.upgrade(token)
            play.send(c, #"{"protocol":"json","version":1}"#)
            play.pass(ms: 2)
            _ = play.take(c)
            play.pass(ms: ms - 2)
            play.expect(c)
            play.pass(ms: 2)
            play.expect(c, push("A"))
        }
    }
}
