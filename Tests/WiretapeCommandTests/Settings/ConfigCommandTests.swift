import Foundation
import Testing
import WiretapeCommands

@Suite(.waitsForPrograms) struct ConfigCommandTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try FileManager.default.createDirectory(atPath: scratch.path("a/b"), withIntermediateDirectories: true)
    }

    private func write(_ name: String, _ text: String) throws {
        try text.write(toFile: scratch.path(name), atomically: true, encoding: .utf8)
    }

    /// Runs in the scratch folder, with variables.
    private func run(_ environment: String = "", _ arguments: String) throws -> Binary.Run {
        let script = "cd '\(scratch.url.path)' && \(environment) '\(Binary.wiretape.path)' \(arguments)"
        return try Binary.run(URL(fileURLWithPath: "/bin/sh"), ["-c", script])
    }

    private func rows(_ run: Binary.Run) -> [String] {
        run.out.split(separator: "\n").map { line in
            line.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
                .replacingOccurrences(of: scratch.url.path + "/", with: "")
        }
    }

    @Test func theNearestOriginWinsAndRulesAddUp() throws {
        try write(
            "wiretape.yaml",
            "ignore: [ 'A:/x' ]\nroutes:\n  /v2: /v1\ndefaults:\n  replay: { speed: 10, patience: 7s, quiet: true }\n")
        try write("a/b/t.tape.yaml", "ignore: B:/y\ndefaults: { replay: { speed: instant } }\n")
        let show = try run("WIRETAPE_PATIENCE=3s", "config --show a/b/t.tape.gz")
        #expect(show.code == 0, "\(show.err)")
        let replay = rows(show).filter { $0.hasPrefix("replay ") }
        #expect(
            replay.sorted() == [
                "replay --ignore A:/x # wiretape.yaml:1", "replay --ignore B:/y # a/b/t.tape.yaml:1",
                "replay --patience 3s # WIRETAPE_PATIENCE", "replay --quiet true # wiretape.yaml:5",
                "replay --route /v2=/v1 # wiretape.yaml:3", "replay --speed instant # a/b/t.tape.yaml:2",
            ])
        // Another tape has no file of its own; where it lies says nothing, and where we are does.
        #expect(rows(try run("", "config a/b/other.tape")).contains("replay --speed 10 # wiretape.yaml:5"))
        try write("a/wiretape.yaml", "defaults: { replay: { speed: 2 } }\n")
        try FileManager.default.createDirectory(atPath: scratch.path(".git"), withIntermediateDirectories: false)
        #expect(rows(try run("", "config a/b/other.tape")).contains("replay --speed 10 # wiretape.yaml:5"))
        #expect(rows(try run("cd a/b;", "config other.tape")) == ["replay --speed 2 # a/wiretape.yaml:1"])
        #expect(
            rows(try run("", "config a/b/other.tape --config wiretape.yaml")).contains(
                "replay --speed 10 # wiretape.yaml:5"))
    }

    /// A file above the repository or the home folder may be anybody's.
    @Test func theSearchEndsAtTheRepositoryOrTheHomeFolder() throws {
        try write("wiretape.yaml", "defaults: { replay: { speed: 2 } }\n")
        let found = ["replay --speed 2 # wiretape.yaml:1"]
        #expect(rows(try run("", "config x.tape")) == found)
        #expect(rows(try run("cd a/b;", "config x.tape")).isEmpty)
        #expect(rows(try run("cd a/b; HOME='\(scratch.url.path)'", "config x.tape")) == found)
        #expect(rows(try run("cd a/b; HOME='\(scratch.path("a"))'", "config x.tape")).isEmpty)
        try FileManager.default.createDirectory(atPath: scratch.path("a/.git"), withIntermediateDirectories: false)
        #expect(rows(try run("cd a/b;", "config x.tape")).isEmpty)
        try FileManager.default.moveItem(atPath: scratch.path("a/.git"), toPath: scratch.path(".git"))
        #expect(rows(try run("cd a/b;", "config x.tape")) == found)
    }

    /// A settings file that everybody can write to is skipped with a warning. Files that are read are named.
    @Test func settingsThatOthersMayWriteAreNotRead() throws {
        try write("wiretape.yaml", "ignore: A:/x\n")
        _ = try Binary.run("canon", TapeFiles.recording("chat"), "--output", scratch.path("a/x.tape"))
        func diff() throws -> Binary.Run { try run("", "diff a/x.tape a/x.tape") }
        #expect(try diff().err.contains("settings: \(scratch.path("wiretape.yaml"))"))
        for (place, what) in [("wiretape.yaml", "it"), ("", "its folder")] {
            let path = scratch.path(place)
            let mode = try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
            try FileManager.default.setAttributes([.posixPermissions: mode | 0o002], ofItemAtPath: path)
            let run = try diff()
            #expect(
                run.err.contains("wiretape.yaml is not read, since everybody can write to \(what); '--config "),
                "\(run.err)")
            #expect(!run.err.contains("settings: "))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
    }

    /// The settings reach the command, and what is written on the command line goes before them.
    @Test func commandsUseThem() throws {
        _ = try Binary.run("canon", TapeFiles.recording("chat"), "--output", scratch.path("a/x.tape"))
        _ = try Binary.run("canon", TapeFiles.recording("chat"), "--output", scratch.path("a/y.tape"))
        _ = try Binary.run("edit", scratch.path("a/y.tape"), "--where", "SendMessage[2]", "--set", "/arguments/1=1")
        #expect(try run("", "diff a/x.tape a/y.tape").code == 2)
        try write("wiretape.yaml", "ignore:\n  - SendMessage:/arguments/1\n")
        #expect(try run("", "diff a/x.tape a/y.tape").code == 0)
        try write("wiretape.yaml", "defaults: { diff: { format: markdown } }\n")
        #expect(try run("", "diff a/x.tape a/y.tape").out.hasPrefix("### "))
        #expect(try run("", "diff a/x.tape a/y.tape --format text").out.hasPrefix("session 1"))
        #expect(try run("WIRETAPE_FORMAT=text", "diff a/x.tape a/y.tape").out.hasPrefix("session 1"))
        #expect(try run("WIRETAPE_JSON=true", "diff a/x.tape a/y.tape").out.hasPrefix("{\"event\":"))
    }

    /// Policies stand in the settings as on the command line, with what subscribes and what hangs on it.
    @Test func policiesNameWhatSubscribes() throws {
        try write(
            "wiretape.yaml",
            "defaults: { replay: { expect: ['resubscribes(Ticks->Tick, JoinGroup)', 'once(Send)'] } }\n")
        let show = try run("", "config --show a/b/t.tape.gz")
        #expect(
            rows(show) == [
                "replay --expect resubscribes(Ticks->Tick, JoinGroup) # wiretape.yaml:1",
                "replay --expect once(Send) # wiretape.yaml:1",
            ])
        try write("wiretape.yaml", "defaults: { replay: { expect: 'resubscribes(->Tick)' } }\n")
        try FileManager.default.copyItem(
            atPath: TapeFiles.recording("chat"), toPath: scratch.path("a/chat.tape.gz"))
        let wrong = try run("", "replay a/chat.tape.gz -- true")
        #expect(wrong.code == 64 && wrong.err.contains("'' is not a label"), "\(wrong.err)")
        // A replay whose policy nothing could be held to says so, and is no pass.
        try write("wiretape.yaml", "defaults: { replay: { expect: 'resubscribes(JoinGroup)' } }\n")
        let unjudged = try run("", "replay a/chat.tape.gz -- true")
        #expect(unjudged.code != 0 && unjudged.err.contains("resubscribes(JoinGroup) could not be judged"))
    }

    /// What is required may come from the settings.
    @Test func anUpstreamMayStandThere() throws {
        let missing = try run("", "record --output a/r.tape -- true")
        #expect(missing.code == 64 && missing.verdict.contains("--upstream"))
        try write("wiretape.yaml", "upstreams: { main: 'http://127.0.0.1:9' }\n")
        // Nothing is recorded, and the tape is there.
        #expect(try run("", "record --output a/r.tape -- true").code == 1)
        #expect(
            try TapeFiles.lines(scratch.path("a/r.tape"))[0].contains(#""upstreams":{"main":"http://127.0.0.1:9"}"#))
    }

    @Test(arguments: [
        ("ignre: []", "wiretape.yaml:1:1: a settings file has no 'ignre'; did you mean 'ignore'?"),
        ("ignore: [ nonsense ]", "wiretape.yaml:1:11: 'nonsense' is not an ignore rule"),
        ("defaults:\n  repaly: {}", ""),
        (
            "defaults:\n  repaly: { speed: 1 }",
            "wiretape.yaml:2:3: there is no command 'repaly'; did you mean 'replay'?"
        ),
        (
            "defaults:\n  replay: { sped: 1 }",
            "wiretape.yaml:2:13: 'replay' has no option 'sped'; did you mean 'speed'?"
        ),
        ("defaults:\n  replay: { speed: fast }", "wiretape.yaml:2:20: "),
        ("defaults:\n  replay: { quiet: perhaps }", "'quiet' is true or false, found 'perhaps'"),
        ("defaults:\n  replay: { patience: [1s, 2s] }", "'patience' has one value"),
        ("redact: [ nonsense ]", "wiretape.yaml:1:11: 'nonsense' is not a rule"),
        ("keep: on", "wiretape.yaml:1:7: 'on' is not a rule"),
        ("ignore: &a [*a]", "anchors and aliases are not read"),
        ("routes: [ /a ]", "wiretape.yaml:1:11: "), ("[1", "wiretape.yaml:"),
    ])
    func mistakesAreNamedWithTheirPlace(_ text: String, _ words: String) throws {
        try write("wiretape.yaml", text + "\n")
        let run = try run("", "config")
        guard !words.isEmpty else {
            #expect(run.code == 0)
            return
        }
        #expect(run.code == 64, "\(run.err)")
        #expect(run.verdict.contains(words), "\(run.verdict)")
        #expect(try self.run("", "diff a.tape b.tape").code == 64)
    }

    @Test func aBadVariableIsNamed() throws {
        let run = try run("WIRETAPE_SPEED=fast", "replay a.tape")
        #expect(run.code == 64 && run.verdict.contains("WIRETAPE_SPEED:"), "\(run.err)")
        let file = try self.run("", "replay a.tape --config none.yaml")
        #expect(file.code == 64 && file.verdict.contains("none.yaml"), "\(file.err)")
    }

    @Test func theSchemaIsThatOfTheDeclarations() throws {
        let file = Binary.root.appendingPathComponent("docs/wiretape.schema.json")
        let page = try String(contentsOf: file, encoding: .utf8)
        #expect(
            page == SettingsSchema.text(Commands.specs), "run: wiretape config --schema > docs/wiretape.schema.json")
        _ = try JSONSerialization.jsonObject(with: Data(page.utf8))
    }
}
