import Chat
import Testing
import WiretapeTesting

private let tape = "../../../../recordings/chat.tape.gz"

/// ada's client against a recorded chat, whose connection is broken in a different way in each test. The clock stands still until a
/// test moves it, so that long delays take no time, and are exact.
@Suite(.tape(tape, options: Options(speed: .instant, clock: .manual)), .timeLimit(.minutes(1)))
struct ChatTests {
    let server: ReplayServer

    init() throws { server = try #require(ReplayServer.current) }

    @Test func hearsTheChat() async throws {
        let ada = Ada(server)
        try await server.finished()
        await ada.goodbye()
        await ada.stop()
        #expect(ada.heard == Ada.chat)
    }

    @Test func comesBackAtOnce() async throws {
        try await server.replaceFaults(["reset after ReceiveMessage[3]"])
        let ada = Ada(server)
        try await server.finished()
        server.expect(.delays(.zero))
        await ada.stop()
    }

    @Test func waitsLongerEachTime() async throws {
        try await server.replaceFaults(["reset after ReceiveMessage[3]", "respond(503) on connect[retry=1..2]"])
        let ada = Ada(server)
        for delay in [2, 10] { try await server.clock.wakeNext(within: .seconds(delay)) }
        try await server.finished()
        server.expect(.delays(.zero, .seconds(2), .seconds(10), early: .zero, late: .zero), .client("signalr-js"))
        await ada.stop()
    }

    @Test func noticesASilentConnection() async throws {
        try await server.replaceFaults(["stall(both) after ReceiveMessage[3]"])
        let ada = Ada(server)
        _ = try await server.next(.toClient, "Completion")
        // The last time that something came, the question whether the server is there, and no answer.
        for _ in 0..<3 { try await server.clock.wakeNext(within: .seconds(10)) }
        try await server.finished()
        server.expect(.detects(within: .seconds(30)))
        await ada.stop()
    }

    @Test func fallsBackWhereThereAreNoWebSockets() async throws {
        try await server.replaceFaults(["downgrade(ws) + reset after ReceiveMessage[3]"])
        let ada = Ada(server)
        try await server.finished()
        await ada.goodbye()
        await ada.stop()
        #expect(ada.heard == Ada.chat)
        let session = try server.session()
        #expect(session.transports == ["ws", "lp"])
    }

    @Test func hearsEverythingOnceAndInOrder() async throws {
        try await server.replaceFaults(["disconnect after ReceiveMessage[4]"])
        let ada = Ada(server)
        try await server.finished()
        await ada.goodbye()
        await ada.stop()
        #expect(ada.heard == Ada.chat)
        server.expectDelivered(ada.heard.dropLast(), by: \.self, label: "ReceiveMessage", at: "/arguments/1")
    }

    @Test func saysAgainWhatWasNotAcknowledged() async throws {
        try await server.replaceFaults(["reset before Completion[2]"])
        let ada = Ada(server)
        try await server.finished()
        server.expect(.keeps("SendMessage"))
        await ada.stop()
    }

    @Test func saysNothingTwice() async throws {
        try await server.replaceFaults(["reset after Completion[1]"])
        let ada = Ada(server)
        try await server.finished()
        server.expect(.once("SendMessage"))
        await ada.stop()
        let said = server.received(type: "SendMessage").map { $0["/arguments/1"]?.string }
        #expect(said == ["hello bob", "fine, thanks", "bye"])
    }

    @Test func bearsASecondAcknowledgement() async throws {
        try await server.replaceFaults(["duplicate on Completion[1]"])
        let ada = Ada(server)
        try await server.finished()
        await ada.goodbye()
        await ada.stop()
        #expect(ada.heard == Ada.chat)
    }

    @Test func showsANewTokenWhenTheOldOneIsRefused() async throws {
        try await server.replaceFaults(["reset after ReceiveMessage[3]", "respond(401) on connect[token=stale]"])
        var settings = Ada.settings(server)
        let tokens = Tokens()
        settings.token = { await tokens.next() }
        let ada = Ada(server, settings)
        try await server.finished()
        await ada.goodbye()
        await ada.stop()
        #expect(await tokens.given == 2)
        #expect(ada.heard == Ada.chat)
    }

    @Test func outlivesARestartOfTheServer() async throws {
        try await server.replaceFaults(["outage(5s) after ReceiveMessage[3]"])
        let ada = Ada(server)
        for delay in [2, 10] { try await server.clock.wakeNext(within: .seconds(delay)) }
        try await server.finished()
        server.expect(.delays(.zero, .seconds(2), .seconds(10), early: .zero, late: .zero))
        await ada.goodbye()
        await ada.stop()
        #expect(ada.heard == Ada.chat)
    }

    @Test func givesUpInTheEnd() async throws {
        try await server.replaceFaults(["outage(600s) after ReceiveMessage[3]"])
        let ada = Ada(server)
        for delay in [2, 10, 30] { try await server.clock.wakeNext(within: .seconds(delay)) }
        await #expect(throws: ChatClient.Unreachable.self) { try await ada.end() }
        try await server.clock.advance(by: .seconds(120))
        server.expect(.givesUp(after: 4))
    }

    @Test func staysAwayWhenItIsBanned() async throws {
        try await server.replaceFaults(["close(4001) after ReceiveMessage[2]"])
        let ada = Ada(server)
        await #expect(throws: ChatClient.Banned.self) { try await ada.end() }
        try await server.clock.advance(by: .seconds(120))
        server.expect(.staysAway(after: "close(4001)"))
    }
}

/// What gives tokens, and counts them.
actor Tokens {
    private(set) var given = 0

    func next() -> String {
        given += 1
        return "token-\(given)"
    }
}
