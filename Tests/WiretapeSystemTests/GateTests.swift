import Synchronization
import Testing
import WiretapeSystem

struct GateTests {
    @Test func aWaiterSeesTheChangeOfAnotherThread() throws {
        let gate = Gate(0)
        let thread = try Thread(name: "adder") { for _ in 0..<1000 { gate.update { $0 += 1 } } }
        #expect(gate.wait(until: { $0 == 1000 }) { $0 } == 1000)
        thread.join()
        thread.join()
    }

    @Test func manyThreadsCountWithoutLoss() throws {
        let gate = Gate(0)
        let threads = try (0..<8).map { number in
            try Thread(name: "counter-\(number)-with-a-long-name") { for _ in 0..<10_000 { gate.withLock { $0 += 1 } } }
        }
        for thread in threads { thread.join() }
        #expect(gate.withLock { $0 } == 80_000)
    }

    @Test func theDeadlineEndsAWait() {
        let gate = Gate(false)
        let start = SystemClock.monotonic
        let holds = gate.wait(until: { $0 }, deadline: start + 20_000_000) { holds, _ in holds }
        #expect(!holds)
        #expect(SystemClock.monotonic >= start + 20_000_000)
    }

    @Test func aDeadlineInThePastAsksOnce() {
        let gate = Gate(true)
        #expect(gate.wait(until: { $0 }, deadline: 0) { holds, _ in holds })
        #expect(!gate.wait(until: { !$0 }, deadline: 0) { holds, _ in holds })
    }

    @Test func theChangeComesBeforeAFarDeadline() throws {
        let gate = Gate(false)
        let thread = try Thread(name: "setter") { gate.update { $0 = true } }
        #expect(gate.wait(until: { $0 }, deadline: .max) { holds, _ in holds })
        thread.join()
    }

    @Test func theValueIsReleasedWithTheGate() {
        final class Token: Sendable {
            let died: Gate<Bool>
            init(_ died: Gate<Bool>) { self.died = died }
            deinit { died.update { $0 = true } }
        }
        let died = Gate(false)
        do { _ = Gate<Token?>(Token(died)) }
        #expect(died.withLock { $0 })
    }
}
