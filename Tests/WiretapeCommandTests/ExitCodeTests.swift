import Foundation
import Testing
internal import WiretapeCommandLine
import WiretapeCommands
import WiretapeWire

/// Every exit code of every command that has it, held to `ExitCode`: the code, the word and a piece of the reason in the
/// last line, and for `replay` the report.
@Suite(.waitsForPrograms) struct ExitCodeTests {
    let scratch: Scratch
    private let client = "'\(Binary.folder.appendingPathComponent("sample-client").path)'"

    init() throws {
        scratch = try Scratch()
        try FileManager.default.copyItem(atPath: TapeFiles.recording("chat"), toPath: scratch.path("chat.tape.gz"))
        try FileManager.default.copyItem(
            atPath: TapeFiles.recording("everything"), toPath: scratch.path("other.tape.gz"))
        try "no tape\n".write(toFile: scratch.path("bad.tape"), atomically: true, encoding: .utf8)
        try "{\"tape\":9}\n".write(toFile: scratch.path("newer.tape"), atomically: true, encoding: .utf8)
        try "{\"tape\":1}\n".write(toFile: scratch.path("empty.tape"), atomically: true, encoding: .utf8)
        try "rules: 7\n".write(toFile: scratch.path("plan.yaml"), atomically: true, encoding: .utf8)
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let words: String
        /// Behind `--`, for a shell; CLIENT says ada's lines, OTHER says something else.
        var shell: String?
        let code: Int32
        let word: String
        let reason: String
        /// What `reasons` of the report begins with; nil: there is no report.
        var reasons: [String]?
        var signal: Int32?

        var testDescription: String { "\(words) \(shell ?? "") → \(code)" }
    }

    private static let alone = "--allow-unplayed"
    private static let never = "--fault 'reset after SendMessage[99]'"
    private static let fired = "wiretape: rule 'reset after SendMessage[99]' (--fault) never fired: "
    private static let hopeless = "--fault 'reset after ReceiveMessage[99]'"
    private static let refused = "wiretape: rule 'reset after ReceiveMessage[99]' (--fault) cannot fire: "
    private static let other = "wiretape: diverged at client message 2 of session 1 (chat.tape.gz:"
    private static let delays = "--expect 'delays(1s)'"

