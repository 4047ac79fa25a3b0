import Foundation
import Testing

@Suite(.waitsForPrograms) struct ValidateCommandTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func validate(_ lines: [String], _ options: String...) throws -> Binary.Run {
        let path = try TapeFiles.write(lines, "t.tape", in: scratch)
        var run = try Binary.run(Binary.wiretape, ["validate"] + options + [path])
        run.out = run.out.replacingOccurrences(of: path, with: "t.tape")
        return run
    }

    @Test(arguments: TapeFiles.recordings) func recordingsAreWhole(_ name: String) throws {
        let run = try Binary.run("validate", "--strict", TapeFiles.recording(name))
        #expect(run.code == 0, "\(run.out)")
        #expect(run.out.contains(", whole\n") && run.out.contains("can be replayed"))
        #expect(run.verdict == "wiretape: done (exit 0): 1 tape, nothing wrong")
    }

    @Test(arguments: [
        (#"{"d":"<","json":{"type":1,"target":"A","arguments":[1,]}}"#, ":55: ", "the comma before it is one too many"),
        (#"{"d":"<",'json':{}}"#, ":10: ", "texts and keys stand in double quotes"),
        (#"{"d":"<","json":{"type":6}"#, ":27: ", "not closed"),
        (#"{"d":"<","json":True}"#, ":17: ", "JSON spells it true"),
        (#"{"d":"<" "json":{}}"#, ":10: ", "is a comma missing before it?"),
        ("hello", ":1: ", "which begins with #"),
        (#"{"d":"up","json":{}}"#, ":6: ", #""d" is neither ">" nor "<""#),
        (#"{"d":"<","jsn":{}}"#, ": ", "did you mean 'json'?"),
        (#"{"d":"<","after":"soon","json":{}}"#, ": ", "\"after\" is no time"),
        (#"{"d":"<","b64":"a"}"#, ":16: ", "\"b64\" is not base64"),
        (#"{"d":"<","json":{"a":01}}"#, ":22: ", "not JSON: not a value"),
    ])
    func aBadLineIsNamed(_ line: String, _ column: String, _ words: String) throws {
        let run = try validate(TapeFiles.sparse + [line, #"{"d":"<","json":{"type":6}}"#])
        #expect(run.code == 4)
        let finding = try #require(run.out.split(separator: "\n").first { $0.contains("error") })
        #expect(finding.hasPrefix("t.tape:6\(column)error: "), "\(finding)")
        #expect(finding.contains(words), "\(finding)")
        #expect(run.verdict == "wiretape: failed (exit 4): 1 tape, 1 error")
        #expect(run.out.contains("session 1  signalr over ws, /chat, 3 messages"), "the rest is read: \(run.out)")
    }

    @Test func whatIsOfALaterVersionIsAllowedAndCounted() throws {
        let later = [
            #"{"t":1,"c":1,"e":"weather","sun":1}"#, #"{"t":2,"c":1,"e":"weather","sun":2}"#,
            #"{"d":"<","mood":"fine","json":{"type":6}}"#,
        ]
        let run = try validate(TapeFiles.sparse + later)
        #expect(run.code == 0, "\(run.out)")
        #expect(run.out.contains(#"unknown to this version: kind "weather" (2), key "sun" (2), key "mood" (1)"#))
        let typo = try validate(TapeFiles.sparse + [#"{"t":1,"c":1,"e":"mesage","d":"<","text":"x"}"#])
        #expect(typo.out.contains(#"unknown kind "mesage", which is skipped; did you mean 'message'?"#))
    }

    @Test func doubtsAreWarnings() throws {
        let run = try validate([
            #"{"tape":1}"#, #"{"t":5,"c":1,"e":"open"}"#,
            #"{"t":6,"c":1,"e":"request","x":1,"method":"GET","target":"/chat","headers":[["Upgrade","websocket"]]}"#,
            #"{"t":7,"c":1,"e":"response","x":1,"status":101,"headers":[["Upgrade","websocket"]]}"#,
            #"{"t":8,"c":1,"e":"message","d":">","op":"text","text":"{\"protocol\":\"json\",\"version\":1}\u001e"}"#,
            #"{"t":3,"c":1,"e":"message","d":">","op":"text","text":"nonsense\u001e"}"#,
            #"{"t":9,"c":4,"e":"message","d":">","op":"text","text":"x"}"#,
            #"{"t":9,"e":"stop","events":3,"connections":1}"#,
        ])
        #expect(run.code == 0)
        #expect(run.out.contains("t.tape:6: warning: \"t\" goes back"))
        #expect(
            run.out.contains("t.tape:6: warning: the signalr codec cannot read this message: not JSON"), "\(run.out)")
        #expect(run.out.contains("t.tape:7: warning: connection 4 was never opened"))
        #expect(
            run.out.contains("t.tape:8: warning: \"stop\" tells of 3 events of 1 connections, and there are 6 of 1"))
        let path = scratch.path("t.tape")
        #expect(try Binary.run("validate", "--strict", path).code == 4)
    }

    @Test func damageAndCutsAreTold() throws {
        let whole = try Data(contentsOf: URL(fileURLWithPath: TapeFiles.recording("chat")))
        let path = scratch.url.appendingPathComponent("cut.tape.gz")
        try whole.prefix(whole.count - 40).write(to: path)
        let cut = try Binary.run("validate", path.path)
        #expect(cut.code == 0 && cut.out.contains("the last event is cut off"), "\(cut.out)")
        var broken = whole
        for i in broken.count / 2..<broken.count / 2 + 80 { broken[i] ^= 0x55 }
        try broken.write(to: path)
        let run = try Binary.run("validate", path.path)
        #expect(run.code == 4 && run.out.contains("wiretape repair"), "\(run.out)")
        let text = try Binary.run("validate", "-", input: "no tape\n")
        #expect(text.code == 4 && text.out.contains("-: error: is not a tape"), "\(text.out)")
        #expect(try Binary.run("validate", scratch.path("none.tape")).code == 1)
    }

    @Test func unknownProtocolsAreErrors() throws {
        let run = try validate([#"{"tape":1,"protocol":"signlr","route":"chat"}"#])
        #expect(run.code == 4)
        #expect(run.out.contains("t.tape:1: error: there is no protocol 'signlr'"))
        #expect(run.out.contains("did you mean 'signalr'?"))
        #expect(run.out.contains("the route 'chat' does not begin with '/'"))
    }

    @Test func jsonIsForScripts() throws {
        let run = try validate(TapeFiles.sparse + [#"{"d":"up","json":{}}"#], "--json")
        struct Line: Decodable {
            var event: String
            var line: Int?
            var column: Int?
            var replayable: Bool?
            var messages: Int?
            var errors: Int?
        }
        let lines = try run.out.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        #expect(lines.map(\.event) == ["finding", "session", "tape"])
        #expect(lines[0].line == 6 && lines[0].column == 6)
        #expect(lines[1].replayable == false && lines[1].messages == 3)
        #expect(lines[2].errors == 1)
    }
}
