import Testing
import WiretapeTesting

@Suite struct SecureTests {
    @Test func speaksTLSWithACertificateThatCanBeTrusted() async throws {
        let server = try await ReplayServer.start(
            tape: "../../recordings/chat.tape.gz", options: Options(isSecure: true))
        #expect(server.endpoint.hasPrefix("https://127.0.0.1:"))
        #expect(server.webSocketEndpoint.hasPrefix("wss://127.0.0.1:"))
        let authority = try ReplayServer.certificateAuthority
        #expect(authority.hasPrefix("-----BEGIN CERTIFICATE-----\n"))
        await server.stop()
    }
}
