import ExampleChat
import Testing
import WiretapeTesting

private let chat = "../../recordings/chat.tape.gz"

@Suite struct ClockTests {
    /// A back-off of 42 s takes no time, and is exact.
    @Test func movesClientAndServerTogether() async throws {
        let options = Options(
            faults: ["reset after ReceiveMessage[3]", "respond(503) on connect[retry=1..3]"], speed: .instant,
            clock: .manual)
        let server = try await ReplayServer.start(tape: chat, options: options)
        var settings = ChatClient.Settings()
        let clock = server.clock
        settings.delays = [.zero, .seconds(2), .seconds(10), .seconds(30)]
        settings.ping = .seconds(600)
        settings.sleep = { try await clock.sleep(for: $0) }
        let ada = Ada(server.endpoint, settings)
        for delay in [2, 10, 30] {
            // Pings sleep as well, and longer.
            #expect(try await clock.wakeNext(within: .seconds(delay), timeout: patience) == .seconds(delay))
        }
        try await server.finished(within: patience)
        server.expect(
            .delays(.zero, .seconds(2), .seconds(10), .seconds(30), early: .zero, late: .zero), .client("signalr-js"))
        let session = try server.session()
        #expect(session.attempts.map(\.delay) == [nil, .zero, .seconds(2), .seconds(10), .seconds(30)])
        await ada.goodbye()
        await ada.stop()
        #expect(ada.heard == Ada.chat)
        await server.stop()
        #expect(server.problems == [])
    }

    @Test func runsAsFastAsTheClient() async throws {
        let server = try await ReplayServer.start(tape: chat, options: Options(timeScale: 1_000))
        let start = server.clock.now
        try await server.clock.sleep(for: .seconds(5))
        #expect(start.duration(to: server.clock.now) >= .seconds(5))
        await #expect(throws: TapeFailure.self) { try await server.clock.advance(by: .seconds(1)) }
        await server.stop()
    }

    @Test func tellsWhenNobodySleeps() async throws {
        let server = try await ReplayServer.start(tape: chat, options: Options(clock: .manual))
        let failure = await #expect(throws: TapeFailure.self) {
            try await server.clock.wakeNext(within: .seconds(2), timeout: .milliseconds(20))
        }
        #expect(failure?.description == "nobody who wakes within 2s sleeps on the clock, for 20ms of real time")
        let waiting = Task { try await server.clock.nextWakeUp(timeout: .seconds(600)) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        await server.stop()
    }

    @Test func letsNobodySleepWhenItsServerHasStopped() async throws {
        let server = try await ReplayServer.start(tape: chat, options: Options(clock: .manual))
        let clock = server.clock
        let sleeper = Task { try await clock.sleep(for: .seconds(3_600)) }
        #expect(try await clock.nextWakeUp(timeout: patience) == .seconds(3_600))
        let cancelled = Task { try await clock.sleep(for: .seconds(1)) }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        await server.stop()
        try await sleeper.value
    }
}
