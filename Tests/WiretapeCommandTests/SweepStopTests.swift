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

    private func start(_ words: [String], err: String) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: words[0])
        process.arguments = Array(words.dropFirst())
        try Data().write(to: URL(fileURLWithPath: err))
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: err))
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        return process
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
        let process = try start(words, err: scratch.path("err"))
        while process.isRunning, !FileManager.default.fileExists(atPath: started) { usleep(10_000) }
        kill(process.processIdentifier, SIGALRM)
        process.waitUntilExit()
        let err = try String(contentsOfFile: scratch.path("err"), encoding: .utf8)
        #expect(process.terminationStatus == 124, "\(err)")
        let last = err.split(separator: "\n").last.map(String.init) ?? ""
        #expect(last.contains("0 of ") && last.hasSuffix(" not run"), "\(err)")
        #expect(!err.contains("came twice") && !err.contains("broken by"), "\(err)")
        let found = try report(scratch)
        #expect(found["broken"] as? Int == 0 && found["not_run"] as? Int == found["chosen"] as? Int)
    }

    /// A sweep whose second run has stopped itself (SIGSTOP), so that no grace runs out and the sweep waits for it.
    private func sweepThatWaits(_ scratch: Scratch) throws -> (sweep: Process, run: pid_t, client: pid_t) {
        let script = """
            if [ ! -e '\(scratch.path("passed"))' ]; then : > '\(scratch.path("passed"))'; exec \(Self.chat); fi
            echo $PPID $$ > '\(scratch.path("pid.new"))'; kill -STOP $PPID
            mv '\(scratch.path("pid.new"))' '\(scratch.path("pid"))'; exec sleep 60
            """
        let words = sweep(scratch, ["--jobs", "1", "--timeout", "120s"], script)
        let process = try start(words, err: scratch.path("err"))
        while process.isRunning, !FileManager.default.fileExists(atPath: scratch.path("pid")) { usleep(10_000) }
        let pids = try String(contentsOfFile: scratch.path("pid"), encoding: .utf8).split { $0 == " " || $0 == "\n" }
        return (process, try #require(pid_t(pids[0])), try #require(pid_t(pids[1])))
    }

    /// Signals that it finds waiting together are one request: it was stopped when they came.
    @Test func severalAtOnceAreOneRequest() throws {
        let scratch = try Scratch()
        let (sweep, run, _) = try sweepThatWaits(scratch)
        kill(sweep.processIdentifier, SIGSTOP)
        while try !ProcessStatus(sweep.processIdentifier).isStopped { usleep(1_000) }
        for signal in [SIGTERM, SIGINT, SIGTERM] { kill(sweep.processIdentifier, signal) }
        kill(sweep.processIdentifier, SIGCONT)
        kill(run, SIGCONT)
        sweep.waitUntilExit()
        let err = try String(contentsOfFile: scratch.path("err"), encoding: .utf8)
        #expect([128 + SIGINT, 128 + SIGTERM].contains(sweep.terminationStatus), "\(err)")
        #expect(err.hasSuffix(" not run\n") && !err.contains("came twice"), "\(err)")
        #expect(try report(scratch)["broken"] as? Int == 0)
    }

    /// Asked once more, more than a second after it took the first request, it does not wait for its runs.
    @Test func askedOnceMoreItEndsAtOnce() throws {
        let scratch = try Scratch()
        let (sweep, run, client) = try sweepThatWaits(scratch)
        defer { for left in [run, client] { kill(left, SIGKILL) } }
        kill(sweep.processIdentifier, SIGTERM)
        // It has taken the first one when its run, which is stopped, has a SIGTERM waiting.
        while try !ProcessStatus(run).waits(for: SIGTERM) { usleep(1_000) }
        usleep(1_100_000)
        kill(sweep.processIdentifier, SIGTERM)
        sweep.waitUntilExit()
        let err = try String(contentsOfFile: scratch.path("err"), encoding: .utf8)
        #expect(sweep.terminationStatus == 128 + SIGTERM && err.contains("signal 15 came twice"), "\(err)")
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
