import Foundation
import Testing

@Suite(.waitsForPrograms) struct NewCommandTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test(arguments: ["signalr", "graphql", "events", "raw"]) func whatItWritesIsValidAndExplained(_ name: String)
        throws
    {
        let path = scratch.path("new.tape")
        let run = try Binary.run("new", name, "--route", "/hubs/a", path)
        #expect(run.code == 0, "\(run.err)")
        let lines = try TapeFiles.lines(path)
        #expect(lines[0] == #"{"tape":1,"protocol":"\#(name)","route":"/hubs/a"}"#)
        #expect(lines.count { $0.hasPrefix("#") } >= 4)
        let check = try Binary.run("validate", "--strict", path)
        #expect(check.code == 0, "\(check.out)\(check.err)")
        #expect(check.out.contains("\(name) over \(name == "events" ? "sse" : "ws"), /hubs/a, "))
        #expect(check.out.contains("can be replayed"))
    }

    @Test func withoutAFileItPrints() throws {
        let run = try Binary.run("new", "signalr")
        let dash = try Binary.run("new", "signalr", "-")
        #expect(run.code == 0 && run.out == dash.out && run.out.hasPrefix("{\"tape\":1,"))
    }

    @Test func aFileThatIsThereIsKept() throws {
        let path = try TapeFiles.write(["mine"], "a.tape", in: scratch)
        let run = try Binary.run("new", "signalr", path)
        #expect(run.code == 1 && run.verdict.contains("--force overwrites it"))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine\n")
        #expect(try Binary.run("new", "signalr", path, "--force").code == 0)
        #expect(try TapeFiles.lines(path).count > 4)
    }

    @Test func whatCannotBeMeantIsRefused() throws {
        let name = try Binary.run("new", "signlar")
        #expect(name.code == 64 && name.verdict.contains("did you mean 'signalr'?"), "\(name.err)")
        #expect(try Binary.run("new", "signalr", "--route", "chat").code == 64)
        #expect(try Binary.run("new", "signalr", scratch.path("a.tape.gz")).code == 64)
    }
}
