import Foundation
import Testing

@Suite(.waitsForPrograms) struct EditCommandTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// Runs the edit on the sparse tape and gives its lines.
    private func edit(_ arguments: String..., tape: [String] = TapeFiles.sparse) throws -> [String] {
        let path = try TapeFiles.write(tape, "t.tape", in: scratch)
        let run = try Binary.run(Binary.wiretape, ["edit", path] + arguments)
        #expect(run.code == 0, "\(run.err)")
        return try TapeFiles.lines(path)
    }

    @Test func setChangesOneValueAndNothingElse() throws {
        let lines = try edit("--where", "SendMessage[1]", "--set", "/arguments/1=\"bye\"", "--set", "/x={\"y\":1}")
        #expect(
            lines[2]
                == #"{"d":">","json":{"type":1,"invocationId":"1","target":"SendMessage","arguments":["ada", "bye"],"x":{"y":1}}}"#
        )
        var rest = TapeFiles.sparse
        rest[2] = lines[2]
        #expect(lines == rest)
    }

    @Test func removeAndDrop() throws {
        #expect(
            try edit("--where", "ReceiveMessage", "--remove", "/arguments/0")[3]
                == #"{"d":"<","json":{"type":1,"target":"ReceiveMessage","arguments":["hello"]}}"#)
        var rest = TapeFiles.sparse
        rest.remove(at: 3)
        #expect(try edit("--where", "ReceiveMessage", "--drop") == rest)
    }

    @Test func insertAddsALineBehind() throws {
        let lines = try edit(
            "--where", "ReceiveMessage[1]", "--insert-after", #"{"type":1,"target":"More","arguments":[]}"#)
        #expect(lines.count == 6)
        #expect(
            lines[4]
                == #"{"t":0,"c":1,"e":"message","d":"<","op":"text","json":{"type":1,"target":"More","arguments":[]}}"#)
        #expect(try Binary.run("validate", "--strict", scratch.path("t.tape")).code == 0)
    }

    @Test func afterMovesWhatFollows() throws {
        #expect(try edit("--where", "ReceiveMessage[1]", "--after", "1500ms")[3].hasSuffix(#""after":"1500ms"}"#))
        let tape = [
            #"{"tape":1,"protocol":"signalr","route":"/chat"}"#,
            #"{"t":1000,"c":1,"e":"message","d":">","op":"text","json":{"type":1,"target":"A","arguments":[]}}"#,
            #"{"t":2000,"c":1,"e":"message","d":"<","op":"text","json":{"type":1,"target":"B","arguments":[]}}"#,
            #"{"t":2500,"c":1,"e":"message","d":"<","op":"text","json":{"type":1,"target":"C","arguments":[]}}"#,
        ]
        let times = try edit("--where", "B", "--after", "3s", tape: tape).dropFirst().map { $0.prefix { $0 != "," } }
        #expect(times == [#"{"t":1000"#, #"{"t":3000001000"#, #"{"t":3000001500"#])
    }

    /// A tape can say any number: what is moved stays within what a number can be.
    @Test func numbersAtTheirLimits() throws {
        let most = UInt64.max
        let tape = [
            #"{"tape":1,"protocol":"signalr","route":"/chat"}"#,
            #"{"t":0,"c":1,"e":"message","d":"<","op":"text","json":{"type":1,"target":"B","arguments":[]}}"#,
            #"{"t":\#(most),"c":1,"e":"fault","rule":"x","action":"drop","ref":\#(most)}"#,
            #"{"t":\#(most),"e":"stop","events":\#(most),"connections":1}"#,
        ]
        let more = try edit("--where", "B", "--insert-after", #"{"type":1,"target":"M","arguments":[]}"#, tape: tape)
        #expect(more.count == 5)
        #expect(more.last == #"{"t":\#(most),"e":"stop","events":\#(most),"connections":1}"#)
        #expect(more[3].hasSuffix(#""ref":\#(most)}"#))
        let later = try edit("--where", "B", "--after", "3s", tape: tape)
        #expect(later[2].hasPrefix(#"{"t":\#(most),"#))
        let fewer = try edit("--where", "B", "--drop", tape: tape)
        #expect(fewer.last == #"{"t":\#(most),"e":"stop","events":\#(most - 1),"connections":1}"#)
    }

    /// Of a frame with several messages only the one that is meant changes; the tape stays compressed and its mode as it was.
    @Test func aRecordingIsChangedInItsPlace() throws {
        let path = try TapeFiles.copy("chat", in: scratch)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        let before = try TapeFiles.lines(path)
        let run = try Binary.run("edit", path, "--where", "Completion[2]", "--set", "/result=\"ok é\"")
        #expect(run.code == 0, "\(run.err)")
        let after = try TapeFiles.lines(path)
        let changed = zip(before, after).filter { $0 != $1 }
        #expect(before.count == after.count && changed.count == 1)
        #expect(changed[0].0.contains(#"\u001e{\"type\":3,\"invocationId\":\"1\",\"result\":null}\u001e"#))
        #expect(
            changed[0].1
                == changed[0].0.replacingOccurrences(of: #"\"result\":null"#, with: #"\"result\":\"ok é\""#))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).prefix(2) == Data([0x1f, 0x8b]))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o640)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.url.path) == ["chat.tape.gz"])
        #expect(try Binary.run("validate", "--strict", path).code == 0)
    }

    /// The count that `stop` gives stays right.
    @Test func droppedLinesAreCounted() throws {
        let path = try TapeFiles.copy("chat", in: scratch)
        let run = try Binary.run(
            "edit", path, "--where", "message[target=ReceiveMessage, /arguments/0=\"bob\"]", "--drop")
        #expect(run.code == 0, "\(run.err)")
        #expect(run.verdict.hasSuffix(": 4 messages dropped"), "\(run.err)")
        let check = try Binary.run("validate", "--strict", path)
        #expect(check.code == 0, "\(check.out)")
        #expect(check.out.contains("25 events") && check.out.contains("13 messages"), "\(check.out)")
    }

    @Test func aTrialWritesNothing() throws {
        let path = try TapeFiles.write(TapeFiles.sparse, "t.tape", in: scratch)
        let run = try Binary.run("edit", path, "--where", "ReceiveMessage", "--set", "/arguments=[]", "--dry-run")
        #expect(run.code == 0)
        #expect(
            run.out == """
                @@ line 4
                -\(TapeFiles.sparse[3])
                +{"d":"<","json":{"type":1,"target":"ReceiveMessage","arguments":[]}}

                """)
        #expect(try TapeFiles.lines(path) == TapeFiles.sparse)
    }

    @Test func anOutputIsAnotherFile() throws {
        let path = try TapeFiles.copy("chat", in: scratch)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let other = scratch.path("b.tape")
        let arguments = ["edit", path, "--where", "Welcome", "--set", "/arguments=[]", "--output", other]
        #expect(try Binary.run(Binary.wiretape, arguments).code == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(try String(contentsOfFile: other, encoding: .utf8).hasPrefix("{\"tape\":1,"))
        #expect(try Binary.run(Binary.wiretape, arguments).code == 1)
        #expect(try Binary.run(Binary.wiretape, arguments + ["--force"]).code == 0)
    }

    @Test func whatIsNotThereIsNamed() throws {
        let path = try TapeFiles.write(TapeFiles.sparse, "t.tape", in: scratch)
        let typo = try Binary.run("edit", path, "--where", "RecieveMessage", "--drop")
        #expect(typo.code == 1 && typo.verdict.hasSuffix("; did you mean 'ReceiveMessage'?"), "\(typo.err)")
        let ordinal = try Binary.run("edit", path, "--where", "ReceiveMessage[9]", "--drop")
        #expect(ordinal.code == 1 && ordinal.verdict.contains("is there, but not with these conditions"))
        let pointer = try Binary.run("edit", path, "--where", "ReceiveMessage", "--set", "/a/b=1")
        #expect(pointer.code == 1 && pointer.verdict.contains("line 4: nothing stands at '/a'"), "\(pointer.err)")
        let text = try Binary.run("edit", path, "--where", "ReceiveMessage", "--set", "/arguments/1=bye")
        #expect(text.code == 64 && text.verdict.contains("texts stand in quotes: /arguments/1=\"bye\""))
        #expect(try Binary.run("edit", path, "--where", "ReceiveMessage").code == 64)
        #expect(try Binary.run("edit", path, "--where", "negotiate", "--drop").code == 64)
        // Standard input is read, and there is nothing on it.
        #expect(try Binary.run("edit", "-", "--where", "A", "--drop").code == 4)
        #expect(try TapeFiles.lines(path) == TapeFiles.sparse)
        let bad = try TapeFiles.write(TapeFiles.sparse + ["oops"], "bad.tape", in: scratch)
        let run = try Binary.run("edit", bad, "--where", "ReceiveMessage", "--drop")
        #expect(run.code == 4 && run.verdict.contains("line 6"), "\(run.err)")
    }

    /// MessagePack and every carrier: what is set is what is read again, and nothing else has changed.
    @Test(arguments: ["messagepack", "messagepack-lp", "everything-lp"]) func everyProtocolAndCarrier(_ name: String)
        throws
    {
        let path = try TapeFiles.copy(name, in: scratch)
        let run = try Binary.run(
            "edit", path, "--where", "ReceiveMessage[1]", "--set", "/arguments/1={\"a\":[1,2.5,null]}")
        #expect(run.code == 0, "\(run.err)")
        #expect(try Binary.run("validate", "--strict", path).code == 0)
        let diff = try Binary.run("diff", TapeFiles.recording(name), path)
        #expect(diff.verdict.hasSuffix("1 difference"), "\(diff.out)")
        #expect(diff.out.contains(#"{"a":[1,2.5,null]}"#) && diff.out.contains("/arguments/1"), "\(diff.out)")
    }

    @Test func aMessageInPiecesIsRefused() throws {
        let path = try TapeFiles.copy("chat-sse", in: scratch)
        // Kestrel writes the words around an event apart from it: the message itself is whole.
        let whole = try Binary.run("edit", path, "--where", "ReceiveMessage[2]", "--set", "/arguments/1=1", "--dry-run")
        #expect(whole.code == 1 && whole.verdict.contains("wiretape canon"), "\(whole.err)")
        #expect(try Binary.run("canon", path).code == 0)
        #expect(try Binary.run("edit", path, "--where", "ReceiveMessage[2]", "--set", "/arguments/1=1").code == 0)
    }

    @Test func aSessionCanBeNamed() throws {
        let path = try TapeFiles.copy("reconnect", in: scratch)
        let run = try Binary.run("edit", path, "--where", "Welcome[session=2]", "--set", "/arguments=[\"again\"]")
        #expect(run.code == 0 && run.verdict.contains(": 1 message changed"), "\(run.err)")
    }
}
