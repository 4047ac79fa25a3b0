import Foundation
import Testing

@Suite(.waitsForPrograms) struct CanonCommandTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test func aCompressedTapeStaysCompressedAndAnOutputIsText() throws {
        let path = try TapeFiles.copy("chat", in: scratch)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let text = scratch.path("chat.tape")
        #expect(try Binary.run("canon", path, "--output", text).code == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(try Binary.run("canon", "--check", path).code == 2)
        #expect(try Binary.run("canon", "--check", text).code == 0)
        #expect(try Binary.run("canon", path).code == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).prefix(2) == Data([0x1f, 0x8b]))
        #expect(try TapeFiles.lines(path) == TapeFiles.lines(text))
        let piped = try Binary.run("canon", text, "--output", "-")
        #expect(piped.out == (try String(contentsOfFile: text, encoding: .utf8)))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: scratch.url.path).sorted() == [
                "chat.tape", "chat.tape.gz",
            ])
    }

    @Test func aBadTapeIsLeftAlone() throws {
        let path = try TapeFiles.write(TapeFiles.sparse + ["oops"], "bad.tape", in: scratch)
        let run = try Binary.run("canon", path)
        #expect(run.code == 4 && run.verdict.contains("line 6"), "\(run.err)")
        #expect(try TapeFiles.lines(path).count == 6)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.url.path) == ["bad.tape"])
    }

    /// Acceptance: two recordings of one script differ in the start and the times only. A replay is the server: nothing
    /// that it says crosses what the client says.
    @Test func twoRecordingsOfOneScriptAreEqual() throws {
        let tape = try TapeFiles.write(TapeFiles.sparse, "server.tape", in: scratch)
        let server = try Running(
            "wiretape",
            ["replay", tape, "--json", "--when-exhausted", "repeat"], in: scratch.url)
        let client = Binary.folder.appendingPathComponent("sample-client").path
        let texts = try (1...3).map { n in
            let path = scratch.path("\(n).tape")
            let run = try Binary.run(
                "record", "--canonical", "--upstream", server.url, "--output", path, "--", client, "{url}/chat",
                "--say",
                "hello")
            #expect(run.code == 0, "\(run.err)")
            return try TapeFiles.lines(path).map {
                $0.replacing(/"started":"[^"]*"/, with: "").replacing(/"t":\d+/, with: "")
            }
        }
        #expect(texts[0].count > 8 && texts[0] == texts[1] && texts[1] == texts[2])
        #expect(texts[0][0].contains("\"canonical\":true"))
    }

    /// A recorder that is killed leaves the tape as it was recorded.
    @Test func aKilledRecorderLeavesATape() throws {
        let hub = try Running("sample-hub", ["--listen", "127.0.0.1:0"], in: scratch.url)
        let path = scratch.path("k.tape")
        let recorder = try Running(
            "wiretape", ["record", "--canonical", "--upstream", hub.url, "--output", path, "--json"], in: scratch.url)
        let client = Binary.folder.appendingPathComponent("sample-client")
        #expect(try Binary.run(client, ["\(recorder.url)/chat", "--say", "one"]).code == 0)
        Thread.sleep(forTimeInterval: 0.6)
        _ = try recorder.stop(SIGKILL)
        let check = try Binary.run("validate", path)
        #expect(check.code == 0 && check.out.contains("1 session") && check.out.contains("not ended"), "\(check.out)")
        #expect(try Binary.run("canon", path).code == 0)
    }
}
