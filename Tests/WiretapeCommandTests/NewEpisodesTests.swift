import Foundation
import Testing

/// `wiretape auto --record-mode new-episodes`: what the tape has is replayed, what it lacks is recorded behind it.
@Suite(.waitsForPrograms) struct NewEpisodesTests {
    private let scratch: Scratch
    private let tape: String
    private let client = Binary.folder.appendingPathComponent("sample-client").path

    init() throws {
        scratch = try Scratch()
        tape = scratch.path("chat.tape.gz")
    }

    private func hub() throws -> Running { try Running("sample-hub", ["--listen", "127.0.0.1:0"], in: scratch.url) }

    /// - Parameter script: for the shell; `say WORD` is a client that says it.
    private func auto(_ options: [String], _ script: String) throws -> Binary.Run {
        let words = ["auto", tape, "--speed", "instant"] + options
        return try Binary.run(
            URL(fileURLWithPath: "/usr/bin/env"),
            ["-u", "WIRETAPE_RECORD_MODE", "CI=", Binary.wiretape.path] + words
                + ["--", "/bin/sh", "-ec", "say() { \(client) --say \"$1\"; }; \(script)"])
    }

    private func adding(_ server: Running, _ script: String, with options: [String] = []) throws -> Binary.Run {
        try auto(["--upstream", server.url, "--record-mode", "new-episodes"] + options, script)
    }

    private var bytes: Data? { FileManager.default.contents(atPath: tape) }
    private var names: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: scratch.url.path).filter { $0.contains("tape") }
        }
    }

    @Test func whatTheTapeLacksIsPutBehindIt() throws {
        let server = try hub()
        let first = try adding(server, "say one")
        #expect(first.code == 0 && first.verdict.hasSuffix("nothing was judged: run again"), "\(first.err)")
        let recorded = try #require(bytes)
        // Nothing is lacking: the tape is as it was.
        let same = try adding(server, "say one")
        #expect(same.verdict.hasPrefix("wiretape: pass (exit 0): 1 of 1 sessions"), "\(same.err)")
        #expect(!same.verdict.contains("lacked"), "\(same.verdict)")
        #expect(bytes == recorded)
        // The server is at another address by now, and is the same one to the tape.
        _ = try server.stop()
        let other = try hub()
        let more = try adding(other, "say one; say two; say three", with: ["--report", scratch.path("report.json")])
        #expect(more.code == 0 && more.verdict.hasPrefix("wiretape: pass (exit 0): 1 of 1 sessions"), "\(more.err)")
        let added = try appended()
        #expect(
            more.verdict.hasSuffix("is on it now (\(added) connections), and was not judged: run again"),
            "\(more.verdict)")
        #expect(try names == ["chat.tape.gz"])
        _ = try other.stop()
        // All three are played, and in their order.
        let all = try auto(["--record-mode", "none"], "say one; say two; say three")
        #expect(all.code == 0 && all.verdict.hasPrefix("wiretape: pass (exit 0): 3 of 3 sessions"), "\(all.err)")
        let changed = try auto(["--record-mode", "none"], "say one; say two; say four || true")
        #expect(changed.code == 2, "\(changed.err)")
        #expect(try Binary.run("validate", tape).code == 0)
    }

    /// What the report tells of it: `8 events of 2`.
    private func appended() throws -> String {
        struct Report: Decodable {
            struct Appended: Decodable { var events, connections: Int }
            var verdict: String
            var appended: Appended
        }
        let data = try Data(contentsOf: URL(fileURLWithPath: scratch.path("report.json")))
        let report = try JSONDecoder().decode(Report.self, from: data)
        #expect(report.verdict == "pass")
        return "\(report.appended.events) events of \(report.appended.connections)"
    }

    @Test func aRunThatFailsLeavesTheTape() throws {
        let server = try hub()
        #expect(try adding(server, "say one").code == 0)
        let recorded = try #require(bytes)
        let failed = try adding(server, "say one; say two; exit 3")
        #expect(failed.code == 3, "\(failed.err)")
        #expect(
            failed.verdict.hasSuffix("\(tape) stays as it was: what it lacks is recorded by a run that ends well"),
            "\(failed.verdict)")
        #expect(bytes == recorded)
        // The recorded session goes another way: no new one takes its place.
        let diverged = try adding(server, "say other || true; say two || true")
        #expect(diverged.code == 2, "\(diverged.err)")
        #expect(bytes == recorded)
        #expect(try names == ["chat.tape.gz"])
    }

    @Test func aServerThatIsGoneIsNoPass() throws {
        let server = try hub()
        #expect(try adding(server, "say one").code == 0)
        let recorded = try #require(bytes)
        _ = try server.stop()
        let run = try adding(server, "say one; say two || true")
        #expect(run.code == 1, "\(run.err)")
        #expect(
            run.verdict.contains(
                "no request for what \(tape) lacks was answered by an upstream: cannot reach \(server.url)"),
            "\(run.verdict)")
        #expect(bytes == recorded)
        #expect(try names == ["chat.tape.gz"])
        // What needs nothing new does without it.
        #expect(try adding(server, "say one").code == 0)
    }

    @Test func underRulesNothingIsAdded() throws {
        let server = try hub()
        #expect(try adding(server, "say one").code == 0)
        let recorded = try #require(bytes)
        let run = try adding(server, "say one; say two || true", with: ["--fault", "delay(1ms) on ReceiveMessage[1]"])
        #expect(run.code == 2, "\(run.err)")
        #expect(run.err.contains("nothing is added to it in a run with rules"), "\(run.err)")
        #expect(bytes == recorded)
    }

    /// Pseudonyms of what is added do not mean a secret of what was there.
    @Test func pseudonymsGoOn() throws {
        let server = try hub()
        let rule = ["--redact", "json:/arguments/1"]
        #expect(try adding(server, "say first-secret-1", with: rule).code == 0)
        let more = try adding(server, "say first-secret-1; say second-secret-2", with: rule)
        #expect(more.code == 0, "\(more.err)")
        let shown = try Binary.run("inspect", tape).out
        #expect(shown.contains("td_1") && shown.contains("td_2"), "\(shown)")
        #expect(!shown.contains("secret-"), "\(shown)")
    }

    @Test(arguments: [
        (["--on-miss", "204"], "--on-miss: with --record-mode new-episodes"),
        (["--mode", "forward"], "reverse mode only"),
        (["--keep-host"], "the server's own name"),
        (["--upstream", "other=http://127.0.0.1:9"], "has one upstream, and 2 are given"),
    ])
    func whatIsRefused(_ options: [String], _ part: String) throws {
        let server = try hub()
        #expect(try adding(server, "say one").code == 0)
        let run = try adding(server, "say one", with: options)
        #expect(run.code == 64, "\(run.err)")
        #expect(run.err.contains(part), "\(run.err)")
        #expect(try names == ["chat.tape.gz"])
    }

    @Test func aServerIsNeeded() throws {
        let server = try hub()
        #expect(try adding(server, "say one").code == 0)
        let run = try auto(["--record-mode", "new-episodes"], "say one")
        #expect(run.code == 64 && run.err.contains("--upstream is needed to record what"), "\(run.err)")
    }
}
