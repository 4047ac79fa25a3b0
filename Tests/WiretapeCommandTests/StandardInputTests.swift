import Foundation
import Testing

/// `-` where a file goes: standard input and output.
@Suite(.waitsForPrograms) struct StandardInputTests {
    private let scratch: Scratch
    private let client = Binary.folder.appendingPathComponent("sample-client").path
    private let tape = """
        {"tape":1,"protocol":"signalr","route":"/chat"}
        {"d":">","json":{"type":1,"invocationId":"1","target":"SendMessage","arguments":["ada","hello"]}}
        {"d":"<","json":{"type":1,"target":"ReceiveMessage","arguments":["ada","hello"]}}
        {"d":"<","json":{"type":3,"invocationId":"1","result":null}}

        """

    init() throws { scratch = try Scratch() }

    @Test func aTapeFromStandardInputIsReplayed() throws {
        let run = try Binary.run("replay", "-", "--speed", "instant", "--", client, "--say", "hello", input: tape)
        #expect(run.code == 0, "\(run.err)")
        let other = try Binary.run("replay", "-", "--speed", "instant", "--", client, "--say", "bye", input: tape)
        #expect(
            other.code == 1 && other.err.contains("wiretape: diverged at client message 2 of session 1 (-:2)"),
            "\(other.err)")
        #expect(!other.err.contains("/proc/"), "\(other.err)")
    }

    @Test func whatNoTapeIsSaysSo() throws {
        for command in [["replay"], ["canon"], ["scan"], ["validate"]] {
            let run = try Binary.run(Binary.wiretape, command + ["-"], input: "nonsense\n")
            #expect(run.code == 4, "\(command): \(run.err)")
            let said = run.out + run.err
            #expect(!said.contains("/proc/") && said.contains("-: "), "\(said)")
        }
    }

    @Test func tapesPassThroughPipes() throws {
        let edited = try Binary.run(
            "edit", "-", "--where", "ReceiveMessage[1]", "--set", #"/arguments/1="bye""#, input: tape)
        #expect(edited.code == 0, "\(edited.err)")
        #expect(edited.out.contains(#""target":"ReceiveMessage","arguments":["ada","bye"]"#), "\(edited.out)")
        let recorded = scratch.path("chat.tape.gz")
        try Running.recordChat(to: recorded, in: scratch.url)
        let plain = try Binary.run("canon", recorded, "--output", "-")
        #expect(plain.code == 0 && plain.out.hasPrefix(#"{"tape":1"#), "\(plain.err)")
        for command in [
            ["canon", "-"], ["name", "-", "alice=1"], ["cut", "-", "--session", "1"], ["warp", "-", "--scale", "2"],
            ["redact", "-"],
            ["merge", "-", recorded, "--output", "-"],
        ] {
            let run = try Binary.run(Binary.wiretape, command, input: plain.out)
            #expect(run.code == 0, "\(command): \(run.err)")
            let checked = try Binary.run("validate", "-", input: run.out)
            #expect(checked.code == 0, "\(command): \(checked.err)")
        }
        #expect(try Binary.run("diff", "-", recorded, input: plain.out).code == 0)
        #expect(try Binary.run("scan", "-", input: plain.out).code == 0)
        let saved = try Binary.run("repair", "-", "--output", scratch.path("saved.tape"), input: plain.out)
        #expect(saved.code == 0, "\(saved.err)")
        #expect(try Binary.run("diff", scratch.path("saved.tape"), recorded).code == 0)
    }

    @Test func aRecordingGoesToStandardOutput() throws {
        let hub = try Running("sample-hub", ["--listen", "127.0.0.1:0"], in: scratch.url)
        let port = try ReadmeTests.freePort()
        let script =
            "'\(Binary.wiretape.path)' record --upstream \(hub.url) --listen 127.0.0.1:\(port) --output - > out.tape & "
            + "for i in $(seq 200); do (: < /dev/tcp/127.0.0.1/\(port)) 2>/dev/null && break; sleep 0.05; done; "
            + "'\(client)' http://127.0.0.1:\(port)/chat --say hello && kill -INT $! && wait $!"
        let run = try Binary.run(
            URL(fileURLWithPath: "/bin/bash"), ["-c", "set -m; cd '\(scratch.url.path)'; " + script])
        #expect(run.code == 0, "\(run.err)")
        let replayed = try Binary.run(
            "replay", scratch.path("out.tape"), "--speed", "instant", "--", client, "--say", "hello")
        #expect(replayed.code == 0, "\(replayed.err)")
    }

    @Test func plansAndSettingsComeFromStandardInput() throws {
        let file = scratch.path("chat.tape")
        try Data(tape.utf8).write(to: URL(fileURLWithPath: file))
        let plan = "rules: [{ name: cut, fault: 'reset after ReceiveMessage[1]' }]\n"
        let run = try Binary.run(
            "replay", file, "--faults", "-", "--expect", "delays(0s)", "--", client, "--say", "hello", input: plan)
        #expect(run.code == 0 && run.err.contains("fault 'cut' fired"), "\(run.err)")
        let settings = "defaults: { replay: { fault: 'reset after ReceiveMessage[1]', speed: instant } }\n"
        let set = try Binary.run("replay", file, "--config", "-", "--", client, "--say", "hello", input: settings)
        #expect(set.code == 0 && set.err.contains("fault 'reset after ReceiveMessage[1]' fired"), "\(set.err)")
    }

    @Test(arguments: [
        (["replay", "-", "--faults", "-"], "has standard input already"),
        (["merge", "-", "-", "-o", "x"], "standard input is one tape"),
        (["diff", "-", "-"], "standard input is one tape"), (["auto", "-"], "needs a name"),
        (["sweep", "-", "--", "true"], "in many processes"), (["repair", "-"], "needs a place"),
        (["record", "--upstream", "http://a", "-o", "-", "--", "true"], "the command's own output goes there"),
        (["record", "--upstream", "http://a", "-o", "-", "--json"], "both want standard output"),
        (["record", "--upstream", "http://a", "-o", "-", "--canonical"], "wiretape canon -"),
        (["import", "x.pcap", "-o", "-", "--json"], "both want standard output"),
    ])
    func whatIsRefused(_ words: [String], _ part: String) throws {
        let run = try Binary.run(Binary.wiretape, words, input: tape)
        #expect(run.code == 64, "\(run.err)")
        #expect(run.err.contains(part), "\(run.err)")
    }
}

