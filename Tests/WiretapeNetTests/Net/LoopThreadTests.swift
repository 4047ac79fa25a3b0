import Testing
import WiretapeBytes
import WiretapeNet
import WiretapeRuntime
import WiretapeSystem

struct LoopThreadTests {
    private struct Refusal: Error {}

    @Test func jobsRunInOrderOnTheLoop() throws {
        let thread = LoopThread()
        let seen = Gate<[Int]>([])
        for number in 0..<10 { #expect(thread.post { _ in seen.update { $0.append(number) } }) }
        try thread.start()
        for number in 10..<1000 { thread.post { _ in seen.update { $0.append(number) } } }
        let all = seen.wait(until: { $0.count == 1000 }) { $0 }
        #expect(all == Array(0..<1000))
        thread.stop()
        #expect(!thread.post { _ in })
        thread.stop()
    }

    @Test func manyPosters() throws {
        let thread = LoopThread()
        try thread.start()
        let count = Gate(0)
        let posters = try (0..<4).map { number in
            try Thread(name: "poster \(number)") { for _ in 0..<2500 { thread.post { _ in count.update { $0 += 1 } } } }
        }
        for poster in posters { poster.join() }
        #expect(count.wait(until: { $0 == 10_000 }) { $0 } == 10_000)
        thread.stop()
    }

    @Test func answersAndErrorsComeBack() async throws {
        let thread = LoopThread()
        try thread.start()
        #expect(try thread.call { $0.now } > .zero)
        #expect(throws: Refusal.self) { try thread.call { _ in throw Refusal() } }
        #expect(try await thread.run { _ in 7 } == 7)
        await #expect(throws: Refusal.self) { try await thread.run { _ in throw Refusal() } }
        thread.stop()
        #expect(throws: NetError.self) { try thread.call { _ in } }
        await #expect(throws: NetError.self) { try await thread.run { _ in } }
    }

    @Test func whatIsOpenAtTheEndIsAborted() throws {
        let thread = LoopThread()
        try thread.start()
        let ends = Gate<[StreamEnd]>([])
        let ready = Gate(false)
        try thread.call { loop in
            let client = Peer(), server = Peer()
            client.onEnded = { peer in if let end = peer.end { ends.update { $0.append(end) } } }
            server.onEnded = client.onEnded
            client.onConnected = { $0.write(noise(8 << 20)) }
            server.reads = false
            server.onConnected = { _ in
                ready.update { $0 = true }
            }
            try loop.pair(client, server)
            loop.timer {}.arm(at: loop.now.advanced(by: 1_000_000_000_000))
            loop.resolve("localhost", port: 1) { _ in }
        }
        ready.wait(until: { $0 }) { _ in }
        thread.stop()
        #expect(ends.withLock { $0 } == [.aborted, .aborted])
    }

    @Test func startAndStopManyTimes() throws {
        for _ in 0..<50 {
            let thread = LoopThread()
            try thread.start()
            thread.stop()
        }
    }

    @Test func aThreadThatWasNeverStarted() {
        let thread = LoopThread()
        #expect(thread.post { _ in Issue.record("ran") })
        thread.stop()
    }
}
