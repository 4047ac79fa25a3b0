import Foundation
import Testing

@Suite(.waitsForPrograms) struct RepairCommandTests {
    let scratch: Scratch
    let tape = Binary.root.appendingPathComponent("recordings/chat.tape.gz")

    init() throws { scratch = try Scratch() }

    @Test func aWholeTapeIsLeftAlone() throws {
        let copy = scratch.url.appendingPathComponent("a.tape.gz")
        try FileManager.default.copyItem(at: tape, to: copy)
        let run = try Binary.run("repair", copy.path)
        #expect(run.code == 0)
        #expect(run.verdict.contains("nothing to repair: "), "\(run.err)")
        #expect(try Data(contentsOf: copy) == Data(contentsOf: tape))
    }

    @Test func aTapeThatWasCutIsWholeAfterwards() throws {
        let whole = try Data(contentsOf: tape)
        let cut = scratch.url.appendingPathComponent("cut.tape.gz")
        try whole.prefix(whole.count - 20).write(to: cut)
        let run = try Binary.run("repair", cut.path, "--output", scratch.path("saved.tape.gz"))
        #expect(run.code == 0, "\(run.err)")
        #expect(run.verdict.contains("the end was cut off"))
        #expect(try Data(contentsOf: cut).count == whole.count - 20)
        let zcat = try Binary.run(
            URL(fileURLWithPath: "/bin/sh"), ["-c", "gzip -t '\(scratch.path("saved.tape.gz"))'"])
        #expect(zcat.code == 0, "\(zcat.err)")
        let again = try Binary.run("repair", scratch.path("saved.tape.gz"))
        #expect(again.verdict.contains("nothing to repair: "), "\(again.err)")
    }

    @Test func whatIsNoTapeIsABadFile() throws {
        try "hello\n".write(toFile: scratch.path("x.tape"), atomically: true, encoding: .utf8)
        let run = try Binary.run("repair", scratch.path("x.tape"))
        #expect(run.code == 4, "\(run.err)")
    }
}
