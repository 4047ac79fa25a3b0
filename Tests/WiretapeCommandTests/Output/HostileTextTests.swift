import Foundation
import Testing
import WiretapeBytes
import WiretapeWire

#if canImport(Glibc)
    import Glibc
#endif

/// Whatever a tape, a file's name, a plan or a peer says, no command prints an escape sequence or a line that it did not say.
@Suite(.waitsForPrograms) struct HostileTextTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// Both texts of a list hold what the other holds: what a summary escapes and what the printer escapes.
    @Test func everyControlIsEscapedAndNothingElse() throws {
        for value in (0...0x10ffff as ClosedRange<UInt32>) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let isHarmful = TerminalText.isHarmful(scalar)
            if scalar.properties.generalCategory == .control || scalar.properties.isBidiControl { #expect(isHarmful) }
            guard isHarmful || value < 0x3000 else { continue }
            let text = "a\(String(Character(scalar)))"
            #expect((TerminalText.line(text) == text) == !isHarmful)
            #expect((Summary.line(text) == text) == !isHarmful)
            #expect((TerminalText.lines(text) == text) == (!isHarmful || scalar == "\n"))
        }
        let json = JSONValue.string(HostileText.poison).text
        let escaped = TerminalText.json(json)
        #expect(HostileText.complaint(escaped, where: "json") == nil)
        #expect(try JSONValue(parsing: Array(escaped.utf8)) == .string(HostileText.poison))
        #expect(TerminalText.block("a\n    b\nc") == "a\n    b\\u{a}c")
    }

    private func check(_ place: String, _ arguments: String...) throws {
        let run = try Binary.run(Binary.wiretape, arguments)
        let name = "\(arguments[0]) of \(place)"
        if let complaint = HostileText.complaint(run.out, where: name) { Issue.record("\(complaint)") }
        if let complaint = HostileText.complaint(run.err, where: name) { Issue.record("\(complaint)") }
        #expect(run.code != 139 && run.code != 132 && run.code != 133, "\(name): \(run.err)")
    }

    @Test(arguments: ["chat", "reconnect"]) func tapesPoisonedAnywhereArePrintedHarmlessly(_ name: String) throws {
        let lines = try TapeFiles.lines(TapeFiles.recording(name))
        let clean = try TapeFiles.write(lines, "clean.tape", in: scratch)
        for (i, tape) in try HostileText.tapes(lines).enumerated() {
            let path = try TapeFiles.write(tape.lines, "\(i).tape", in: scratch)
            try check(tape.place, "validate", path)
            try check(tape.place, "validate", "--json", path)
            for format in ["table", "json", "sequence"] { try check(tape.place, "inspect", "--format", format, path) }
            for format in ["text", "markdown"] { try check(tape.place, "diff", "--format", format, clean, path) }
            try check(tape.place, "diff", "--json", clean, path)
            try check(tape.place, "repair", path, "--output", scratch.path("r\(i).tape"))
            try check(tape.place, "name", path, "first=1", "--output", scratch.path("n\(i).tape"))
            try check(
                tape.place, "edit", path, "--dry-run", "--where", "SendMessage[1]", "--set", "/arguments/1=\"other\"")
        }
    }

    /// A real client says what the tape does not have, and what the tape has is shown beside it.
    @Test func whatAReplaySaysIsHarmless() throws {
        let lines = try TapeFiles.lines(TapeFiles.recording("chat"))
        let client = Binary.folder.appendingPathComponent("sample-client").path
        for (i, tape) in try HostileText.tapes(lines).enumerated() {
            let path = try TapeFiles.write(tape.lines, "\(i).tape", in: scratch)
            try check(
                tape.place, "replay", path, "--patience", "50ms", "--speed", "instant", "--report", "-", "--timeout",
                "2s",
                "--", client, "{url}/hub", "--say", "hello bob")
        }
        // And the client may be the hostile one.
        try check(
            "what the client says", "replay", TapeFiles.recording("chat"), "--patience", "50ms", "--speed", "instant",
            "--timeout", "2s", "--", client, "{url}/hub", "--say", HostileText.poison)
        try check(
            "what the client asks", "replay", TapeFiles.recording("chat"), "--patience", "50ms", "--timeout", "2s",
            "--",
            client, "{url}/other%1B", "--say", "x")
    }

    @Test func namesOfFilesPlansAndSettingsAreHarmless() throws {
        let poison = HostileText.poison
        let recording = try Data(contentsOf: URL(fileURLWithPath: TapeFiles.recording("chat")))
        let path = scratch.path("a\(poison.replacingOccurrences(of: "/", with: "")).tape")
        try recording.write(to: URL(fileURLWithPath: path))
        for command in ["validate", "inspect", "replay", "repair"] { try check("the name", command, path, path) }
        try check("the name", "validate", path)
        try check("the name", "inspect", path)
        try check("the name", "diff", scratch.url.path, scratch.url.path)
        try check("the name", "diff", path, TapeFiles.recording("reconnect"))
        try check("the command", poison)
        try check("an option", "replay", "--\(poison)")
        try check("a value", "replay", path, "--fault", poison)
        let plan = try TapeFiles.write(["faults:", "  - \(JSONValue.string(poison).text)"], "plan.yaml", in: scratch)
        try check("a plan", "replay", TapeFiles.recording("chat"), "--faults", plan)
        let settings = try TapeFiles.write(
            ["ignore: [\(JSONValue.string("A\(poison):/x").text)]"], "s.yaml", in: scratch)
        try check("settings", "config", "--show", "--config", settings)
        try check("settings", "diff", path, path, "--config", settings)
    }

    /// A tape on standard output is a tape, byte for byte, in a pipe; on a terminal its texts are escaped as JSON does it.
    @Test func aTapeOnATerminalIsEscaped() throws {
        let tape = [
            #"{"tape":1,"protocol":"signalr","route":"/chat"}"#,
            #"{"d":"<","json":{"type":1,"target":"A\#u{9B}31m\#u{202E}","arguments":[]}}"#,
        ]
        let path = try TapeFiles.write(tape, "t.tape", in: scratch)
        let piped = try Binary.run(Binary.wiretape, ["name", path, "x=1", "--output", "-"])
        #expect(piped.code == 0 && piped.out.contains("\u{9B}31m"), "\(piped.err)")
        let seen = try onTerminal(["name", path, "x=1", "--output", "-"])
        #expect(seen.contains(#"A\u009b31m\u202e"#), "\(seen)")
        #expect(!seen.contains("\u{9B}") && !seen.contains("\u{202E}"))
    }

    private func onTerminal(_ arguments: [String]) throws -> String {
        var (main, other): (Int32, Int32) = (-1, -1)
        let opened = unsafe openpty(&main, &other, nil, nil, nil)
        try #require(opened == 0)
        let process = Process()
        process.executableURL = Binary.wiretape
        process.arguments = arguments
        process.standardOutput = FileHandle(fileDescriptor: other, closeOnDealloc: true)
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe read(main, &bytes, bytes.count)
        close(main)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