/// A command behind `--`: its output is its own, and both codes are told.
@Suite(.waitsForPrograms) struct CommandOutputTests {
    private let scratch: Scratch
    private let tape: String

    init() throws {
        scratch = try Scratch()
        tape = scratch.path("chat.tape.gz")
        try Running.recordChat(to: tape, in: scratch.url)
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: scratch.path(name), encoding: .utf8)
    }

    /// `--report -` is written when the command has ended, in one piece behind its output, and beside it the lines of `--events`.
    @Test func theReportComesBehindTheCommandsOutput() throws {
        let run = try Binary.run(
            "replay", tape, "--report", "-", "--events", scratch.path("events"), "--allow-unplayed", "--", "/bin/sh",
            "-c",
            "echo one; sleep 0.2; echo two")
        #expect(run.code == 0, "\(run.err)")
        let lines = run.out.split(separator: "\n")
        #expect(lines.count == 3 && lines.prefix(2) == ["one", "two"], "\(run.out)")
        #expect(lines.last?.hasPrefix(#"{"digest":"#) == true)
        let events = try text("events").split(separator: "\n")
        #expect(events.first?.contains(#""event":"ready""#) == true && events.last?.contains(#""event":"end""#) == true)
    }

    @Test func bothCodesAreTold() throws {
        let run = try Binary.run(
            "replay", tape, "--report", scratch.path("out") + "/", "--events", scratch.path("events"), "--", "/bin/sh",
            "-c", "exit 3")
        #expect(run.code == 3, "\(run.err)")
        #expect(
            run.verdict.contains("the command '/bin/sh' ended with 3; diverged (exit 2): nobody came"), "\(run.verdict)"
        )
        let report = try text("out/report.json")
        #expect(
            report.contains(#""verdict":"diverged""#) && report.contains(#""exit":2,"command_exit":3"#), "\(report)")
        #expect(try text("out/report.txt").contains("the command ended with 3, the run by itself with 2"))
        #expect(try text("out/report.xml").contains("the command ended with 3"))
        #expect(try text("events").contains(#""exit":3"#))
    }

    /// A verdict of live traffic as well.
    @Test func bothCodesOfARecordingAreTold() throws {
        let hub = try Running("sample-hub", ["--listen", "127.0.0.1:0"], in: scratch.url)
        let client = Binary.folder.appendingPathComponent("sample-client").path
        let run = try Binary.run(
            "proxy", "--upstream", hub.url, "--report", scratch.path("live.json"), "--", "/bin/sh", "-c",
            "\(client) --say hello; exit 3")
        #expect(run.code == 3, "\(run.err)")
        let report = try text("live.json")
        #expect(report.contains(#""exit":0,"command_exit":3"#), "\(report)")
    }

    @Test func severalUpstreamsHaveNames() throws {
        let hubs = try (0..<2).map { _ in try Running("sample-hub", ["--listen", "127.0.0.1:0"], in: scratch.url) }
        let run = try Binary.run(
            "proxy", "--upstream", "chat=\(hubs[0].url)", "--upstream", "chat-news=\(hubs[1].url)", "--", "/bin/sh",
            "-c",
            #"test "$WIRETAPE_URL_CHAT" = "$1" && test "$WIRETAPE_URL_CHAT_NEWS" = "$2" && test "$1" != "$2" && test "$WIRETAPE_URL" = "$1""#,
            "sh", "{url:chat}", "{url:chat-news}")
        #expect(run.code == 0, "\(run.err)")
    }

    @Test(arguments: [
        (["--events", "-", "--", "true"], "the command's own output goes there"),
        (["--json", "--report", "-"], "both want standard output"),
    ])
    func nothingStandsBetweenTheCommandsLines(_ words: [String], _ part: String) throws {
        let run = try Binary.run(Binary.wiretape, ["replay", tape] + words)
        #expect(run.code == 64, "\(run.err)")
        #expect(run.err.contains(part), "\(run.err)")
    }

    @Test func jsonBesideACommandPointsToEvents() throws {
        let run = try Binary.run("replay", tape, "--json", "--allow-unplayed", "--", "/bin/echo", "mine")
        #expect(run.code == 0 && run.out.contains("mine"), "\(run.err)")
        #expect(
            run.err.contains("--json: its lines stand between those of the command; --events FILE or --events fd:N"),
            "\(run.err)")
    }
}
