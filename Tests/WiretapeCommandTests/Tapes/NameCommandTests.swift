import Foundation
import Testing

@Suite(.waitsForPrograms) struct NameCommandTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test func namesStandOnTheOpenEvents() throws {
        let path = try TapeFiles.copy("reconnect", in: scratch)
        let before = try TapeFiles.lines(path)
        let run = try Binary.run("name", path, "alice=1", "bob=2")
        #expect(run.code == 0, "\(run.err)")
        let after = try TapeFiles.lines(path)
        let changed = zip(before, after).filter { $0 != $1 }
        #expect(
            changed.map { $0.1 }
                == changed.map { $0.0.dropLast() }.enumerated().map { i, line in
                    line + #","session":"\#(["alice", "bob"][i])"}"#
                })
        let check = try Binary.run("validate", "--strict", path)
        #expect(check.out.contains("session 1 'alice'") && check.out.contains("session 2 'bob'"), "\(check.out)")
        #expect(try Binary.run("name", path, "=1", "carol=2").code == 0)
        let again = try Binary.run("validate", path).out
        #expect(again.contains("session 1  ") && again.contains("session 2 'carol'"), "\(again)")
    }

    @Test func aSparseTapeGetsAnOpen() throws {
        let path = try TapeFiles.write(TapeFiles.sparse, "t.tape", in: scratch)
        #expect(try Binary.run("name", path, "alice=1").code == 0)
        var wanted = TapeFiles.sparse
        wanted.insert(#"{"t":0,"c":1,"e":"open","session":"alice"}"#, at: 1)
        #expect(try TapeFiles.lines(path) == wanted)
        #expect(try Binary.run("validate", "--strict", path).out.contains("session 1 'alice'"))
    }

    @Test func whatCannotBeMeantIsRefused() throws {
        let path = try TapeFiles.copy("reconnect", in: scratch)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let many = try Binary.run("name", path, "alice=7")
        #expect(many.code == 1 && many.verdict.hasSuffix("there is no session 7: the tape has 2"), "\(many.err)")
        let twice = try Binary.run("name", path, "alice=1", "alice=2")
        #expect(twice.code == 1 && twice.verdict.contains("would both be 'alice'"), "\(twice.err)")
        #expect(try Binary.run("name", path, "a,b=1").code == 64)
        #expect(try Binary.run("name", path, "alice").code == 64)
        #expect(try Binary.run("name", path, "alice=1", "bob=1").code == 64)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }
}
