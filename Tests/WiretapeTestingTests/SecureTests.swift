import Foundation
import Testing
import WiretapeBytes
import WiretapeNet
import WiretapeProxy
import WiretapeRuntime
import WiretapeSystem
import WiretapeTLS
import WiretapeTesting

@Suite struct SecureTests {
    /// Asks once, and keeps what it is told.
    private final class Asker: StreamHandler {
        let answer: Gate<String?>
        let request: [UInt8]
        var stream: (any ByteStream)?
        private var heard: [UInt8] = []

        init(_ request: String, _ answer: Gate<String?>) {
            self.request = Array(request.utf8)
            self.answer = answer
        }

        func connected() {
            stream?.isReading = true
            let request = request
            stream?.write(request.span)
        }

        func received(_ bytes: Span<UInt8>) { heard.append(copying: bytes) }
        func receivedEnd() { stream?.halfClose() }
        func drained() {}

        func ended(_ how: StreamEnd) {
            let text = if case .failed(let why) = how { why } else { String(decoding: heard, as: UTF8.self) }
            answer.update { $0 = text }
            stream = nil
        }
    }

    private static func ask(_ server: ReplayServer, trusting authority: String?) throws -> String {
        let file = FileManager.default.temporaryDirectory.appending(path: "wiretape-\(UUID().uuidString).pem")
        try (authority ?? "").write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let trust: TLSTrust = authority == nil ? .system : .systemAnd(file: file.path)
        let port = try #require(UInt16(server.url.split(separator: ":").last ?? ""))
        let thread = LoopThread(name: "client")
        try thread.start()
        defer { thread.stop() }
        let answer = Gate<String?>(nil)
        _ = try thread.call { loop in
            let request =
                "POST /hub/negotiate?negotiateVersion=1 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            let asker = Asker(request, answer)
            let context = try TLSContext(client: trust)
            asker.stream = TLSStream.connect(
                loop, to: Address(host: "127.0.0.1", port: port), serverName: "127.0.0.1", context, asker)
            loop.residents.append(asker)
        }
        return answer.wait(until: { $0 != nil }) { $0 ?? "" }
    }

    @Test func speaksTLSToWhoeverTrustsItsAuthority() async throws {
        let server = try await ReplayServer.start(
            tape: "recordings/chat.tape.gz", options: Options(isSecure: true))
        #expect(server.endpoint.hasPrefix("https://127.0.0.1:"))
        #expect(server.webSocketEndpoint.hasPrefix("wss://127.0.0.1:"))
        let authority = try ReplayServer.certificateAuthority
        #expect(try Self.ask(server, trusting: authority).hasPrefix("HTTP/1.1 200 "))
        #expect(try Self.ask(server, trusting: nil).contains("certificate verify failed"))
        await server.stop()
        // What was said stays to be looked at.
        #expect(try server.session().number == 1)
    }
}
