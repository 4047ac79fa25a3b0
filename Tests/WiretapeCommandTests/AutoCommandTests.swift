import Foundation
import Testing

/// `wiretape auto`: what is there is replayed, what is not there is recorded, and a recording judges nothing.
@Suite(.waitsForPrograms) struct AutoCommandTests {
    private let scratch: Scratch
    private let tape: String
    private let client = [Binary.folder.appendingPathComponent("sample-client").path, "--say", "one", "--say", "two"]

    init() throws {
        scratch = try Scratch()
        tape = scratch.path("chat.tape.gz")
    }

    private func hub() throws -> Running { try Running("sample-hub", ["--listen", "127.0.0.1:0"], in: scratch.url) }

    /// - Parameter machine: what CI says.
    private func auto(
        _ options: [String], ci machine: String = "", _ command: [String]? = nil
    ) throws -> Binary.Run {
        let words = ["auto", tape] + options + ["--"] + (command ?? client)
        return try Binary.run(
            URL(fileURLWithPath: "/usr/bin/env"),
            ["-u", "WIRETAPE_RECORD_MODE", "CI=\(machine)", Binary.wiretape.path] + words)
    }

    private var bytes: Data? { FileManager.default.contents(atPath: tape) }
    private var names: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: scratch.url.path).filter { $0.contains("tape") }
        }
    }

    @Test func theFirstRunRecordsAndTheNextOnesReplay() throws {
        let server = try hub()
        let first = try auto(["--upstream", server.url])
        #expect(first.code == 0, "\(first.err)")
        #expect(first.verdict.hasPrefix("wiretape: done (exit 0): "), "\(first.verdict)")
        #expect(first.verdict.hasSuffix("nothing was judged: run again"), "\(first.verdict)")
        let recorded = try #require(bytes)
        _ = try server.stop()
        // The server is gone: what answers now is the tape, on a build machine, too.
        for machine in ["", "true"] {
            let next = try auto(["--upstream", server.url, "--speed", "instant"], ci: machine)
            #expect(next.code == 0, "\(next.err)")
            #expect(next.verdict.hasPrefix("wiretape: pass (exit 0): 1 of 1 sessions"), "\(next.verdict)")
        }
        #expect(bytes == recorded)
        #expect(try names == ["chat.tape.gz"])
    }

    @Test(arguments: ["1", "true"]) func aBuildMachineRecordsNothing(_ machine: String) throws {
        let server = try hub()
        let run = try auto(["--upstream", server.url], ci: machine)
        #expect(run.code == 6, "\(run.err)")
        #expect(
            run.verdict.hasSuffix("make it with: wiretape record --upstream \(server.url) --output \(tape)"),
            "\(run.verdict)")
        #expect(run.verdict.contains("record mode none, since CI is set"), "\(run.verdict)")
        #expect(try names.isEmpty)
        // Unless it is told to.
        let told = try auto(["--upstream", server.url, "--record-mode", "once"], ci: machine)
        #expect(told.code == 0, "\(told.err)")
        #expect(try names == ["chat.tape.gz"])
    }

    @Test func noneSaysWhereItComesFrom() throws {
        let run = try auto(["--record-mode", "none"])
        #expect(run.code == 6, "\(run.err)")
        #expect(run.verdict.contains("(record mode none, by --record-mode)"), "\(run.verdict)")
        #expect(run.verdict.hasSuffix("wiretape record --upstream URL --output \(tape)"), "\(run.verdict)")
    }

    @Test func aRecordingIsHeldToNothing() throws {
        let server = try hub()
        let folder = scratch.path("reports")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("an older pass".utf8).write(to: URL(fileURLWithPath: folder + "/report.xml"))
        let judged = ["--upstream", server.url, "--fault", "reset after ReceiveMessage[1]", "--expect", "delays(1h)"]
        let run = try auto(judged + ["--report", folder])
        #expect(run.code == 0, "\(run.err)")
        #expect(run.err.contains("--fault, --expect, --report: left out while a tape is recorded"), "\(run.err)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        // The same words with the tape: the rule fires, and no client waits for an hour.
        let replayed = try auto(judged + ["--report", folder])
        #expect(replayed.code == 5, "\(replayed.err)")
        #expect(FileManager.default.fileExists(atPath: folder + "/report.xml"))
    }

    @Test func aRecordingThatFailedKeepsTheTapeThatWasThere() throws {
        let server = try hub()
        #expect(try auto(["--upstream", server.url]).code == 0)
        let recorded = try #require(bytes)
        let failed = try auto(
            ["--upstream", server.url, "--record-mode", "all"], ["/bin/sh", "-c", "\(client[0]) --say x; exit 3"])
        #expect(failed.code == 3, "\(failed.err)")
        #expect(failed.verdict.hasSuffix("\(tape) stays as it was"), "\(failed.verdict)")
        #expect(bytes == recorded)
        let again = try auto(["--upstream", server.url, "--record-mode", "all"])
        #expect(again.code == 0, "\(again.err)")
        #expect(bytes != recorded)
        #expect(try names == ["chat.tape.gz"])
    }

    /// The first recording of a test that fails is kept, since there is no better one; of nothing there is none.
    @Test func aFirstRecordingThatFailed() throws {
        let server = try hub()
        let empty = try auto(["--upstream", server.url], ["/bin/false"])
        #expect(empty.code == 1, "\(empty.err)")
        #expect(empty.verdict.hasSuffix("there is no \(tape)"), "\(empty.verdict)")
        #expect(try names.isEmpty)
        let failed = try auto(["--upstream", server.url], ["/bin/sh", "-c", "\(client[0]) --say x; exit 3"])
        #expect(failed.code == 3, "\(failed.err)")
        #expect(failed.verdict.contains("may not be whole: look with 'wiretape inspect \(tape)'"), "\(failed.verdict)")
        #expect(try names == ["chat.tape.gz"])
    }

    /// A wrong option of either half is found in every run.
    @Test(arguments: [
        (["--upstream", "nowhere:x"], "upstream"), (["--on-overload", "pray"], "on-overload"),
        (["--patience", "soon"], "patience"), (["--record-mode", "sometimes"], "record-mode"),
        ([], "--upstream is needed"),
    ])
    func whatIsRefused(_ options: [String], _ part: String) throws {
        let run = try auto(options)
        #expect(run.code == 64, "\(run.err)")
        #expect(run.err.contains(part), "\(run.err)")
        #expect(try names.isEmpty)
    }
}
