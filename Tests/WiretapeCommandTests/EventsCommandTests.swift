import Foundation
import Testing
import WiretapeWire

/// `--events` and `--exit-with-parent`: what a test library builds on.
@Suite(.waitsForPrograms, .timeLimit(.minutes(5))) struct EventsCommandTests {
    let scratch: Scratch
    let client = Binary.folder.appendingPathComponent("sample-client").path

    init() throws {
        scratch = try Scratch()
        try Running.recordChat(to: scratch.path("chat.tape.gz"), in: scratch.url)
    }

    func run(_ options: [String]) throws -> Binary.Run {
        try Binary.run(
            Binary.wiretape,
            ["replay", scratch.path("chat.tape.gz"), "--speed", "instant"] + options + [
                "--", client, "--say", "one", "--say", "two", "--say", "three",
            ])
    }

    /// A script of the shell in which `$WIRETAPE` and `$TAPE` stand.
    func shell(_ script: String) throws -> Binary.Run {
        let set =
            "WIRETAPE='\(Binary.wiretape.path)' TAPE='\(scratch.path("chat.tape.gz"))'; cd '\(scratch.url.path)'; "
        return try Binary.run(URL(fileURLWithPath: "/bin/sh"), ["-c", set + script])
    }

    func events(_ name: String = "events.jsonl") throws -> [JSONValue] {
        try String(contentsOfFile: scratch.path(name), encoding: .utf8).split(separator: "\n").map {
            try JSONValue(parsing: String($0))
        }
    }

    func names(_ events: [JSONValue], but left: Set<String> = []) -> [String] {
        events.compactMap { $0["event"]?.string }.filter { !left.contains($0) }
    }

    @Test func everythingIsToldAsItHappens() throws {
        let run = try run([
            "--events", scratch.path("events.jsonl"), "--fault", "reset after ReceiveMessage[2]", "--fault",
            "respond(503) on connect[retry=1]", "--report", scratch.path("report.json"),
        ])
        #expect(run.code == 0, "\(run.err)")
        let events = try events()
        #expect(events.allSatisfy { $0["v"]?.int == 1 && $0["t_ms"] != nil })
        #expect(
            names(events, but: ["message"]) == [
                "ready", "attempt", "connected", "fault", "disconnected", "attempt", "fault", "disconnected", "attempt",
                "connected", "finished", "disconnected", "end",
            ])
        let ends = events.filter { $0["event"]?.string == "disconnected" }
        #expect(
            ends.map { $0["by"]?.string } == [
                "fault:reset after ReceiveMessage[2]", "fault:respond(503) on connect[retry=1]", "client",
            ])
        #expect(ends.map { $0["how"]?.string } == ["reset", "503", "close"])
        let said = events.filter {
            $0["event"]?.string == "message" && $0["d"]?.string == ">" && $0["target"]?.string == "SendMessage"
        }
        let summaries = said.compactMap { $0["summary"]?.string }
        #expect(summaries.contains(#"SendMessage("ada", "one")"#))
        #expect(said.allSatisfy { $0["session"]?.int == 1 && $0["run"]?.int == 1 })
        let end = try #require(events.last)
        #expect(end["verdict"]?.string == "pass" && end["exit"]?.int == 0 && end["command_exit"]?.int == 0)
        // The attempts are those of the report.
        let report = try JSONValue(parsing: String(contentsOfFile: scratch.path("report.json"), encoding: .utf8))
        let attempts = events.filter { $0["event"]?.string == "attempt" }
        let reported = report.value(at: "/sessions/0/attempts")?.array ?? []
        #expect(attempts.map { $0["t_ms"] } == reported.map { $0["t_ms"] })
        #expect(attempts.map { $0["delay_ms"] } == reported.map { $0["delay_ms"] })
    }

    @Test func aDivergenceIsTold() throws {
        let script = "'\(client)' --user bob --reconnect none; exit 7"
        let run = try Binary.run(
            "replay", scratch.path("chat.tape.gz"), "--quiet", "--events", scratch.path("events.jsonl"), "--",
            "/bin/sh",
            "-c", script)
        #expect(run.code == 7)
        #expect(run.verdict.contains("ended with 7; diverged (exit 2): diverged at client message 2"), "\(run.verdict)")
        let events = try events()
        let text = events.first { $0["event"]?.string == "divergence" }?["text"]?.string ?? ""
        #expect(text.contains("diverged at client message 2 of session 1"))
        #expect(events.last?["exit"]?.int == 7 && events.last?["command_exit"]?.int == 7)
    }

    @Test func aRunThatCannotBeginTellsWhy() throws {
        let run = try Binary.run("replay", scratch.path("none.tape"), "--events", scratch.path("events.jsonl"))
        #expect(run.code == 6)
        #expect(
            run.verdict.contains("make it with: wiretape record --upstream URL --output \(scratch.path("none.tape"))"))
        let events = try events()
        #expect(names(events) == ["end"])
        #expect(events.first?["exit"]?.int == Int(run.code) && events.first?["verdict"]?.string == "failed")
    }

    @Test func aDescriptorIsTheRunsAloneAndNotItsCommands() throws {
        let run = try shell(
            "exec 3>events.jsonl; \"$WIRETAPE\" replay \"$TAPE\" --allow-unplayed --events fd:3 -- /bin/sh -c 'echo no >&3'"
        )
        #expect(run.code != 0)
        #expect(names(try events()) == ["ready", "end"])
    }

    @Test func whatCannotBeWrittenIsRefused() throws {
        let closed = try run(["--events", "fd:99"])
        #expect(closed.code == 1)
        #expect(closed.verdict.contains("fd:99"))
        let ours = try run(["--events", "fd:1"])
        #expect(ours.code == 64)
        let mixed = try run(["--events", "-"])
        #expect(mixed.code == 64)
        #expect(mixed.err.contains("the command's own output goes there"))
    }

    /// A full disk fails a command that would pass otherwise.
    @Test func aFullDiskIsAnError() throws {
        let run = try shell(
            """
            "$WIRETAPE" replay "$TAPE" --speed instant --events /dev/full -- '\(client)' --say one --say two --say three
            """)
        #expect(run.code == 1, "\(run.err)")
        #expect(run.verdict.contains("--events: the lines are not complete: "), "\(run.verdict)")
        for command in ["inspect", "inspect --format json", "canon --output -", "validate --json"] {
            let run = try shell("\"$WIRETAPE\" \(command) \"$TAPE\" > /dev/full")
            #expect(run.code == 1, "\(command)")
            #expect(run.verdict.contains("No space left on device"), "\(command): \(run.verdict)")
            // A reader that closes the pipe early is no error.
            #expect(try shell("\"$WIRETAPE\" \(command) \"$TAPE\" | head -1 > /dev/null").code == 0)
        }
    }

    /// The report has the command line, and none of its secrets.
    @Test func theCommandLineInAReportHasNoSecrets() throws {
        let secrets = [
            "pusherSECRET0p9o8i", "headerKEY1q2w3e4r", "opaqueAUTH5t6y7u8i", "cookieSID4r5t6y7u", "basicPW9o8i7u6y",
            "wordPW3e4r5t6y",
            "joinedPW1q2w3e",
        ]
        let run = try shell(
            """
            "$WIRETAPE" replay "$TAPE" --allow-unplayed --report r.html --secret app-key=\(secrets[0]) -- sh -c true \\
                -H 'X-Api-Key: \(secrets[1])' -H 'Authorization: Digest-X \(secrets[2])' -b sid=\(secrets[3]) -u ada:\(secrets[4]) \\
                --password \(secrets[5]) -uada:\(secrets[6])
            cat r.html
            """)
        #expect(run.code == 0 && run.out.contains("app-key=…") && run.out.contains("ada:…"), "\(run.err)")
        for secret in secrets { #expect(!run.out.contains(secret) && !run.err.contains(secret), "\(secret)") }
    }

    /// The run goes on, ends, and says that the lines are not complete.
    @Test func aReaderThatDoesNotReadHoldsNobodyUp() throws {
        // The pipe is full before the run begins.
        let run = try shell(
            """
            mkfifo pipe; sleep 60 < pipe & reader=$!
            exec 3>pipe; dd if=/dev/zero bs=65536 count=1 >&3 2>/dev/null
            "$WIRETAPE" replay "$TAPE" --speed instant --events fd:3 -- '\(client)' --say one --say two --say three
            code=$?; kill $reader; exit $code
            """)
        #expect(run.code == 0, "\(run.err)")
        #expect(run.err.contains("--events: the lines are not complete: nobody reads them"))
    }

    /// The shell that started it is killed: nothing tells the run but the absence of its parent.
    @Test func theRunEndsWithItsParent() throws {
        _ = try shell(
            """
            "$WIRETAPE" replay "$TAPE" --allow-unplayed --exit-with-parent --events events.jsonl 2>/dev/null >/dev/null &
            until [ -s events.jsonl ]; do :; done
            kill -9 $$
            """)
        while names(try events()).last != "end" {}
        let end = try #require(try events().last)
        #expect(end["exit"]?.int == 143 && end["reason"]?.string?.hasPrefix("signal 15; ") == true)
    }
}