    static let replays: [Row] = [
        Row(words: "chat.tape.gz", shell: "CLIENT", code: 0, word: "pass", reason: "1 of 1 sessions", reasons: []),
        Row(words: "absent.tape", code: 6, word: "failed", reason: "absent.tape", reasons: ["absent.tape"]),
        Row(
            words: "chat.tape.gz --listen 127.0.0.1:PORT", shell: "true", code: 1, word: "failed",
            reason: "address already in use", reasons: [""]),
        Row(
            words: "chat.tape.gz", shell: "CLIENT; exit 7", code: 7, word: "failed", reason: "ended with 7", reasons: []
        ),
        Row(
            words: "chat.tape.gz", shell: "CLIENT; kill -9 $$", code: 137, word: "failed",
            reason: "was ended by signal 9", reasons: []),
        Row(
            words: "chat.tape.gz", shell: "OTHER; true", code: 2, word: "diverged", reason: "diverged at",
            reasons: [other]),
        Row(
            words: "chat.tape.gz --on-divergence ignore", shell: "OTHER; true", code: 0, word: "pass", reason: "",
            reasons: []),
        Row(words: "bad.tape", code: 4, word: "failed", reason: "is not a tape", reasons: ["bad.tape"]),
        Row(words: "newer.tape", code: 4, word: "failed", reason: "version 9", reasons: ["newer.tape"]),
        Row(words: "bad.tape \(never)", code: 4, word: "failed", reason: "is not a tape", reasons: ["bad.tape"]),
        Row(
            words: "chat.tape.gz \(never)", shell: "CLIENT", code: 5, word: "failed", reason: "never fired",
            reasons: [fired]),
        Row(
            words: "chat.tape.gz \(hopeless)", shell: "CLIENT; exit 7", code: 5, word: "failed", reason: "cannot fire",
            reasons: [refused]),
        Row(
            words: "chat.tape.gz \(alone) \(hopeless)", code: 5, word: "failed", reason: "cannot fire",
            reasons: [refused]),
        Row(
            words: "chat.tape.gz \(delays)", shell: "CLIENT", code: 5, word: "failed", reason: "delays",
            reasons: [""]),
        Row(
            words: "chat.tape.gz \(never) \(delays)", shell: "OTHER; true", code: 2, word: "diverged",
            reason: "diverged at client message 2", reasons: [other, fired]),
        Row(words: "empty.tape", code: 6, word: "failed", reason: "no session", reasons: ["empty.tape has no session"]),
        Row(words: "empty.tape \(never)", code: 6, word: "failed", reason: "no session", reasons: ["empty.tape"]),
        Row(
            words: "chat.tape.gz --session bob", code: 6, word: "failed", reason: "bob", reasons: [""]),
        Row(words: "chat.tape.gz --sped 1", code: 64, word: "usage", reason: "did you mean '--speed'"),
        Row(words: "chat.tape.gz --faults plan.yaml", code: 64, word: "usage", reason: "plan.yaml"),
        Row(words: "", code: 64, word: "usage", reason: "FILE"),
        Row(
            words: "chat.tape.gz --timeout 50ms", shell: "sleep 9", code: 124, word: "timeout",
            reason: "--timeout 50ms is over", reasons: ["--timeout 50ms is over"]),
        Row(
            words: "chat.tape.gz \(alone) --timeout 50ms \(never)", code: 124, word: "timeout", reason: "is over; ",
            reasons: ["--timeout 50ms is over", fired]),
        Row(
            words: "chat.tape.gz", code: 2, word: "diverged", reason: "nobody came", reasons: ["nobody came"],
            signal: SIGINT),
        Row(
            words: "chat.tape.gz", code: 2, word: "diverged", reason: "nobody came", reasons: ["nobody came"],
            signal: SIGTERM),
        Row(words: "chat.tape.gz \(alone)", code: 0, word: "pass", reason: "0 of 0", reasons: [], signal: SIGINT),
        Row(
            words: "chat.tape.gz \(alone)", code: 143, word: "stopped", reason: "signal 15; ", reasons: [],
            signal: SIGTERM),
        Row(
            words: "chat.tape.gz \(alone) \(never)", code: 5, word: "failed", reason: "never fired", reasons: [fired],
            signal: SIGTERM),
        Row(
            words: "chat.tape.gz", shell: "true", code: 2, word: "diverged", reason: "nobody came",
            reasons: ["nobody came"]),
    ]

    @Test(arguments: replays) func replay(_ row: Row) throws {
        var words = row.words
        if words.contains("PORT") {
            let holder = try Running("sample-hub", ["--listen", "127.0.0.1:0"], in: scratch.url)
            words = words.replacing("PORT", with: "\(holder.url.split(separator: ":").last ?? "0")")
            try check(row, words)
            _ = try holder.stop()
        } else {
            try check(row, words)
        }
    }

    private func check(_ row: Row, _ words: String) throws {
        let speak = row.shell?.replacing(
            "CLIENT", with: "\(client) \\$WIRETAPE_URL/hub --say 'hello bob' --say 'fine, thanks' --say bye"
        )
        .replacing("OTHER", with: "\(client) \\$WIRETAPE_URL/hub --user bob --reconnect none")
        let command =
            "'\(Binary.wiretape.path)' replay \(words) --speed instant --report report.json"
            + (speak.map { " -- /bin/sh -c \"\($0.replacing("$$", with: "\\$\\$"))\"" } ?? "")
        let run =
            try row.signal.map { try interrupted(words, $0) }
            ?? shell("cd '\(scratch.url.path)' && exec \(command)")
        try check(run, row, "replay")
        guard let wanted = row.reasons else {
            return #expect(!FileManager.default.fileExists(atPath: scratch.path("report.json")))
        }
        let text = try String(contentsOfFile: scratch.path("report.json"), encoding: .utf8)
        let report = try JSONValue(parsing: text)
        let reasons = (report["reasons"]?.array ?? []).compactMap(\.string)
        #expect(reasons.count >= wanted.count && (wanted.isEmpty == reasons.isEmpty), "\(reasons)")
        // No reason is told twice.
        let told = run.verdict.dropFirst("wiretape: \(row.word) (exit \(row.code)): ".count).split(separator: "; ")
        #expect(Set(told).count == told.count, "\(run.verdict)")
        for (reason, beginning) in zip(reasons, wanted) {
            #expect(beginning.isEmpty || reason.contains(beginning), "\(reasons)")
        }
        let own = [0: "pass", 2: "diverged"][row.code] ?? (reasons.isEmpty ? "pass" : "failed")
        #expect(report["verdict"]?.string == own)
    }

