import ExampleChat
import Testing
import WiretapeTesting

private let chat = "../../recordings/chat.tape.gz"

@Suite struct ReplayServerTests {
    @Test func playsATape() async throws {
        let server = try await ReplayServer.start(tape: chat, options: Options(speed: .instant))
        #expect(server.endpoint == server.url + "/hub")
        #expect(try await playChat(server) == Ada.chat)
        let report = await server.stop()
        #expect(report.contains("session 1 (signalr over ws), 4 client messages matched, finished"))
        #expect(server.problems == [])
        // Again: nothing.
        #expect(await server.stop() == report)
    }

    @Test func isGoneBehindItsScope() async throws {
        let url = try await withTape(chat, options: Options(speed: .instant)) { server in
            let heard = try await playChat(server)
            #expect(heard == Ada.chat)
            return server.endpoint
        }
        let late = ChatClient(url: url, settings: settings(delays: [])) { _, _ in }
        await #expect(throws: ChatClient.Unreachable.self) { try await late.run() }
    }

    @Test func tellsWhatAMissingTapeIsMadeWith() async throws {
        let failure = await #expect(throws: TapeFailure.self) {
            try await ReplayServer.start(tape: "recordings/nothing.tape", filePath: "/somewhere/Tests/XTests/X.swift")
        }
        #expect(
            failure?.description
                == "there is no recording /somewhere/Tests/XTests/recordings/nothing.tape; make it with: wiretape record "
                + "--upstream URL --output /somewhere/Tests/XTests/recordings/nothing.tape")
    }

    @Test(arguments: [
        ("rset after ReceiveMessage", "--fault: 1:1: "), ("reset after RecieveMessage", "nearest is 'ReceiveMessage'"),
        ("reset after ReceiveMessage[30]", "'ReceiveMessage' comes 7 times in a session of chat.tape.gz"),
    ])
    func refusesRulesThatAreNone(_ fault: Fault, _ why: String) async throws {
        let failure = await #expect(throws: TapeFailure.self) {
            try await ReplayServer.start(tape: chat, options: Options(faults: [fault]))
        }
        #expect(failure?.description.contains(why) == true, "\(failure?.description ?? "")")
    }

    @Test func refusesPoliciesThatAreNone() async throws {
        let failure = await #expect(throws: TapeFailure.self) {
            try await ReplayServer.start(tape: chat, options: Options(expect: ["delay(2s)"]))
        }
        #expect(failure?.description.contains("delays") == true, "\(failure?.description ?? "")")
    }

    @Test func tellsOfADivergence() async throws {
        let server = try await ReplayServer.start(tape: chat, options: Options(speed: .instant))
        let failure = await #expect(throws: TapeFailure.self) {
            try await playChat(server, says: ["hi ada": "go away"])
        }
        #expect(
            failure?.description.hasPrefix("wiretape: diverged at client message 2 of session 1 (chat.tape.gz:") == true
        )
        await server.stop()
        let problem = try #require(server.problems.first)
        #expect(problem.contains("    recorded  Invocation SendMessage(\"ada\", \"hello bob\")"), "\(problem)")
        #expect(problem.contains("    received  Invocation SendMessage(\"ada\", \"go away\")"))
        #expect(problem.contains("accept:   --ignore 'SendMessage:/arguments/1'"))
    }

    @Test func nobodyIsNoPass() async throws {
        let server = try await ReplayServer.start(tape: chat)
        await server.stop()
        #expect(server.problems.first?.hasPrefix("nobody came to chat.tape.gz: no session was claimed.") == true)
    }

    @Test func takesItsTapesFromAFolder() async throws {
        // From the folder of the test's file upwards, as far as the package.
        let server = try await ReplayServer.start(tape: "recordings/chat.tape.gz", options: Options(speed: .instant))
        #expect(try await playChat(server) == Ada.chat)
        await server.stop()
    }

    @Test func everyTestHasASession() async throws {
        let server = try await ReplayServer.start(tape: chat, options: Options(speed: .instant))
        #expect(throws: TapeFailure.self) { try server.session() }
        _ = try await playChat(server)
        let session = try server.session()
        #expect(session.number == 1)
        #expect(session.isFinished)
        #expect(session.transports == ["ws"])
        #expect(session.attempts.map(\.outcome) == ["connected"])
        #expect(session.attempts.first?.statuses == [200, 101])
        #expect(throws: TapeFailure.self) { try server.session("ada") }
        await server.stop()
    }
}

func settings(delays: [Duration]) -> ChatClient.Settings {
    var settings = Ada.quick
    settings.delays = delays
    return settings
}
