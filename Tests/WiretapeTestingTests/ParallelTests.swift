import Testing
import WiretapeTesting

/// Each plays the whole chat, all beside each other in one process.
@Suite(.tape("../../recordings/chat.tape.gz", speed: .instant)) struct ParallelTests {
    @Test(arguments: 1...200) func manyServersAtATime(_ number: Int) async throws {
        let server = try #require(ReplayServer.current)
        #expect(try await playChat(server) == Ada.chat)
    }
}
