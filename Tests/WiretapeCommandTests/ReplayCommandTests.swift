import Foundation
import Testing
import WiretapeRecorder
import WiretapeWire

/// `replay` as a process, with the sample client, from a tape that `record` has just made of the sample hub.
@Suite(.waitsForPrograms) struct ReplayCommandTests {
    let scratch: Scratch
    let client = Binary.folder.appendingPathComponent("sample-client").path

    init() throws {
        scratch = try Scratch()
        try Running.recordChat(to: scratch.path("chat.tape.gz"), in: scratch.url)
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
        let run = try replay(["--fault", "reset after SendMessage[4]"])
        #expect(run.code == 5)
        #expect(run.out.contains("ReceiveMessage    ada: three"))
        #expect(run.verdict.contains("never fired: 'SendMessage' is on the tape 3 times, and number 4 was asked for"))
    }

    @Test func aRuleThatCannotFireIsRefused() throws {
        let run = try replay(["--fault", "reset after RecieveMessage[3]"])
        #expect(run.code == 5)
        #expect(run.out.isEmpty, "nobody was answered")
        #expect(run.verdict.contains("'RecieveMessage' is not on chat.tape.gz; nearest is 'ReceiveMessage'"))
    }

    @Test func aFolderGetsReportAndTape() throws {
        let run = try replay(["--report", scratch.path("out"), "--speed", "instant"])
        #expect(run.code == 0, "\(run.err)")
        #expect(FileManager.default.fileExists(atPath: scratch.path("out/report.json")))
        #expect(FileManager.default.fileExists(atPath: scratch.path("out/report.txt")))
        let page = try String(contentsOfFile: scratch.path("out/report.html"), encoding: .utf8)
        #expect(page.contains("session 1") && page.contains("--speed instant --seed"), "\(page)")
        let again = try Binary.run(
            "replay", scratch.path("out/actual.tape"), "--speed", "instant", "--", client, "--say", "one", "--say",
            "two",
            "--say", "three")
        #expect(again.code == 0, "\(again.err)")
    }

    /// The command that stands in the report does the same again.
    @Test func anHTMLReportSaysHowToRunItAgain() throws {
        let rule = "delay(1ms) on ReceiveMessage[2]"
        let run = try replay(["--report", scratch.path("out.html"), "--speed", "instant", "--fault", rule, "--quiet"])
        let page = try String(contentsOfFile: scratch.path("out.html"), encoding: .utf8)
        #expect(page.contains("<p class=\"word\">"), "\(run.err)")
        let start = try #require(page.firstRange(of: "<pre class=\"command\">")?.upperBound)
        let command = String(page[start...].prefix { $0 != "<" })
        #expect(
            command.hasPrefix("wiretape replay chat.tape.gz") || command.hasPrefix("wiretape replay /"), "\(command)")
        #expect(command.contains("--fault '\(rule)' --speed instant --seed "), "\(command)")
        #expect(command.contains(" -- ") && !command.contains("--report") && !command.contains("--quiet"), "\(command)")
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
        ("--idle-cap", "x", "is no duration"), ("--threads", "2", "--threads is not built yet"),
        ("--fault", "rest after X", "--fault: 1:1: 'rest' is not a fault; did you mean 'reset'?"),
        ("--expect", "delay(1s)", "--expect: "), ("--ignore", "x", "--ignore: 'x' is not an ignore rule"),
        ("--report", "x.pdf", "'.pdf' is no kind of report"), ("--faults", "/nonexistent.yaml", "cannot be read"),
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

    /// Two named sessions and an ordinary request, written by hand.
    private func named() throws -> String {
        let path = scratch.path("two.tape")
        try """
        {"tape":1,"started":"2026-11-20T17:28:00Z"}
        {"t":0,"c":1,"e":"open","session":"alice"}
        {"t":1,"c":1,"e":"request","x":1,"method":"GET","target":"/ws?room=1","headers":[["Upgrade","websocket"],["Connection","Upgrade"]]}
        {"t":2,"c":1,"e":"response","x":1,"status":101,"headers":[["Upgrade","websocket"],["Connection","Upgrade"]]}
        {"t":3,"c":1,"e":"message","d":">","op":"text","text":"alice"}
        {"t":4,"c":2,"e":"open","session":"bob"}
        {"t":5,"c":2,"e":"request","x":1,"method":"GET","target":"/ws?room=1","headers":[["Upgrade","websocket"],["Connection","Upgrade"]]}
        {"t":6,"c":2,"e":"response","x":1,"status":101,"headers":[["Upgrade","websocket"],["Connection","Upgrade"]]}
        {"t":7,"c":2,"e":"message","d":">","op":"text","text":"bob"}
        {"t":8,"c":3,"e":"open"}
        {"t":9,"c":3,"e":"request","x":1,"method":"POST","target":"/api/orders","headers":[["Content-Type","application/json"]],"text":"{\\"item\\":1}"}
        {"t":10,"c":3,"e":"response","x":1,"status":201,"headers":[["Content-Type","application/json"]],"text":"{\\"id\\":7}"}

        """.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private func fetch(_ url: String, _ arguments: String...) throws -> String {
        let curl = URL(fileURLWithPath: "/usr/bin/curl")
        return try Binary.run(curl, ["-s", "-w", " %{http_code}", "-m", "5", url] + arguments).out
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")))
    func namedListenersAndPlainRequests() throws {
        let tape = try named()
        let server = try Running(
            "wiretape",
            [
                "replay", tape, "--session", "bob,alice", "--json", "--on-divergence", "warn", "--report",
                scratch.path("report.json"),
            ], in: scratch.url)
        let json = ["-H", "Content-Type: application/json", "-d"]
        #expect(
            try fetch(server.url + "/api/orders", json[0], json[1], json[2], #"{ "item": 1.0 }"#) == #"{"id":7} 201"#)
        let other = try fetch(server.url + "/api/orders", json[0], json[1], json[2], #"{"item":2}"#)
        #expect(other.hasSuffix(" 409"), "\(other)")
        let missing = try fetch(server.url + "/nowhere")
        #expect(missing.contains("GET /ws (2 sessions), POST /api/orders"), "\(missing)")
        #expect(try server.stop().code == 2)
        let report = try report()
        #expect(report.value(at: "/exchanges/played")?.int == 1)
        #expect(report.value(at: "/exchanges/unexpected/0")?.string == "POST /api/orders")
        #expect(report["unclaimed"]?.array?.compactMap(\.int) == [1, 2])
    }

    @Test func namesThatTheTapeDoesNotHaveAreMissing() throws {
        let run = try Binary.run("replay", try named(), "--session", "alise")
        #expect(run.code == 6)
        #expect(run.verdict.contains("it has alice, bob; did you mean 'alice'?"), "\(run.verdict)")
        let unnamed = try replay(["--session", "alice"])
        #expect(unnamed.code == 6)
        #expect(unnamed.verdict.contains("wiretape name chat.tape.gz alice=1"), "\(unnamed.verdict)")
    }

    @Test func aTapeWithoutSessionsIsAMissingRecording() throws {
        try "{\"tape\":1}\n".write(toFile: scratch.path("x.tape"), atomically: true, encoding: .utf8)
        let run = try Binary.run("replay", scratch.path("x.tape"))
        #expect(run.code == 6)
        #expect(run.verdict == "wiretape: failed (exit 6): x.tape has no session that could be played")
    }
}