    private func interrupted(_ words: String, _ signal: Int32) throws -> Binary.Run {
        let parts = words.split(separator: "'").enumerated().flatMap { n, part in
            n % 2 == 1 ? [String(part)] : part.split(separator: " ").map(String.init)
        }
        let server = try Running("wiretape", ["replay", "--json", "--report", "report.json"] + parts, in: scratch.url)
        let end = try server.stop(signal)
        return Binary.Run(code: end.code, out: "", err: end.err)
    }

    private func shell(_ text: String) throws -> Binary.Run {
        try Binary.run(URL(fileURLWithPath: "/bin/sh"), ["-c", text])
    }

    /// The last line says word, code and reason, and the command's help lists the code.
    private func check(_ run: Binary.Run, _ row: Row, _ command: String) throws {
        #expect(run.code == row.code, "\(run.err)")
        #expect(run.verdict.hasPrefix("wiretape: \(row.word) (exit \(row.code)): "), "\(run.verdict)")
        #expect(row.reason.isEmpty || run.verdict.contains(row.reason), "\(run.verdict)")
        let listed = try #require(Commands.specs.first { $0.name == command }).exitCodes.map(\.code)
        let isListed =
            [0, 64].contains(row.code) || listed.contains(row.code) || (row.code > 128 && listed.contains(128))
        #expect(isListed || row.shell?.contains("exit 7") == true)
    }

    static let others: [Row] = [
        Row(words: "diff chat.tape.gz chat.tape.gz", code: 0, word: "done", reason: "the same"),
        Row(words: "diff chat.tape.gz absent.tape", code: 1, word: "failed", reason: "absent.tape"),
        Row(words: "diff chat.tape.gz other.tape.gz", code: 2, word: "diverged", reason: "difference"),
        Row(words: "diff chat.tape.gz bad.tape", code: 4, word: "failed", reason: "bad.tape"),
        Row(words: "diff chat.tape.gz", code: 64, word: "usage", reason: ""),
        Row(words: "inspect chat.tape.gz", code: 0, word: "done", reason: "29 events"),
        Row(words: "inspect absent.tape", code: 1, word: "failed", reason: "absent.tape"),
        Row(words: "inspect bad.tape", code: 4, word: "failed", reason: "is not a tape"),
        Row(words: "inspect chat.tape.gz --filter 'x('", code: 64, word: "usage", reason: "--filter"),
        Row(words: "repair chat.tape.gz", code: 0, word: "done", reason: "nothing to repair"),
        Row(words: "repair absent.tape", code: 1, word: "failed", reason: "absent.tape"),
        Row(words: "repair bad.tape", code: 4, word: "failed", reason: "no line of a tape"),
        Row(words: "repair", code: 64, word: "usage", reason: "FILE"),
        Row(words: "validate chat.tape.gz", code: 0, word: "done", reason: "1 tape"),
        Row(words: "validate absent.tape", code: 1, word: "failed", reason: "absent.tape"),
        Row(words: "validate chat.tape.gz bad.tape", code: 4, word: "failed", reason: ""),
        Row(words: "validate", code: 64, word: "usage", reason: "FILE"),
        Row(words: "canon --check chat.tape.gz", code: 2, word: "diverged", reason: ""),
    ]

    @Test(arguments: others) func tools(_ row: Row) throws {
        let run = try shell("cd '\(scratch.url.path)' && exec '\(Binary.wiretape.path)' \(row.words)")
        try check(run, row, String(row.words.split(separator: " ")[0]))
    }
}
