import Foundation
import Testing

@Suite(.waitsForPrograms) struct DiffCommandTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// One conversation over three transports, and each with its canonical form.
    @Test(arguments: ["chat", "chat-sse", "chat-lp"]) func transportsAndFormsPlayNoPart(_ name: String) throws {
        let canonical = scratch.path("\(name).tape")
        #expect(try Binary.run("canon", TapeFiles.recording(name), "--output", canonical).code == 0)
        for other in [TapeFiles.recording(name), TapeFiles.recording("chat")] {
            let run = try Binary.run("diff", other, canonical)
            #expect(run.code == 0 && run.out.isEmpty, "\(run.out)")
            #expect(run.verdict == "wiretape: done (exit 0): the tapes tell the same")
        }
    }

    private func edited(_ edits: [[String]]) throws -> (String, String) {
        let first = scratch.path("a.tape")
        let second = scratch.path("b.tape")
        _ = try Binary.run("canon", TapeFiles.recording("chat"), "--output", first)
        _ = try Binary.run("canon", TapeFiles.recording("chat"), "--output", second)
        for edit in edits {
            let run = try Binary.run(Binary.wiretape, ["edit", second] + edit)
            #expect(run.code == 0, "\(run.err)")
        }
        return (first, second)
    }

    @Test func differencesAreShownSideBySide() throws {
        let (a, b) = try edited([
            ["--where", "SendMessage[2]", "--set", "/arguments/1=\"fine\""],
            ["--where", "ReceiveMessage[4]", "--drop"],
            ["--where", "Completion[3]", "--insert-after", #"{"type":1,"target":"More","arguments":[1]}"#],
        ])
        let script = "cd '\(scratch.url.path)' && '\(Binary.wiretape.path)' diff a.tape b.tape"
        let run = try Binary.run(URL(fileURLWithPath: "/bin/sh"), ["-c", script])
        #expect(run.code == 2)
        #expect(
            run.out == """
                session 1 (/hub): client message 3 differs
                    a.tape:16  Invocation SendMessage("ada", "fine, thanks")
                    b.tape:16  Invocation SendMessage("ada", "fine")    /arguments/1
                    accept:    --ignore 'SendMessage:/arguments/1'
                session 1 (/hub): server message 7 is on a.tape only
                    a.tape:17  Invocation ReceiveMessage("ada", "fine, thanks")
                session 1 (/hub): server message 11 is on b.tape only
                    b.tape:22  Invocation More(1)

                """, "\(run.out)")
        #expect(run.verdict == "wiretape: diverged (exit 2): 3 differences")
        let back = try Binary.run("diff", b, a)
        #expect(back.code == 2 && back.out.contains("server message 11 is on \(b) only"))
        let less = try Binary.run("diff", a, b, "--ignore", "SendMessage:/arguments/1")
        #expect(less.code == 2 && !less.out.contains("client message"), "\(less.out)")
    }

    @Test func markdownAndJSON() throws {
        let (a, b) = try edited([["--where", "Completion[1]", "--set", "/result=\"a|b\""]])
        let text = try Binary.run("diff", a, b, "--format", "markdown").out
        #expect(
            text.contains("| session 1 (/hub) | server message 5 differs | 14: `Completion 0` |"), "\(text)")
        #expect(text.contains(#"`Completion 0 -> "a\|b"`"#), "\(text)")
        let json = try Binary.run("diff", a, b, "--json")
        struct Line: Decodable {
            struct Side: Decodable {
                var file: String
                var line: Int
            }
            var event: String
            var kind: String?
            var a: Side?
            var pointers: [String]?
        }
        let lines = try json.out.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        #expect(lines.map(\.event) == ["difference", "end"])
        #expect(lines[0].kind == "changed" && lines[0].a?.line == 14 && lines[0].pointers == ["/result"])
    }

    @Test func orderCountsForTheServerOnly() throws {
        let head = [
            #"{"tape":1,"protocol":"signalr","route":"/chat"}"#,
            #"{"d":">","json":{"type":1,"invocationId":"1","target":"A","arguments":[]}}"#,
            #"{"d":">","json":{"type":1,"invocationId":"2","target":"B","arguments":[]}}"#,
            #"{"d":"<","json":{"type":1,"target":"X","arguments":[]}}"#,
            #"{"d":"<","json":{"type":1,"target":"Y","arguments":[]}}"#,
            #"{"d":"<","json":{"type":3,"invocationId":"1","result":1}}"#,
            #"{"d":"<","json":{"type":3,"invocationId":"2","result":2}}"#,
        ]
        // Other ids, the calls and their answers swapped.
        let same = [
            head[0], head[2].replacingOccurrences(of: #""2""#, with: #""x""#), head[1], head[3], head[4],
            head[6].replacingOccurrences(of: #""2""#, with: #""x""#), head[5],
        ]
        let a = try TapeFiles.write(head, "a.tape", in: scratch)
        let b = try TapeFiles.write(same, "b.tape", in: scratch)
        #expect(try Binary.run("diff", a, b).code == 0)
        let c = try TapeFiles.write(
            [head[0], head[1], head[2], head[4], head[3], head[5], head[6]], "c.tape", in: scratch)
        let moved = try Binary.run("diff", a, c)
        #expect(moved.code == 2 && moved.out.contains("has another place in the order"), "\(moved.out)")
        // Answers that went to the other call.
        let d = try TapeFiles.write(
            head[...4] + [
                head[5].replacingOccurrences(of: "\"result\":1", with: "\"result\":2"),
                head[6].replacingOccurrences(of: "\"result\":2", with: "\"result\":1"),
            ], "d.tape", in: scratch)
        let crossed = try Binary.run("diff", a, d)
        #expect(crossed.code == 2 && crossed.verdict.hasSuffix("2 differences"), "\(crossed.out)")
    }

    @Test func foldersArePairedByName() throws {
        let manager = FileManager.default
        for folder in ["old", "new/sub", "old/sub"] {
            try manager.createDirectory(atPath: scratch.path(folder), withIntermediateDirectories: true)
        }
        try manager.copyItem(atPath: TapeFiles.recording("chat"), toPath: scratch.path("old/chat.tape.gz"))
        _ = try Binary.run("canon", TapeFiles.recording("chat"), "--output", scratch.path("new/chat.tape"))
        try manager.copyItem(atPath: TapeFiles.recording("reconnect"), toPath: scratch.path("old/sub/r.tape.gz"))
        try manager.copyItem(atPath: TapeFiles.recording("reconnect"), toPath: scratch.path("new/sub/r.tape.gz"))
        let same = try Binary.run("diff", scratch.path("old"), scratch.path("new"))
        #expect(same.code == 0 && same.verdict.hasSuffix("2 tapes tell the same"), "\(same.out)\(same.err)")
        try manager.removeItem(atPath: scratch.path("new/sub/r.tape.gz"))
        let alone = try Binary.run("diff", scratch.path("old"), scratch.path("new"))
        #expect(alone.code == 2 && alone.out.contains("old/sub/r.tape.gz has no counterpart"), "\(alone.out)")
    }

    /// What a client did against a replay is what the tape says.
    @Test func theActualTapeOfARun() throws {
        let tape = try TapeFiles.write(TapeFiles.sparse, "t.tape", in: scratch)
        let client = Binary.folder.appendingPathComponent("sample-client").path
        func replay(_ words: String) throws {
            let run = try Binary.run(
                Binary.wiretape,
                [
                    "replay", tape, "--speed", "instant", "--until", "finished", "--report", scratch.path("report/"),
                    "--timeout",
                    "10s", "--ignore", "SendMessage:/arguments/1", "--", client, "{url}/chat", "--say", words,
                ])
            #expect(run.code == 0, "\(run.err)")
        }
        try replay("hello")
        let same = try Binary.run("diff", tape, scratch.path("report"))
        #expect(same.code == 0, "\(same.out)")
        try replay("bye")
        let other = try Binary.run("diff", tape, scratch.path("report"))
        #expect(other.code == 2 && other.out.contains("SendMessage(\"ada\", \"bye\")"), "\(other.out)")
    }

    @Test func badFilesAreFour() throws {
        let bad = try TapeFiles.write(["hello"], "bad.tape", in: scratch)
        #expect(try Binary.run("diff", bad, TapeFiles.recording("chat")).code == 4)
        #expect(try Binary.run("diff", TapeFiles.recording("chat"), scratch.path("none.tape")).code == 1)
    }
}
