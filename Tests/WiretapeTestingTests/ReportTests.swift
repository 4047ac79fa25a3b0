import Foundation
import Testing
import WiretapeTesting

/// What a test leaves where `WIRETAPE_REPORT_DIR` wants reports.
@Suite struct ReportTests {
    @Test func pageTextJSONAndTapeAreWritten() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "wiretape-reports-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await ReplayServer.start(
            tape: "../../recordings/chat.tape.gz", upstream: nil, options: Options(speed: .instant),
            filePath: #filePath,
            sink: .current, reports: folder.path + "/new")
        #expect(try await playChat(server) == Ada.chat)
        await server.stop()
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/new")
        #expect(Set(files.map { $0.split(separator: ".").last }) == ["html", "json", "tape", "txt"], "\(files)")
        func text(_ suffix: String) throws -> String {
            let name = try #require(files.first { $0.hasSuffix(suffix) })
            return try String(contentsOfFile: folder.path + "/new/" + name, encoding: .utf8)
        }
        let page = try text(".html")
        #expect(page.contains("<p class=\"word\">pass</p>") && page.contains("session 1"))
        #expect(page.contains("ReportTests") && page.contains("swift test --filter"), "\(page.prefix(3_000))")
        #expect(page.contains("\(server.seed)"))
        #expect(try text(".json").contains("\"verdict\":\"pass\""))
        // The tape of what passed can be played again to the same client.
        let tape = folder.path + "/new/" + (try #require(files.first { $0.hasSuffix(".tape") }))
        let again = try await ReplayServer.start(tape: tape, options: Options(speed: .instant))
        #expect(try await playChat(again) == Ada.chat)
        await again.stop()
        #expect(again.problems.isEmpty, "\(again.problems)")
    }
}
