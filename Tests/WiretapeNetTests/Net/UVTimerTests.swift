import Testing
import WiretapeBytes
import WiretapeNet
import WiretapeRuntime

struct UVTimerTests {
    @Test func earlierFirstAndArmedFirst() throws {
        var order: [Int] = []
        try onLoop { loop in
            let base = loop.now.advanced(by: 5_000_000)
            var draws = SplitMix64(seed: 5)
            var expected: [(at: WireInstant, number: Int)] = []
            var timers: [any LoopTimer] = []
            for number in 0..<500 {
                let at = base.advanced(by: UInt64(draws.below(40)) * 500_000)
                expected.append((at, number))
                let timer = loop.timer {
                    #expect(loop.now >= at)
                    order.append(number)
                }
                timer.arm(at: at)
                timers.append(timer)
            }
            loop.after(200) {
                loop.stop()
                #expect(order == expected.sorted { ($0.at, $0.number) < ($1.at, $1.number) }.map(\.number))
                for timer in timers { timer.close() }
            }
        }
        #expect(order.count == 500)
    }

    @Test func armingAgainMovesAndCancelDisarms() throws {
        var fired: [String] = []
        try onLoop { loop in
            let moved = loop.timer { fired.append("moved") }
            moved.arm(at: loop.now)
            moved.arm(at: loop.now.advanced(by: 30_000_000))
            let cancelled = loop.timer { fired.append("cancelled") }
            cancelled.arm(at: loop.now)
            cancelled.cancel()
            let closed = loop.timer { fired.append("closed") }
            closed.arm(at: loop.now)
            closed.close()
            closed.arm(at: loop.now)
            loop.after(10) {
                #expect(fired.isEmpty)
                cancelled.arm(at: loop.now)
            }
            loop.after(60) { loop.stop() }
        }
        #expect(fired == ["cancelled", "moved"])
    }

    @Test func aTimerThatArmsItselfDoesNotStarveTheStreams() throws {
        let client = Peer(), server = Peer()
        var rounds = 0
        try onLoop { loop in
            var timer: (any LoopTimer)?
            timer = loop.timer {
                rounds += 1
                timer?.arm(at: .zero)
            }
            timer?.arm(at: .zero)
            client.onConnected = { $0.write("through") }
            server.onBytes = { _ in
                timer?.close()
                loop.stop()
            }
            try loop.pair(client, server)
        }
        #expect(server.text == "through")
        #expect(rounds > 0)
    }

    @Test func theClosureGoesWithTheTimer() throws {
        final class Token {}
        weak var seen: Token?
        try onLoop { loop in
            var token: Token? = Token()
            seen = token
            let timer = loop.timer { [token] in _ = token }
            token = nil
            timer.arm(at: loop.now)
            #expect(seen != nil)
            timer.close()
            #expect(seen == nil)
            loop.stop()
        }
    }

    /// Open timers keep a loop going, closed ones do not.
    @Test func aLoopEndsWhenNothingIsOpen() throws {
        let loop = try UVLoop()
        defer { loop.shutdown() }
        var fired = false
        loop.after(5) { fired = true }
        loop.run()
        #expect(fired)
    }
}
