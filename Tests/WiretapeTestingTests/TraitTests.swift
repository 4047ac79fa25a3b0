import Testing
import WiretapeTesting

@Suite(.tape("../../recordings/chat.tape.gz", speed: .instant)) struct TraitTests {
    let server: ReplayServer

    init() throws { server = try #require(ReplayServer.current) }

    @Test func eachTestHasAServer() async throws {
        #expect(try await playChat(server) == Ada.chat)
    }

    @Test(arguments: 1...3) func andEachCaseOfOne(_ number: Int) async throws {
        #expect(try await playChat(server) == Ada.chat)
    }

    @Suite struct Inner {
        @Test func haveItToo() async throws {
            let server = try #require(ReplayServer.current)
            #expect(try await playChat(server) == Ada.chat)
        }
    }
}

/// What a test is told at its end. The issues that are known here are those of the library, in the words of the command.
@Suite struct IssueTests {
    private static func told(_ text: String) -> KnownIssueMatcher {
        { issue in issue.comments.contains { $0.rawValue.contains(text) } }
    }

    @Test func aRunOfNobodyFails() async throws {
        try await withKnownIssue {
            try await withTape("../../recordings/chat.tape.gz") { _ in }
        } matching: {
            Self.told("nobody came to chat.tape.gz")($0)
        }
    }

    @Test func aDivergenceFails() async throws {
        try await withKnownIssue {
            try await withTape("../../recordings/chat.tape.gz", options: Options(speed: .instant)) { server in
                _ = try? await playChat(server, says: ["hi ada": "go away"])
            }
        } matching: {
            Self.told("received  Invocation SendMessage(\"ada\", \"go away\")")($0)
                && $0.sourceLocation?.fileName == "TraitTests.swift"
        }
    }

    @Test func aRuleThatNeverFiredFails() async throws {
        try await withKnownIssue {
            try await withTape(
                "../../recordings/chat.tape.gz",
                options: Options(faults: ["reset after ReceiveMessage in attempt=4"], speed: .instant)
            ) { server in _ = try await playChat(server) }
        } matching: {
            Self.told("wiretape: rule 'reset after ReceiveMessage[attempt=4]' (--fault) never fired")($0)
        }
    }

    @Test func aPolicyFailsAtTheLineOfItsCall() async throws {
        let line = #line + 8
        try await withKnownIssue {
            try await withTape(
                "../../recordings/chat.tape.gz",
                options: Options(faults: ["reset after ReceiveMessage[3]"], speed: .instant)
            ) { server in
                _ = try await playChat(server)
                // No machine is so slow that a client comes back that late.
                server.expect(.delays(.seconds(3_600)))
            }
        } matching: {
            Self.told(" is not met: retry 1 (attempt 2) of session 1 came after ")($0)
                && $0.sourceLocation?.line == line
        }
    }

    @Test func policiesThatAreWatchedFromTheBeginningSaySo() async throws {
        try await withKnownIssue {
            try await withTape("../../recordings/chat.tape.gz", options: Options(speed: .instant)) { server in
                _ = try await playChat(server)
                server.expect(.single)
            }
        } matching: {
            Self.told("single has to be known before the first client comes")($0)
        }
    }

    @Test func aTextThatIsNoPolicyIsAnIssue() async throws {
        try await withKnownIssue {
            try await withTape("../../recordings/chat.tape.gz", options: Options(speed: .instant)) { server in
                _ = try await playChat(server)
                server.expect("delay(2s)")
            }
        } matching: {
            Self.told("delay")($0)
        }
    }

    @Test func whatWasLostOrDoubledIsAnIssue() async throws {
        try await withKnownIssue {
            try await withTape("../../recordings/chat.tape.gz", options: Options(speed: .instant)) { server in
                _ = try await playChat(server)
                server.expectDelivered(Ada.chat.dropFirst() + ["hello bob"], by: \.self)
            }
        } matching: {
            Self.told("'hi ada' never reached the app")($0)
                || Self.told("'bye', 'hello bob' reached the app more than once")($0)
        }
    }
}
