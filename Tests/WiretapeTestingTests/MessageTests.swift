import ExampleChat
import Testing
import WiretapeTesting

private let chat = "../../recordings/chat.tape.gz"

@Suite struct MessageTests {
    @Test func whatPassedIsDecoded() async throws {
        let server = try await ReplayServer.start(
            tape: chat, options: Options(faults: ["disconnect after Completion[1]"], speed: .instant))
        _ = try await playChat(server)
        let said = server.received(type: "SendMessage")
        #expect(said.map { $0["/arguments/1"]?.string } == ["hello bob", "fine, thanks", "bye"])
        #expect(said.first?["/arguments/0"] == "ada")
        #expect(said.map(\.attempt) == [1, 2, 2])
        #expect(said.map(\.session) == [1, 1, 1])
        #expect(said.first?.description == "Invocation SendMessage(\"ada\", \"hello bob\")")
        #expect(server.received(type: "Invocation").count == 3)
        #expect(server.sent(type: "ReceiveMessage").map { $0["/arguments/1"]?.string } == Ada.chat)
        await server.stop()
    }

    @Test func theyAreWaitedFor() async throws {
        let server = try await ReplayServer.start(tape: chat, options: Options(speed: .instant))
        let ada = Ada(server.endpoint)
        #expect(try await server.next(.toServer, "SendMessage", within: patience)["/arguments/1"] == "hello bob")
        #expect(try await server.next(.toServer, "SendMessage", within: patience)["/arguments/1"] == "fine, thanks")
        #expect(try await server.next(.toClient, "ReceiveMessage", within: patience)["/arguments/1"] == "hi ada")
        try await server.finished(within: patience)
        let failure = await #expect(throws: TapeFailure.self) {
            try await server.next(.toServer, "Nothing", within: .milliseconds(20))
        }
        #expect(
            failure?.description.hasPrefix("no 'Nothing' within 20ms; what came: ") == true,
            "\(failure?.description ?? "")")
        await ada.stop()
        await server.stop()
    }

    @Test func whoWaitsCanBeCancelled() async throws {
        let server = try await ReplayServer.start(tape: chat)
        let waiting = Task { try await server.next(.toServer, "SendMessage", within: .seconds(600)) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        let finishing = Task { try await server.finished(within: .seconds(600)) }
        await server.stop()
        await #expect(throws: TapeFailure.self) { try await finishing.value }
    }

    @Test func whatTheAppGotIsHeldToWhatWasSaid() async throws {
        let server = try await ReplayServer.start(
            tape: chat, options: Options(faults: ["disconnect after ReceiveMessage[4]"], speed: .instant))
        let heard = try await playChat(server)
        // bob and ada both say bye.
        server.expectDelivered(heard.dropLast(), by: \.self, label: "ReceiveMessage", at: "/arguments/1")
        await server.stop()
        #expect(server.problems == [])
    }

    @Test func stepsComeOneByOne() async throws {
        let server = try await ReplayServer.start(tape: chat, options: Options(speed: .step))
        let ada = Ada(server.endpoint)
        try await server.advance(until: "ReceiveMessage[/arguments/1=\"hi ada\"]", within: patience)
        #expect(try await server.next(.toServer, "SendMessage", within: patience)["/arguments/1"] == "hello bob")
        #expect(server.sent(type: "ReceiveMessage").count == 1)
        await #expect(throws: TapeFailure.self) { try await server.advance(until: "ReceiveMessage[") }
        try await server.advance(by: 100)
        try await server.finished(within: patience)
        await ada.goodbye()
        await ada.stop()
        #expect(ada.heard == Ada.chat)
        await server.stop()
    }
}
