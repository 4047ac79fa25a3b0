import Foundation
import Testing
import WiretapeWire

/// A run whose rules cannot fire on its tape is refused before `ready` is said and before anybody is answered.
@Suite(.waitsForPrograms) struct HopelessRuleCommandTests {
    private let scratch: Scratch
    private let client = Binary.folder.appendingPathComponent("sample-client").path

    init() throws {
        scratch = try Scratch()
        try FileManager.default.copyItem(atPath: TapeFiles.recording("chat"), toPath: scratch.path("chat.tape.gz"))
    }

    private func shell(_ words: String) throws -> Binary.Run {
        try Binary.run(
            URL(fileURLWithPath: "/bin/sh"), ["-c", "cd '\(scratch.url.path)' && '\(Binary.wiretape.path)' \(words)"])
    }

    private func write(_ text: String, _ name: String) throws {
        try text.write(toFile: scratch.path(name), atomically: true, encoding: .utf8)
    }

    private func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: scratch.path(name)) }

    private static let typo =
        "rule 'reset after RecieveMessage[3]' (--fault) cannot fire: 'RecieveMessage' is not on chat.tape.gz; nearest is "
        + "'ReceiveMessage' (7 times). Exit 5; 'optional: true' allows it."

    private let speak =
        "--speed instant -- CLIENT {url}/hub --user ada --say 'hello bob' --say 'fine, thanks' --say bye"

    private func spoken(_ words: String) -> String {
        words + " " + speak.replacing("CLIENT", with: "'\(client)'")
    }

    @Test(arguments: [
        ("--fault 'reset after RecieveMessage[3]'", typo),
        (
            "--fault 'reset after ReceiveMessage[99]'",
            "rule 'reset after ReceiveMessage[99]' (--fault) cannot fire: 'ReceiveMessage' comes 7 times in a session of "
                + "chat.tape.gz, and number 99 was asked for. Exit 5; 'optional: true' allows it."
        ),
        (
            "--fault 'drop on Xyzzy'",
            "rule 'drop on Xyzzy' (--fault) cannot fire: 'Xyzzy' is not on chat.tape.gz, which has Close, Completion, "
                + "Handshake, Invocation, ReceiveMessage, SendMessage, Welcome. Exit 5; 'optional: true' allows it."
        ),
        (
            "--faults plan.yaml",
            "rule 'cut' (plan.yaml:3) cannot fire: 'RecieveMessage' is not on chat.tape.gz; nearest is"
        ),
    ])
    func nothingIsServed(_ options: String, _ wanted: String) throws {
        try write(
            "rules:\n  - reset after ReceiveMessage[3]\n  - { name: cut, fault: drop on RecieveMessage }\n", "plan.yaml"
        )
        let run = try shell("replay chat.tape.gz --json --report report.json \(options) -- touch started")
        #expect(run.code == 5)
        #expect(run.verdict.hasPrefix("wiretape: failed (exit 5): \(wanted)"), "\(run.err)")
        #expect(run.out.isEmpty && !run.err.contains("http://"), "\(run.out)\(run.err)")
        #expect(!exists("started"), "the command was run")
        let report = try JSONValue(parsing: String(contentsOfFile: scratch.path("report.json"), encoding: .utf8))
        #expect(report["verdict"]?.string == "failed")
        let reasons = (report["reasons"]?.array ?? []).compactMap(\.string)
        #expect(reasons.count == 1 && reasons[0].contains(wanted), "\(reasons)")
    }

    @Test func eachRuleHasItsSentence() throws {
        let run = try shell(
            "replay chat.tape.gz --quiet --fault 'reset after RecieveMessage[3]' --fault 'drop on ReceiveMessage[2]' "
                + "--fault 'drop on Welcom'")
        #expect(run.code == 5)
        let lines = run.err.split(separator: "\n").map(String.init)
        #expect(lines.count == 3 && lines[0] == "wiretape: \(Self.typo)", "\(run.err)")
        let second = lines.dropFirst().first ?? ""
        #expect(second.contains("'Welcom' is not on chat.tape.gz; nearest is 'Welcome' (once)"))
        #expect(run.verdict.hasSuffix("(and 1 more)"))
    }

    @Test func whatIsOptionalIsWarnedOf() throws {
        try write("rules:\n  - { fault: 'reset after RecieveMessage[3]', optional: true }\n", "plan.yaml")
        let run = try shell(spoken("replay chat.tape.gz --faults plan.yaml"))
        #expect(run.code == 0, "\(run.err)")
        #expect(run.err.contains("(plan.yaml:2) cannot fire: 'RecieveMessage' is not on chat.tape.gz"), "\(run.err)")
    }

    /// What a client may say although nobody recorded it is told of at the end, as what was possible and did not come.
    @Test func whatMayFireIsPlayed() throws {
        let run = try shell(spoken("replay chat.tape.gz --fault 'drop on Shout[direction=toServer]'"))
        #expect(run.code == 5)
        #expect(run.out.contains("ReceiveMessage") && run.verdict.contains("never fired"), "\(run.err)")
        #expect(run.err.contains("'Shout' never occurs on chat.tape.gz"), "\(run.err)")
    }

    @Test(arguments: ["wiretape.yaml", "chat.tape.yaml"]) func settingsAreHeldToTheSame(_ file: String) throws {
        try write("defaults:\n  replay:\n    fault: reset after RecieveMessage[3]\n", file)
        let run = try shell("replay chat.tape.gz -- touch started")
        #expect(run.code == 5 && run.verdict.hasSuffix(Self.typo) && !exists("started"), "\(run.err)")
    }

    @Test func theRulesOfASweepAreHeldToTheSame() throws {
        let run = try shell("sweep chat.tape.gz --fault 'reset after RecieveMessage[3]' -- touch started")
        #expect(run.code == 5 && run.verdict.hasSuffix(Self.typo) && !exists("started"), "\(run.err)")
    }

    /// Its listeners are open while it is read; who connects waits, and is not answered.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")))
    func nobodyIsAnsweredFromALongTape() throws {
        var text = NobodyTests.session
        for n in 0..<20_000 {
            text += #"{"t":\#(10 + n),"c":1,"e":"message","d":"<","op":"text","text":"message \#(n)"}"# + "\n"
        }
        try write(text, "long.tape")
        let run = try shell(
            "replay long.tape --fault 'reset after Tick' -- /bin/sh -c 'curl -s -m 20 {url}/api >answer; sleep 60'")
        #expect(run.code == 5)
        #expect(
            run.verdict.contains("(--fault) cannot fire: 'Tick' is not on long.tape, which has text"), "\(run.err)")
        let answer = (try? String(contentsOfFile: scratch.path("answer"), encoding: .utf8)) ?? ""
        #expect(answer.isEmpty, "\(answer)")
    }

    @Test(arguments: [
        ("replay x.tape --fault 'latency(5s) on Tick'", "'latency' is not a fault; did you mean 'delay'?"),
        ("sweep x.tape --faults reset_peer -- true", "'reset_peer' is not a fault; did you mean 'reset'?"),
        ("replay x.tape --fault-plan p.yaml", "unknown option '--fault-plan' of replay; did you mean '--faults'?"),
        ("replay x.tape --toxic=reset", "unknown option '--toxic' of replay; did you mean '--fault'?"),
        ("record --target http://127.0.0.1:1", "unknown option '--target' of record; did you mean '--upstream'?"),
        ("inspect x.tape --fault-plan p.yaml", "unknown option '--fault-plan' of inspect\n"),
    ])
    func unknownWordsNameWhatIsMeant(_ words: String, _ wanted: String) throws {
        let run = try shell(words)
        #expect(run.code == 64 && run.err.contains(wanted), "\(run.err)")
    }
}
