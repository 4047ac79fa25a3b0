import Testing
import WiretapeReplay
import WiretapeReport

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Rules of moments since a connection was opened or its handshake was done.
@Suite struct TimedFaultTests {
    private static let ticks = TestTape.session(
        TestTape.handshake
            + (1...9).map { #"\#($0 * 100) < {"type":1,"target":"Tick","arguments":[\#($0)]}"# }.joined(separator: "\n")
    )

    /// Each connection has moments of its own, and each comes once on it.
    @Test func everyConnectionHasItsOwn() throws {
        let play = try Playbook(
            [Self.ticks], faults: ["reset since connect=250ms max=1", #"inject("{\"type\":6}") since handshake=50ms"#])
        let c = try play.start()
        play.pass(ms: 300)
        #expect(play.take(c).count { $0 == #"{"type":6}"# } == 1)
        let d = try play.start()
        play.pass(ms: 1_000)
        #expect(play.take(d).count { $0 == #"{"type":6}"# } == 1)
        let report = play.finish()
        #expect(report.faults.map(\.attempt) == [1, 1, 2] && report.sessions[0].attempts.count == 2)
    }

    /// A stateful reconnect goes on with the old connection's marks, and hits what is still to come of them once more.
    @Test func whatGoesOnIsHitAgain() throws {
        let play = try Playbook([Self.ticks], faults: ["reset since connect=250ms"])
        let token = try #require(play.negotiate())
        let c = play.upgrade(token)
        play.send(c, #"{"protocol":"json","version":2}"#)
        play.pass(ms: 300)
        #expect(play.take(c).last == "RST")
        let d = play.upgrade(token)
        play.pass(ms: 100)
        #expect(play.take(d).last == "RST")
    }

    /// What one of them says costs the same whether few or many others are connected: eight times as many cost eight times
    /// as much together, and not sixty-four times.
    @Test func othersCostNothing() throws {
        func cost(_ clients: Int) throws -> Double {
            let play = try Playbook([Self.ticks], faults: ["reset since connect=1h", "mute since handshake=1h"]) {
                $0.clients = clients
                $0.keepalive = .off
            }
            let open = try (0..<clients).map { i in
                play.host = "10.0.\(i / 250).\(i % 250)"
                return try play.start()
            }
            let start = processorTime()
            for c in open {
                play.act { engine, now, out in
                    engine.controlFrame(c, isPing: true, at: now)
                    engine.wake(at: now, into: &out)
                    _ = engine.nextWake
                }
            }
            return processorTime() - start
        }
        // The best of three each.
        let few = try (0..<3).map { _ in try cost(100) }.min() ?? 0
        let many = try (0..<3).map { _ in try cost(800) }.min() ?? 0
        #expect(many < few * 24, "\(few) s and \(many) s")
    }

    /// Seconds of this thread.
    private func processorTime() -> Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
