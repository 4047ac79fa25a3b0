import ExampleChat
import Testing
import WiretapeTesting

private let chat = "../../recordings/chat.tape.gz"

@Suite struct FaultTests {
    @Test(
        arguments: ["reset after ReceiveMessage[3]", "respond(503) on connect[1]", "duplicate on Completion[1]"]
            as [Fault]
    )
    func rulesAreGivenAsTexts(_ fault: Fault) async throws {
        let server = try await ReplayServer.start(tape: chat, options: Options(faults: [fault], speed: .instant))
        _ = try? await playChat(server)
        await server.stop()
        #expect(!server.problems.contains { $0.contains("never fired") }, "\(server.problems)")
    }

    @Test func theyAreReplacedAllAtOnce() async throws {
        let server = try await ReplayServer.start(
            tape: chat, options: Options(faults: ["reset after ReceiveMessage[7]"], speed: .instant))
        let failure = await #expect(throws: TapeFailure.self) {
            try await server.replaceFaults(["reset after Nothing"])
        }
        #expect(failure?.description.contains("'Nothing' is not on chat.tape.gz") == true)
        try await server.replaceFaults(["reset after ReceiveMessage[3]", "respond(503) on connect[retry=1..2]"])
        #expect(try await playChat(server) == Ada.chat)
        server.expect(.delays(.zero, .milliseconds(20), .milliseconds(100), late: patience), .finished)
        await server.stop()
        #expect(server.problems == [])
        #expect(server.report.contains("reset"))
    }

    @Test func theyAreReplacedWhileAClientIsThere() async throws {
        let server = try await ReplayServer.start(tape: chat, options: Options(speed: .step))
        let ada = Ada(server.endpoint)
        try await server.advance(until: "ReceiveMessage", within: patience)
        _ = try await server.next(.toServer, "SendMessage", within: patience)
        try await server.replaceFaults(["reset after ReceiveMessage[1]"])
        try await server.advance(by: 100)
        try await server.finished(within: patience)
        await ada.goodbye()
        await ada.stop()
        #expect(ada.heard == Ada.chat)
        await server.stop()
        #expect(server.problems == [])
        #expect(try #require(server.report.split(separator: "\n").first).contains("finished"))
    }

    @Test func oneThatNeverFiresFails() async throws {
        let server = try await ReplayServer.start(
            tape: chat, options: Options(faults: ["reset after ReceiveMessage in attempt=4"], speed: .instant))
        _ = try await playChat(server)
        await server.stop()
        #expect(server.problems.first?.contains("never fired") == true, "\(server.problems)")
    }
}
