import Foundation
import Testing
import WiretapeCore
import WiretapeTape

/// `replay` as a process, with the sample client, from a tape that `record` has just made of the sample hub.
@Suite struct ReplayCommandTests {
    let scratch: Scratch
    let client = Binary.folder.appendingPathComponent("sample-client").path

    init() throws {
        scratch = try Scratch()
        let hub = try Running("sample-hub", ["--listen", "127.0.0.1:0"], in: scratch.url)
        let run = try Binary.run(
            "record", "--upstream", hub.url, "--output", scratch.path("chat.tape.gz"), "--", client, "--say", "one",
            "--say",
            "two", "--say", "three")
        #expect(run.code == 0, "\(run.err)")
        _ = try hub.stop()
    }

    func replay(_ options: [String], client words: [String] = ["--say", "one", "--say", "two", "--say", "three"]) throws
        -> Binary.Run
    {
        try Binary.run(
            Binary.wiretape, ["replay", scratch.path("chat.tape.gz")] + options + ["--", client] + words)
    }

    func report() throws -> JSONValue {
        try JSONValue(parsing: String(contentsOfFile: scratch.path("report.json"), encoding: .utf8))
    }

    @Test func theClientGetsWhatWasRecorded() throws {
        let run = try replay(["--speed", "instant"])
        #expect(run.code == 0, "\(run.err)")
        for line in ["one", "two", "three"] { #expect(run.out.contains("ReceiveMessage    ada: \(line)")) }
        #expect(run.verdict == "wiretape: pass (exit 0): 1 of 1 sessions played to the end, 5 client messages matched")
    }

    @Test func faultsAreFiredAndRetriesJudged() throws {
        let run = try replay([
            "--speed", "instant", "--fault", "reset after ReceiveMessage[2]", "--fault",
            "respond(503) on connect[retry=1]",
            "--expect", "delays(0s, 2s)", "--seed", "42", "--report", scratch.path("report.json"),
        ])
        #expect(run.code == 0, "\(run.err)")
        let report = try report()
        #expect(report["verdict"]?.string == "pass")
        #expect(report["seed"]?.int == 42)
        let attempts = report.value(at: "/sessions/0/attempts")?.array ?? []
        #expect(attempts.map { $0["outcome"]?.string } == ["connected", "status", "connected"])
        #expect(report["faults"]?.array?.count == 2)
    }

    @Test func aPlanInYAMLDoesTheSame() throws {
        let plan = "seed: 7\nrules:\n  - reset after ReceiveMessage[2]\n"
        try plan.write(toFile: scratch.path("plan.yaml"), atomically: true, encoding: .utf8)
        let run = try replay(["--faults", scratch.path("plan.yaml"), "--report", scratch.path("report.json")])
        #expect(run.code == 0, "\(run.err)")
        #expect(try report()["seed"]?.int == 7)
        #expect(try report().value(at: "/faults/0/action")?.string == "reset")
    }

    @Test func aDivergenceIsShownSideBySide() throws {
        let run = try replay([], client: ["--user", "bob", "--reconnect", "none"])
        #expect(run.code == 1)
        #expect(run.err.contains("    recorded  Invocation SendMessage(\"ada\", \"one\")"))
        #expect(run.err.contains("    received  Invocation SendMessage(\"bob\", \"hello\")"))
    }

    @Test func theVerdictOfADivergenceIsTwo() throws {
        // The command ends well; what speaks is our own verdict.
        let script = "'\(client)' --user bob --reconnect none; exit 0"
        let run = try Binary.run(
            "replay", scratch.path("chat.tape.gz"), "--quiet", "--json", "--", "/bin/sh", "-c", script)
        #expect(run.code == 2)
        #expect(run.verdict.hasPrefix("wiretape: diverged (exit 2): diverged at client message 2 of session 1"))
        #expect(run.err.split(separator: "\n").count == 1)
        #expect(run.out.contains(#""event":"end","verdict":"diverged","exit":2"#))
    }

    @Test func aRuleThatNeverFiresFailsTheRun() throws {
        let run = try replay(["--fault", "reset after RecieveMessage[3]"])
        #expect(run.code == 5)
        #expect(run.err.contains("--fault: 1:13: 'RecieveMessage' never occurs on chat.tape.gz; did you mean"))
        #expect(run.verdict.contains("nearest 'ReceiveMessage' (3 times)"))
    }

    @Test func aFolderGetsReportAndTape() throws {
        let run = try replay(["--report", scratch.path("out"), "--speed", "instant"])
        #expect(run.code == 0, "\(run.err)")
        #expect(FileManager.default.fileExists(atPath: scratch.path("out/report.json")))
        #expect(FileManager.default.fileExists(atPath: scratch.path("out/report.txt")))
        let again = try Binary.run(
            "replay", scratch.path("out/actual.tape"), "--speed", "instant", "--", client, "--say", "one", "--say",
            "two",
            "--say", "three")
        #expect(again.code == 0, "\(again.err)")
    }

    @Test func untilFinishedEndsByItself() throws {
        let server = try Running(
            "wiretape", ["replay", scratch.path("chat.tape.gz"), "--until", "finished", "--json"], in: scratch.url)
        let run = try Binary.run(
            URL(fileURLWithPath: client), [server.url + "/chat", "--say", "one", "--say", "two", "--say", "three"])
        #expect(run.code == 0, "\(run.err)")
        server.process.waitUntilExit()
        #expect(server.process.terminationStatus == 0)
    }

    @Test(arguments: [
        ("--speed", "fast", "--speed: 'fast' is not a speed"),
        ("--speed", "step", "--speed step needs somebody who steps"),
        ("--match", "strikt", "'strikt' is not a value of --match; did you mean 'strict'?"),
        ("--on-divergence", "warm", "did you mean 'warn'?"), ("--on-reconnect", "lose", "write lose:1"),
        ("--on-reconnect", "rewind:0", "write rewind:1"), ("--on-reconnect", "x", "refuse, lose:N, rewind:N"),
        ("--on-miss", "99", "use 200 to 599"), ("--on-miss", "passthrough", "needs --upstream URL"),
        ("--upstream", "http://127.0.0.1:1", "--upstream is for --on-miss passthrough"),
        ("--transports", "ws,ssee", "did you mean 'sse'?"), ("--session", "a,,b", "has an empty name"),
        ("--session", "a,a", "names 'a' twice"), ("--clients", "0", "'0' is no whole number (1 to 100000)"),
        ("--time-scale", "-1", "is no scale"), ("--causality", "tap", "did you mean 'tape'?"),
        ("--causality", "tape", "needs a name for every session, and session 1 of chat.tape.gz has none"),
        ("--idle-cap", "x", "is no duration"), ("--threads", "2", "--threads is not built yet"),
        ("--fault", "rest after X", "--fault: 1:1: 'rest' is not a fault; did you mean 'reset'?"),
        ("--expect", "delay(1s)", "--expect: "), ("--ignore", "x", "--ignore: 'x' is not an ignore rule"),
        ("--report", "x.html", ".html reports are not built yet"), ("--faults", "/nonexistent.yaml", "cannot be read"),
    ])
    func mistakesAreUsageErrors(_ option: String, _ value: String, _ text: String) throws {
        let run = try replay([option, value])
        #expect(run.code == 64)
        #expect(run.verdict.contains(text), "\(run.verdict)")
    }

    @Test(arguments: [("", "is empty"), ("no tape\n", "is not a tape"), ("{\"tape\":9}\n", "version 9")])
    func whatIsNoTapeIsABadFile(_ content: String, _ text: String) throws {
        try content.write(toFile: scratch.path("x.tape"), atomically: true, encoding: .utf8)
        let run = try Binary.run("replay", scratch.path("x.tape"))
        #expect(run.code == 4)
        #expect(run.verdict.contains(text))
    }

    @Test func aTapeWithoutSessionsIsAMissingRecording() throws {
        try "{\"tape\":1}\n".write(toFile: scratch.path("x.tape"), atomically: true, encoding: .utf8)
        let run = try Binary.run("replay", scratch.path("x.tape"))
        #expect(run.code == 6)
        #expect(run.verdict == "wiretape: failed (exit 6): x.tape has no session that could be played")
    }
}
