import Foundation
import Testing

/// A sweep that is stopped, and one whose client the replay itself refuses.
@Suite(.waitsForPrograms) struct SweepStopTests {
    private static let tape = Binary.root.appendingPathComponent("recordings/chat.tape.gz").path
    private static let chat =
        "'\(Binary.folder.appendingPathComponent("sample-client").path)' \"$1/hub\" --user ada --say 'hello bob' "
        + "--say 'fine, thanks' --say bye --until 7 --reconnect 0s,0s,0s,0s"

    private func sweep(
        _ scratch: Scratch, _ options: [String], _ script: String, under wrapper: [String] = []
    ) -> [String] {
        wrapper + [Binary.wiretape.path, "sweep", Self.tape, "--speed", "instant", "--faults", "reset"]
            + ["--output", scratch.path("out"), "--report", scratch.path("report.json")] + options
            + ["--", "/bin/sh", "-c", script, "client", "{url}"]
    }

    private func report(_ scratch: Scratch) throws -> [String: Any] {
        let data = try Data(contentsOf: URL(fileURLWithPath: scratch.path("report.json")))
        return try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
    }

    private func run(_ words: [String]) throws -> Binary.Run {
        try Binary.run(URL(fileURLWithPath: words[0]), Array(words.dropFirst()))
    }

    /// `timeout` tells the sweep and then its whole group: it stops once, with its summary and its report. The time is
    /// up (SIGALRM) as soon as the first combination runs.
    @Test(arguments: ["INT", "TERM"]) func underTimeout(_ signal: String) throws {
        let scratch = try Scratch()
        let started = scratch.path("started")
        let script = """
            if [ -e '\(scratch.path("passed"))' ]; then trap '' INT TERM; : > '\(started)'; exec sleep 60; fi
            : > '\(scratch.path("passed"))'; exec \(Self.chat)
            """
        let words = sweep(
            scratch, ["--jobs", "2", "--timeout", "120s"], script,
            under: ["/usr/bin/timeout", "-s", signal, "300"])
        let process = Process()
        process.executableURL = URL(fileURLWithPath: words[0])
        process.arguments = Array(words.dropFirst())
        let errFile = scratch.path("err")
        try Data().write(to: URL(fileURLWithPath: errFile))
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: errFile))
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        while process.isRunning, !FileManager.default.fileExists(atPath: started) { usleep(10_000) }
        kill(process.processIdentifier, SIGALRM)
        // Both of its signals may reach the sweep as one; the clients hold it until they are killed, so that this is another.
        usleep(20_000)
        kill(-process.processIdentifier, signal == "INT" ? SIGINT : SIGTERM)
        process.waitUntilExit()
        let err = try String(contentsOfFile: errFile, encoding: .utf8)
        #expect(process.terminationStatus == 124, "\(err)")
        let last = err.split(separator: "\n").last.map(String.init) ?? ""
        #expect(last.contains("0 of ") && last.hasSuffix(" not run"), "\(err)")
        #expect(!err.contains("came twice") && !err.contains("broken by"), "\(err)")
        let found = try report(scratch)
        #expect(found["broken"] as? Int == 0 && found["not_run"] as? Int == found["chosen"] as? Int)
    }

    /// A client that asks for a session that the tape does not have, once it was cut, and fails since it gets none.
    @Test func ourOwnRefusalIsNoFailureOfTheClient() throws {
        let scratch = try Scratch()
        let script = """
            out=$(\(Self.chat)) || exit $?
            case "$out" in *reconnected*) exec \(Self.chat) ;; esac
            """
        let run = try run(sweep(scratch, ["--jobs", "2"], script))
        let found = try report(scratch)
        let unjudged = found["unjudged"] as? [[String: Any]] ?? []
        #expect(found["broken"] as? Int == 0 && unjudged.count > 3, "\(run.err)")
        let reason = unjudged.first?["reason"] as? String ?? ""
        #expect(
            reason.hasPrefix("could not be judged: no session left on chat.tape.gz for POST /hub/negotiate"),
            "\(reason)")
        #expect(run.verdict.contains("\(unjudged.count) could not be judged"), "\(run.err)")
        #expect(!run.err.contains("broken by"), "\(run.err)")
        let survived = found["survived"] as? Int ?? 0
        #expect(run.code == (survived > 0 ? 0 : 5), "\(run.err)")
    }

    /// The same client is blamed where it diverged by itself first.
    @Test func aDivergenceOfItsOwnIs() throws {
        let scratch = try Scratch()
        let wrong = Self.chat.replacingOccurrences(of: "hello bob", with: "hello eve")
        let script = """
            if [ ! -e '\(scratch.path("passed"))' ]; then : > '\(scratch.path("passed"))'; exec \(Self.chat); fi
            \(wrong); \(Self.chat)
            """
        let run = try run(sweep(scratch, ["--jobs", "1"], script))
        let found = try report(scratch)
        let kinds = (found["failures"] as? [[String: Any]] ?? []).compactMap { $0["outcome"] as? String }
        #expect(run.code == 5 && (found["broken"] as? Int ?? 0) > 3 && !kinds.isEmpty, "\(run.err)")
        #expect((found["unjudged"] as? [[String: Any]])?.isEmpty == true, "\(run.err)")
    }
}
