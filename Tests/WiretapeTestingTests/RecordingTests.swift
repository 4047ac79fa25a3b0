import Foundation
import Testing
import WiretapeTesting

/// A test records what it cannot play yet, when it is told to.
@Suite struct RecordingTests {
    private static func start(_ tape: URL, _ upstream: TapeUpstream?, _ mode: RecordMode) async throws -> ReplayServer {
        try await ReplayServer.start(
            tape: tape.path, upstream: upstream,
            options: Options(faults: ["duplicate on Completion[1]"], speed: .instant),
            filePath: #filePath, sink: .current, mode: mode)
    }

    private static func place() -> URL {
        FileManager.default.temporaryDirectory.appending(path: "wiretape-\(UUID().uuidString)/chat.tape.gz")
    }

    @Test func recordsOnceAndPlaysThen() async throws {
        let tape = Self.place()
        defer { try? FileManager.default.removeItem(at: tape.deletingLastPathComponent()) }
        let real = try await ReplayServer.start(tape: "recordings/chat.tape.gz", options: Options(speed: .instant))
        let recorder = try await Self.start(tape, .url(real.endpoint), .once)
        #expect(recorder.isRecording)
        #expect(recorder.endpoint == recorder.url + "/hub")
        // No rules, no verdicts, no messages.
        recorder.expect(.delays(.seconds(1)))
        recorder.expectDelivered(["nothing"], by: \.self)
        await #expect(throws: TapeFailure.self) { try await recorder.next(.toServer, "SendMessage") }
        let ada = Ada(recorder.endpoint)
        try await real.finished(within: patience)
        try await recorder.finished(within: patience)
        await ada.stop()
        #expect(await recorder.stop() == "recorded \(tape.path): run again to play it")
        #expect(recorder.problems == [])
        await real.stop()

        let server = try await Self.start(tape, .url(real.endpoint), .once)
        #expect(!server.isRecording)
        let heard = try await playChat(server)
        #expect(heard == Ada.chat, "\(server.report)")
        await server.stop()
        #expect(server.problems == [])
    }

    @Test func aRecordingOfNobodyLeavesNoTape() async throws {
        let tape = Self.place()
        defer { try? FileManager.default.removeItem(at: tape.deletingLastPathComponent()) }
        let recorder = try await Self.start(tape, .url("http://127.0.0.1:9"), .once)
        await recorder.stop()
        #expect(recorder.problems.first?.hasPrefix("no request was answered by an upstream: no client came") == true)
        #expect(!FileManager.default.fileExists(atPath: tape.path))
    }

    @Test(arguments: ["127.0.0.1:5000", "http://", "http://127.0.0.1:0", "ftp://x"])
    func anAddressThatIsNoneIsRefused(_ url: String) async throws {
        let failure = await #expect(throws: TapeFailure.self) { try await Self.start(Self.place(), .url(url), .once) }
        #expect(failure?.description.contains("'\(url)' is no address of a server") == true)
    }

    @Test func aVariableWithoutAnAddressIsNamed() async throws {
        let failure = await #expect(throws: TapeFailure.self) {
            try await Self.start(Self.place(), .environment("NO_SUCH_UPSTREAM"), .all)
        }
        #expect(
            failure?.description
                == "WIRETAPE_RECORD_MODE wants a recording, and NO_SUCH_UPSTREAM has no address of the server")
    }

    @Test func nothingIsRecordedUnlessItIsWanted() async throws {
        let failure = await #expect(throws: TapeFailure.self) {
            try await Self.start(Self.place(), .url("http://127.0.0.1:9"), .none)
        }
        #expect(failure?.description.hasPrefix("there is no recording ") == true)
    }
}
